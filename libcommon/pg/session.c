#include "pg/session.h"

#include "base/base.h"
#include "observe/log.h"
#include "pg/target.h"

#include <string.h>

enum use {
	RESULT, /* statements have wrong results without it: the session must have this value */
	LIMIT,  /* any value but 0 */
};

/* `value` is written as in pg_settings. Our statements are short: compiling one (jit) takes longer
 * than running it. A node that vanished or was stopped keeps its transactions and locks for as long
 * as the limits allow: in a transaction 10 s, elsewhere 5 s + 3 * 2 s. */
static const struct setting_row {
	const char *name, *value;
	enum use use;
} SETTINGS[] = {
	{"search_path", NULL, RESULT}, /* the schema */
	{"TimeZone", "UTC", RESULT},
	{"DateStyle", "ISO", RESULT},
	{"bytea_output", "hex", RESULT},
	{"statement_timeout", "30000", LIMIT},
	{"idle_in_transaction_session_timeout", "10000", LIMIT},
	{"client_connection_check_interval", "1000", LIMIT},
	{"tcp_keepalives_idle", "5", LIMIT},
	{"tcp_keepalives_interval", "2", LIMIT},
	{"tcp_keepalives_count", "3", LIMIT},
	{"tcp_user_timeout", "10000", LIMIT},
};

/* What a session of this role begins with. The sockets' own values are not shown for unix
 * sockets. */
static const char VALUE_SQL[] = "SELECT reset_val FROM pg_settings WHERE name = $1";

static bool is_right(const struct setting_row *row, const char *expected, const char *value)
{
	if (row->use == LIMIT)
		return strcmp(value, "0") != 0;
	return strncmp(value, expected, strlen(expected)) == 0;
}

static enum err_code check_row(struct arena *arena, PGconn *pg, const struct setting_row *row,
                               const char *schema)
{
	const char *expected = row->value ? row->value : schema;
	PGresult *result = PQexecParams(pg, VALUE_SQL, 1, NULL, &row->name, NULL, NULL, 0);
	enum err_code code = ERR_NONE;
	if (PQresultStatus(result) != PGRES_TUPLES_OK) {
		code = pg_connect_failed(arena, pg);
	} else if (PQntuples(result) == 0 || !is_right(row, expected, PQgetvalue(result, 0, 0))) {
		code = row->use == RESULT ? ERR_CONFLICT : ERR_NONE;
		log_event(LOG_GROUP, code ? LOG_ERROR : LOG_WARN,
		          "the database role lacks a setting, run deploy/init.sql again",
		          f_text("role", PQuser(pg)), f_text("setting", row->name),
		          f_text("expected", expected));
	}
	PQclear(result);
	return code;
}

enum err_code pg_session_check(const char *url, const char *schema)
{
	struct pg_target *target = pg_target_new(url);
	if (!target)
		return ERR_INVALID;
	struct arena *arena = arena_new();
	PGconn *pg = pg_target_connect_now(target);
	enum err_code worst =
		PQstatus(pg) == CONNECTION_OK ? ERR_NONE : pg_connect_failed(arena, pg);
	for (size_t i = 0; i < ARRAY_LEN(SETTINGS) && worst != ERR_UNAVAILABLE; i++) {
		enum err_code code = check_row(arena, pg, &SETTINGS[i], schema);
		worst = code ? code : worst;
	}
	PQfinish(pg);
	arena_free(arena);
	pg_target_free(target);
	return worst;
}
