#include "pg/fault.h"

#include "base/base.h"

#include <string.h>

/* First the faults without a SQLSTATE, then SQLSTATEs or prefixes of them; the longest match
 * counts. PostgreSQL manual, appendix A. */
static const struct fault FAULTS[] = {
	[PG_FAULT_UNAVAILABLE] = {"", ERR_UNAVAILABLE,
                                  "the database is unavailable; nothing was changed", NULL},
	[PG_FAULT_UNREACHABLE] = {"", ERR_UNAVAILABLE,
                                  "the database cannot be reached; nothing was changed",
                                  "Postgres cannot be reached"},
	[PG_FAULT_LOST] = {"", ERR_UNAVAILABLE,
                           "the database connection was lost; nothing was changed",
                           "the connection to Postgres was lost"},
	[PG_FAULT_SILENT] = {"", ERR_UNAVAILABLE,
                             "the database does not answer; nothing was changed",
                             "Postgres does not answer"},
	[PG_FAULT_POOL_FULL] = {"", ERR_UNAVAILABLE,
                                "all database connections of this service are in use; nothing was "
                                "changed",
                                "all connections of this process to Postgres are in use"},
	[PG_FAULT_UNCERTAIN] = {"", ERR_UNCERTAIN,
                                "the database connection was lost; the change may have been made",
                                NULL},
	[PG_FAULT_DEADLINE] = {"", ERR_TIMEOUT, "the database did not answer in time", NULL},
	[PG_FAULT_CLIENT_GONE] = {"", ERR_CLIENT_GONE, "the client closed the connection", NULL},
	[PG_FAULT_INTERNAL] = {"", ERR_INTERNAL, "the database could not run the statement", NULL},

	/* connection exception; PgBouncer reports its own faults as 08P01 */
	{"08", ERR_UNAVAILABLE, "the database connection failed; nothing was changed",
         "the connection to Postgres failed"},
	/* data exception */
	{"22", ERR_INVALID, "a value is outside what the database accepts", NULL},
	/* integrity: foreign key, check, not null */
	{"23", ERR_INVALID, "a value violates a constraint of the database", NULL},
	{"23505", ERR_CONFLICT, /* unique_violation */
         "the resource already exists or was changed by another request", NULL},
	{"23P01", ERR_CONFLICT, /* exclusion_violation */
         "the resource already exists or was changed by another request", NULL},
	{"25006", ERR_UNAVAILABLE, /* read_only_sql_transaction */
         "the database is read-only at present; nothing was changed",
         "Postgres is read-only: a standby, or a demoted primary"},
	{"25P03", ERR_UNAVAILABLE, /* idle_in_transaction_session_timeout */
         "the request paused for too long in a database transaction; nothing was changed",
         "Postgres ended a transaction that was idle for too long"},
	/* invalid authorization: wrong password, unknown role, no right to log in */
	{"28", ERR_UNAVAILABLE, "the database refuses the login of this service",
         "Postgres refuses the login in DATABASE_URL"},
	{"3D000", ERR_UNAVAILABLE, "the database of this service does not exist",
         "the database in DATABASE_URL does not exist"},
	{"40001", ERR_CONTENTION, /* serialization_failure */
         "concurrent changes were in the way; nothing was changed; try again", NULL},
	{"40P01", ERR_CONTENTION, /* deadlock_detected */
         "concurrent changes were in the way; nothing was changed; try again", NULL},
	{"53", ERR_UNAVAILABLE, "the database has run out of a resource; nothing was changed",
         "Postgres has run out of a resource"},
	{"53100", ERR_UNAVAILABLE, "the disk of the database is full; nothing was changed",
         "the disk of Postgres is full"},
	{"53200", ERR_UNAVAILABLE, "the database is out of memory; nothing was changed",
         "Postgres is out of memory"},
	{"53300", ERR_UNAVAILABLE, "the database has no free connection; nothing was changed",
         "Postgres has no free connection: max_connections, or a limit of the role"},
	/* program_limit_exceeded, such as that of an index row */
	{"54", ERR_INVALID, "a value exceeds a limit of the database", NULL},
	{"55P03", ERR_CONTENTION, /* lock_not_available */
         "another request is changing the same data; nothing was changed; try again", NULL},
	/* query_canceled: statement_timeout */
	{"57014", ERR_TIMEOUT, "the database did not answer in time", NULL},
	{"57P", ERR_UNAVAILABLE, "the database is shutting down; nothing was changed",
         "Postgres is shutting down"},
	{"57P03", ERR_UNAVAILABLE, "the database is starting; nothing was changed",
         "Postgres is starting or recovering"},
	/* I/O error, missing file */
	{"58", ERR_UNAVAILABLE, "the database cannot use its storage; nothing was changed",
         "Postgres cannot use its storage"},
	{"XO003", ERR_CONFLICT, /* task_complete_all() */
         "another worker has taken the task over", NULL},
};

static struct fault_count counts[ARRAY_LEN(FAULTS)];

static const struct fault_table TABLE = {LOG_GROUP, FAULTS, counts, ARRAY_LEN(FAULTS)};

const struct fault *pg_fault(enum pg_fault_kind kind)
{
	return &FAULTS[kind];
}

const struct fault *pg_fault_of_sqlstate(const char *sqlstate)
{
	const struct fault *found = fault_find(&TABLE, sqlstate);
	return found ? found : &FAULTS[PG_FAULT_INTERNAL];
}

const struct fault *pg_fault_of_code(enum err_code code)
{
	for (size_t i = 0; i < ARRAY_LEN(FAULTS); i++) {
		if (FAULTS[i].code == code)
			return &FAULTS[i];
	}
	return &FAULTS[PG_FAULT_INTERNAL];
}

const struct fault *pg_fault_of_message(const char *message, char ret_sqlstate[6])
{
	static const char SQLSTATE_CHARACTERS[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char SEVERITY_END[] = ":  ";
	ret_sqlstate[0] = '\0';
	for (const char *at = message; (at = strstr(at, SEVERITY_END));) {
		at += strlen(SEVERITY_END);
		if (strspn(at, SQLSTATE_CHARACTERS) != 5 || at[5] != ':')
			continue;
		memcpy(ret_sqlstate, at, 5);
		ret_sqlstate[5] = '\0';
		const struct fault *found = fault_find(&TABLE, ret_sqlstate);
		return found ? found : &FAULTS[PG_FAULT_UNREACHABLE];
	}
	return &FAULTS[PG_FAULT_UNREACHABLE];
}

void pg_fault_report(const struct fault *fault, const char *sqlstate, const char *reason)
{
	const char *known = fault->match[0] ? fault->match : NULL;
	fault_report(&TABLE, fault, sqlstate ? sqlstate : known, reason);
}

void pg_faults_recent(void (*cb)(void *context, const char *summary), void *context)
{
	for (size_t i = 0; i < TABLE.count; i++) {
		if (fault_is_recent(&TABLE, i))
			cb(context, FAULTS[i].summary);
	}
}
