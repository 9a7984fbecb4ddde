#include "base/base.h"
#include "pg/internal.h"

#include <string.h>

/* SQLSTATEs, or their first characters: the longest match counts. PostgreSQL manual, appendix A. */
static const struct sqlstate_row {
	const char *prefix;
	enum err_code code;
} SQLSTATES[] = {
	{"08", ERR_UNAVAILABLE},    /* connection exception */
	{"22", ERR_INVALID},        /* data exception */
	{"23", ERR_INVALID},        /* integrity: foreign key, check, not null */
	{"23505", ERR_CONFLICT},    /* unique_violation */
	{"23P01", ERR_CONFLICT},    /* exclusion_violation */
	{"25006", ERR_UNAVAILABLE}, /* read_only_sql_transaction: this server is a standby */
	{"40001", ERR_CONFLICT},    /* serialization_failure */
	{"40P01", ERR_CONFLICT},    /* deadlock_detected */
	{"53", ERR_UNAVAILABLE},    /* out of memory, disk or connections */
	{"55P03", ERR_CONFLICT},    /* lock_not_available */
	{"57014", ERR_TIMEOUT},     /* query_canceled: statement_timeout */
	{"57P", ERR_UNAVAILABLE},   /* shutting down, starting up, in recovery */
};

enum err_code pg_sqlstate_code(const char *sqlstate)
{
	enum err_code code = ERR_INTERNAL;
	size_t longest = 0;
	for (size_t i = 0; i < ARRAY_LEN(SQLSTATES); i++) {
		size_t length = strlen(SQLSTATES[i].prefix);
		if (length > longest && strncmp(sqlstate, SQLSTATES[i].prefix, length) == 0) {
			longest = length;
			code = SQLSTATES[i].code;
		}
	}
	return code;
}

const char *pg_result_sqlstate(const PGresult *result)
{
	const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
	return sqlstate == NULL ? "" : sqlstate;
}

bool pg_result_is_of_standby(const PGresult *result)
{
	return strcmp(pg_result_sqlstate(result), "25006") == 0;
}

enum err_code pg_result_code(const PGresult *result)
{
	switch (PQresultStatus(result)) {
	case PGRES_COMMAND_OK:
	case PGRES_TUPLES_OK:
	case PGRES_EMPTY_QUERY:
		return ERR_NONE;
	default:
		return pg_sqlstate_code(pg_result_sqlstate(result));
	}
}

static const struct detail_row {
	enum err_code code;
	const char *detail;
} DETAILS[] = {
	{ERR_INVALID, "a value breaks a rule of the database"},
	{ERR_CONFLICT, "it exists already, or something else has changed it at the same time"},
	{ERR_UNAVAILABLE, "the database is away; nothing was done"},
	{ERR_UNCERTAIN, "the database went away before it answered; the change may have been made"},
	{ERR_TIMEOUT, "the database did not answer in time"},
	{ERR_CLIENT_GONE, "the client has gone"},
};

const char *pg_error_detail(enum err_code code)
{
	for (size_t i = 0; i < ARRAY_LEN(DETAILS); i++) {
		if (DETAILS[i].code == code)
			return DETAILS[i].detail;
	}
	return "the database could not do this";
}
