#include "pg/migrate.h"

#include "base/arena.h"
#include "base/base.h"
#include "common_schema.h"
#include "crypto/crypto.h"
#include "observe/log.h"
#include "pg/fault.h"
#include "pg/target.h"

#include <libpq-fe.h>
#include <uv.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* How often the transaction begins again at once where it would have waited for long. */
#define ATTEMPTS_MAX 5
#define PAUSE_MS     200 /* before that: what waited behind it goes first */

/* How long an attempt waits for a lock: longer each time, as what others do there may take longer
 * than the first ones wait, and an autovacuum only gives way to who has waited for
 * deadlock_timeout, 1 s by default. */
#define LOCK_WAIT_MS     500
#define LOCK_WAIT_MAX_MS 2000

/* One run on one connection, which is closed with the arena. */
struct run {
	PGconn *pg;
	const char *schema;
	struct arena *arena;
	PGresult *applied;   /* name, sha256 */
	PGresult *installed; /* owner, version */
};

static void on_pg_free(void *ptr)
{
	PQfinish(ptr);
}

static void on_target_free(void *ptr)
{
	pg_target_free(ptr);
}

static void on_result_free(void *ptr)
{
	PQclear(ptr);
}

static void ignore_notice(void *context attr_unused, const char *message attr_unused)
{
}

/* Log the failure and return its code; ERR_CONTENTION: others are in the way. `file` NULL: none was
 * begun. */
static enum err_code run_failed(const struct run *run, const char *file, const PGresult *result)
{
	const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
	enum err_code code = sqlstate ? pg_fault_of_sqlstate(sqlstate)->code : ERR_UNAVAILABLE;
	if (code == ERR_CONTENTION) {
		log_info("migration waits for tables in use", f_text("schema", run->schema),
		         f_text("file", file), f_text("sqlstate", sqlstate),
		         f_text("reason", pg_error_line(run->arena, run->pg)));
		return code;
	}
	log_error("migration failed", f_text("schema", run->schema), f_text("file", file),
	          f_text("sqlstate", sqlstate),
	          f_text("reason", pg_error_line(run->arena, run->pg)));
	return code == ERR_UNAVAILABLE ? ERR_UNAVAILABLE : ERR_INTERNAL;
}

/* Run one or more statements; `ret_result` (may be NULL) is the last answer. */
static enum err_code run_sql(struct run *run, const char *file, const char *sql,
                             PGresult **ret_result)
{
	PGresult *result = PQexec(run->pg, sql);
	arena_on_free(run->arena, on_result_free, result);
	ExecStatusType status = PQresultStatus(result);
	if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_EMPTY_QUERY)
		return run_failed(run, file, result);
	if (ret_result)
		*ret_result = result;
	return ERR_NONE;
}

static char *quoted(struct run *run, char *(*quote)(PGconn *, const char *, size_t),
                    const char *text)
{
	char *made = quote(run->pg, text, strlen(text));
	require(made);
	arena_on_free(run->arena, PQfreemem, made);
	return made;
}

/* Run a statement that creates something, unless another process has just created it. */
static enum err_code run_create(struct run *run, const char *sql)
{
	return run_sql(run, NULL,
	               arena_printf(run->arena,
	                            "DO $create$ BEGIN %s; EXCEPTION WHEN duplicate_schema OR "
	                            "duplicate_table OR duplicate_object OR unique_violation "
	                            "THEN NULL; END $create$",
	                            sql),
	               NULL);
}

static enum err_code run_connect(struct run *run, const char *database_url)
{
	struct pg_target *target = pg_target_new(database_url);
	if (!target)
		return ERR_INVALID;
	arena_on_free(run->arena, on_target_free, target);
	run->pg = pg_target_connect_now(target);
	arena_on_free(run->arena, on_pg_free, run->pg);
	if (PQstatus(run->pg) != CONNECTION_OK)
		return pg_connect_failed(run->arena, run->pg);
	PQsetNoticeProcessor(run->pg, ignore_notice, NULL);
	return ERR_NONE;
}

/* Read what is applied and installed. */
static enum err_code run_read(struct run *run)
{
	enum err_code code = run_sql(run, NULL, "SELECT name, sha256 FROM migration ORDER BY name",
	                             &run->applied);
	if (code == ERR_NONE)
		code = run_sql(run, NULL, "SELECT owner, version FROM functions", &run->installed);
	return code;
}

/* Create the schema and the tables of this module, and read what is applied and installed. */
static enum err_code run_open(struct run *run)
{
	const char *literal = quoted(run, PQescapeLiteral, run->schema);
	const char *name = quoted(run, PQescapeIdentifier, run->schema);
	PGresult *result = NULL;
	enum err_code code = run_sql(run, NULL,
	                             arena_printf(run->arena,
	                                          "SET search_path = %s; "
	                                          "SET statement_timeout = 0; "
	                                          "SET idle_session_timeout = '30s'; "
	                                          "SELECT FROM pg_namespace WHERE nspname = %s",
	                                          name, literal),
	                             &result);
	/* Only when it is missing: a role that owns its schema may lack the right to create one. */
	if (code == ERR_NONE && PQntuples(result) == 0)
		code = run_create(run, arena_printf(run->arena, "CREATE SCHEMA %s", name));
	if (code == ERR_NONE)
		code = run_create(
			run,
			"CREATE TABLE IF NOT EXISTS migration (name text PRIMARY KEY, "
			"sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())");
	if (code == ERR_NONE)
		code = run_create(run, "CREATE TABLE IF NOT EXISTS functions (owner text PRIMARY "
		                       "KEY, version int NOT NULL, installed_at timestamptz NOT "
		                       "NULL DEFAULT now())");
	return code == ERR_NONE ? run_read(run) : code;
}

static const char *applied_sha256(const struct run *run, const char *name)
{
	for (int i = 0; i < PQntuples(run->applied); i++) {
		if (strcmp(PQgetvalue(run->applied, i, 0), name) == 0)
			return PQgetvalue(run->applied, i, 1);
	}
	return NULL;
}

static enum err_code run_conflict(const struct run *run, const char *name, const char *why)
{
	log_error("the database does not match the migrations", f_text("schema", run->schema),
	          f_text("migration", name), f_text("reason", why));
	return ERR_CONFLICT;
}

/* The tables that statements of $1 lock until the end of the transaction, as LOCK statements: of a
 * table that others write, so that they cannot. What is used with every row of the others, the
 * queue and the outbox, comes last, as in transactions of requests. */
#define LOCKS_SQL                                                                                \
	"WITH pattern (is_exclusive, pattern) AS (VALUES "                                       \
	"(true, '^(?:ALTER|DROP) TABLE (?:IF EXISTS )?(?:ONLY )?(\\w+)'), "                      \
	"(true, '^DROP TRIGGER (?:IF EXISTS )?\\w+ ON (\\w+)'), "                                \
	"(false, '^CREATE (?:OR REPLACE )?TRIGGER [^;]*\\mON (\\w+)'), "                         \
	"(false, '^CREATE (?:UNIQUE )?INDEX \\w+ ON (\\w+)'), "                                  \
	"(false, '\\mREFERENCES (\\w+)')), "                                                     \
	"named AS (SELECT m[1] AS name, bool_or(p.is_exclusive) AS is_exclusive "                \
	"FROM pattern p, regexp_matches($1, p.pattern, 'gw') m GROUP BY m[1]) "                  \
	"SELECT string_agg(format('LOCK TABLE %I IN %s MODE', n.name, CASE WHEN n.is_exclusive " \
	"THEN 'ACCESS EXCLUSIVE' ELSE 'SHARE ROW EXCLUSIVE' END), '; ' "                         \
	"ORDER BY coalesce(array_position('{task,outbox}', n.name), 0), c.oid) "                 \
	"FROM named n JOIN pg_class c ON c.relname = n.name AND c.relkind IN ('r', 'p') "        \
	"AND c.relnamespace = current_schema()::regnamespace"

/* Lock what the statements lock, before the first of them: so that the transaction waits, if at
 * all, while it has changed nothing, and locks nothing in another order than others do. */
static enum err_code run_lock(struct run *run, const char *statements, int attempt)
{
	int wait_ms = attempt * LOCK_WAIT_MS < LOCK_WAIT_MAX_MS ? attempt * LOCK_WAIT_MS
	                                                        : LOCK_WAIT_MAX_MS;
	enum err_code code =
		run_sql(run, NULL, arena_printf(run->arena, "SET LOCAL lock_timeout = %d", wait_ms),
	                NULL);
	if (code != ERR_NONE)
		return code;
	PGresult *locks = PQexecParams(run->pg, LOCKS_SQL, 1, NULL, &statements, NULL, NULL, 0);
	arena_on_free(run->arena, on_result_free, locks);
	if (PQresultStatus(locks) != PGRES_TUPLES_OK)
		return run_failed(run, NULL, locks);
	return run_sql(run, NULL, PQgetvalue(locks, 0, 0), NULL);
}

/* Begin the transaction of all that is pending. The lock makes other processes that migrate this
 * schema wait until it ends; they have perhaps applied it. */
static enum err_code run_begin(struct run *run)
{
	enum err_code code =
		run_sql(run, NULL, "BEGIN; LOCK TABLE migration IN SHARE ROW EXCLUSIVE MODE", NULL);
	return code == ERR_NONE ? run_read(run) : code;
}

/* Run the migration and record it, in the transaction of run_begin(). */
static enum err_code run_apply(struct run *run, const struct migration *migration,
                               const char *sha256)
{
	enum err_code code = run_sql(run, migration->name, migration->sql, NULL);
	if (code == ERR_NONE && PQtransactionStatus(run->pg) != PQTRANS_INTRANS)
		return run_conflict(run, migration->name, "the migration ends its own transaction");
	if (code != ERR_NONE)
		return code;
	return run_sql(run, migration->name,
	               arena_printf(run->arena,
	                            "INSERT INTO migration (name, sha256) VALUES (%s, '%s')",
	                            quoted(run, PQescapeLiteral, migration->name), sha256),
	               NULL);
}

/* What of the schema is done: checked only, or applied where it is pending. */
struct pass {
	bool is_begun;       /* in the transaction of run_begin() */
	const char *pending; /* what is, as far as it is not applied; empty: nothing */
};

static void pass_add(struct run *run, struct pass *pass, const char *sql)
{
	pass->pending = arena_printf(run->arena, "%s\n%s", pass->pending, sql);
}

/* Whether the newest of the migrations that this one replaces was applied; *ret_is_any: any was. */
static bool is_replaced(const struct run *run, const struct migration *migration, bool *ret_is_any)
{
	bool is_newest = false;
	*ret_is_any = false;
	for (const char *at = migration->replaces; at && *at; at = strchr(at, ' ') + 1) {
		const char *name = arena_strndup(run->arena, at, strcspn(at, " "));
		bool is_applied = applied_sha256(run, name) != NULL;
		is_newest |= is_applied && at == migration->replaces;
		*ret_is_any |= is_applied;
	}
	return is_newest;
}

/* Check the migration if it is applied, else apply it. */
static enum err_code run_one(struct run *run, const struct migration *migration, struct pass *pass)
{
	char hex[SHA256_HEX_LEN + 1];
	sha256_hex(migration->sql, strlen(migration->sql), hex);
	const char *sha256 = migration->original_sha256 ? migration->original_sha256 : hex;
	const char *recorded = applied_sha256(run, migration->name);
	bool is_any;
	if (is_replaced(run, migration, &is_any))
		return ERR_NONE;
	if (is_any)
		return run_conflict(run, migration->name,
		                    "the schema is older than this build can upgrade: start the "
		                    "release before this one first");
	if (recorded && strcmp(recorded, sha256) != 0)
		return run_conflict(run, migration->name,
		                    "the migration was edited after it was applied");
	if (recorded)
		return ERR_NONE;
	if (pass->is_begun)
		return run_apply(run, migration, sha256);
	pass_add(run, pass, migration->sql);
	return ERR_NONE;
}

static int installed_version(const struct run *run, const char *owner)
{
	for (int i = 0; i < PQntuples(run->installed); i++) {
		if (strcmp(PQgetvalue(run->installed, i, 0), owner) == 0)
			return (int)strtol(PQgetvalue(run->installed, i, 1), NULL, 10);
	}
	return 0;
}

/* ---- Triggers in files of functions ----
 *
 * To make one again locks its table, for which those who write to it wait, so it is made only where
 * it is not there in the same form. */

#define TRIGGER "CREATE OR REPLACE TRIGGER "
#define ON      " ON "

/* A statement that makes a trigger, in the text of a file. */
struct trigger {
	const char *begin, *on, *end; /* `on`: the name of the table */
	const char *name, *table;
};

static const char *word_at(struct arena *arena, const char *text)
{
	return arena_strndup(arena, text, strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_"));
}

/* The first one that begins a line at `text` or behind it. */
static bool trigger_find(struct arena *arena, const char *text, struct trigger *trigger)
{
	const char *begin = strncmp(text, TRIGGER, strlen(TRIGGER)) == 0 ? text : NULL;
	if (!begin) {
		const char *newline = strstr(text, "\n" TRIGGER);
		begin = newline ? newline + 1 : NULL;
	}
	const char *end = begin ? strstr(begin, ";\n") : NULL;
	const char *on = begin ? strstr(begin, ON) : NULL;
	if (!end || !on || on > end)
		return false;
	on += strlen(ON);
	*trigger = (struct trigger){begin, on, end + 1, word_at(arena, begin + strlen(TRIGGER)),
	                            word_at(arena, on)};
	return true;
}

static bool is_true(PGconn *pg, const char *sql)
{
	PGresult *result = PQexec(pg, sql);
	bool is_true = PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1 &&
	               strcmp(PQgetvalue(result, 0, 0), "t") == 0;
	PQclear(result);
	return is_true;
}

static bool trigger_exists(struct arena *arena, PGconn *pg, const struct trigger *trigger)
{
	return is_true(pg, arena_printf(arena,
	                                "SELECT EXISTS (SELECT FROM pg_trigger WHERE tgname = '%s' "
	                                "AND tgrelid = to_regclass('%s'))",
	                                trigger->name, trigger->table));
}

/* Postgres says what a trigger is in its own words, so it is made of an empty table with the same
 * columns, and the words are compared. */
static bool trigger_is_same(struct arena *arena, PGconn *pg, const struct trigger *trigger)
{
	const char *sql = arena_printf(
		arena,
		"CREATE TABLE trigger_probe (LIKE %s); %.*strigger_probe%.*s "
		"SELECT replace(pg_get_triggerdef(p.oid), format(' ON %%I.trigger_probe ', "
		"current_schema()), format(' ON %%I.%s ', current_schema())) = "
		"pg_get_triggerdef(t.oid) AND p.tgenabled = t.tgenabled "
		"FROM pg_trigger p JOIN pg_trigger t USING (tgname) "
		"WHERE p.tgrelid = 'trigger_probe'::regclass AND t.tgrelid = '%s'::regclass",
		trigger->table, (int)(trigger->on - trigger->begin), trigger->begin,
		(int)(trigger->end - trigger->on - (ptrdiff_t)strlen(trigger->table)),
		trigger->on + strlen(trigger->table), trigger->table, trigger->table);
	PQclear(PQexec(pg, "SAVEPOINT trigger_probe"));
	bool is_same = is_true(pg, sql);
	PQclear(PQexec(pg, "ROLLBACK TO SAVEPOINT trigger_probe; RELEASE SAVEPOINT trigger_probe"));
	return is_same;
}

/* The text of a file without the triggers that the tables have in this form. Uses a savepoint of
 * the transaction that has begun. */
static const char *trigger_text_changed(struct arena *arena, PGconn *pg, const char *text)
{
	const char *changed = "";
	struct trigger trigger;
	while (trigger_find(arena, text, &trigger)) {
		bool is_same =
			trigger_exists(arena, pg, &trigger) && trigger_is_same(arena, pg, &trigger);
		const char *end = is_same ? trigger.begin : trigger.end;
		changed = arena_printf(arena, "%s%.*s", changed, (int)(end - text), text);
		text = trigger.end;
	}
	return arena_printf(arena, "%s%s", changed, text);
}

static enum err_code run_install(struct run *run, const struct schema *schema)
{
	enum err_code code = ERR_NONE;
	for (const struct function_file *f = schema->functions; code == ERR_NONE && f->name; f++)
		code = run_sql(run, f->name, trigger_text_changed(run->arena, run->pg, f->sql),
		               NULL);
	if (code != ERR_NONE)
		return code;
	return run_sql(run, NULL,
	               arena_printf(run->arena,
	                            "INSERT INTO functions (owner, version) VALUES (%s, %d) ON "
	                            "CONFLICT (owner) DO UPDATE SET version = excluded.version, "
	                            "installed_at = now()",
	                            quoted(run, PQescapeLiteral, schema->owner),
	                            schema->functions_version),
	               NULL);
}

/* Install the functions unless these or newer ones are installed. */
static enum err_code run_functions(struct run *run, const struct schema *schema, struct pass *pass)
{
	if (!schema->functions ||
	    installed_version(run, schema->owner) >= schema->functions_version)
		return ERR_NONE;
	if (pass->is_begun)
		return run_install(run, schema);
	const bool is_locking = PQtransactionStatus(run->pg) == PQTRANS_INTRANS;
	for (const struct function_file *f = schema->functions; f->name; f++)
		pass_add(run, pass,
		         is_locking ? trigger_text_changed(run->arena, run->pg, f->sql) : f->sql);
	return ERR_NONE;
}

static enum err_code run_schema(struct run *run, const struct schema *schema, struct pass *pass)
{
	enum err_code code = ERR_NONE;
	for (const struct migration *m = schema->migrations; code == ERR_NONE && m->name; m++)
		code = run_one(run, m, pass);
	return code == ERR_NONE ? run_functions(run, schema, pass) : code;
}

static enum err_code run_schemas(struct run *run, const struct schema *schema, struct pass *pass)
{
	enum err_code code = run_schema(run, &COMMON_SCHEMA, pass);
	return code == ERR_NONE ? run_schema(run, schema, pass) : code;
}

static const char *newest(const struct migration *migrations)
{
	const char *name = "";
	for (const struct migration *m = migrations; m->name; m++)
		name = strcmp(m->name, name) > 0 ? m->name : name;
	return name;
}

static bool is_known(const struct run *run, const struct migration *migrations, const char *name)
{
	const char *listed = arena_printf(run->arena, "%s ", name);
	for (const struct migration *m = migrations; m->name; m++) {
		if (strcmp(m->name, name) == 0 || (m->replaces && strstr(m->replaces, listed)))
			return true;
	}
	return false;
}

/* A migration that this build lacks is allowed when it is newer than all migrations of this build:
 * a newer release is being rolled out. */
static enum err_code run_check_unknown(const struct run *run, const struct schema *schema)
{
	for (int i = 0; i < PQntuples(run->applied); i++) {
		const char *name = PQgetvalue(run->applied, i, 0);
		bool is_common = strncmp(name, "common_", strlen("common_")) == 0;
		const struct migration *table = (is_common ? &COMMON_SCHEMA : schema)->migrations;
		if (!is_known(run, table, name) && strcmp(name, newest(table)) < 0)
			return run_conflict(run, name, "this build lacks the migration");
	}
	return ERR_NONE;
}

/* Do what is pending in one transaction. */
static enum err_code run_change(struct run *run, const struct schema *schema, int attempt)
{
	struct pass check = {.pending = ""}, change = {.is_begun = true};
	enum err_code code = run_begin(run);
	if (code == ERR_NONE)
		code = run_schemas(run, schema, &check);
	if (code == ERR_NONE)
		code = run_lock(run, check.pending, attempt);
	if (code == ERR_NONE)
		code = run_schemas(run, schema, &change);
	return code == ERR_NONE ? run_sql(run, NULL, "COMMIT", NULL) : code;
}

/* Others who use the tables go first: whoever waits behind the locks of this transaction waits no
 * longer than an attempt, and who would wait in a circle with it not at all. */
static enum err_code run_changes(struct run *run, const struct schema *schema)
{
	enum err_code code = run_change(run, schema, 1);
	for (int attempt = 2; code == ERR_CONTENTION && attempt <= ATTEMPTS_MAX; attempt++) {
		code = run_sql(run, NULL, "ROLLBACK", NULL);
		uv_sleep(PAUSE_MS);
		if (code == ERR_NONE)
			code = run_change(run, schema, attempt);
	}
	return code == ERR_CONTENTION ? ERR_UNAVAILABLE : code;
}

static enum err_code run_pending(struct run *run, const struct schema *schema,
                                 const struct migrate_guard *guard)
{
	struct pass check = {.pending = ""};
	enum err_code code = run_schemas(run, schema, &check);
	if (code != ERR_NONE || !*check.pending)
		return code;
	code = guard ? guard->may_change(guard->context) : ERR_NONE;
	if (code == ERR_NONE)
		code = run_changes(run, schema);
	if (code == ERR_NONE)
		log_info("schema migrated", f_text("schema", run->schema),
		         f_text("newest", newest(schema->migrations)),
		         f_int("functions", schema->functions_version));
	return code;
}

enum err_code migrate_run(const char *database_url, const char *name, const struct schema *schema,
                          const struct migrate_guard *guard)
{
	struct arena *arena = arena_new();
	struct run run = {.schema = name, .arena = arena};
	enum err_code code = run_connect(&run, database_url);
	if (code == ERR_NONE)
		code = run_open(&run);
	if (code == ERR_NONE)
		code = run_check_unknown(&run, schema);
	if (code == ERR_NONE)
		code = run_pending(&run, schema, guard);
	arena_free(arena);
	return code;
}
