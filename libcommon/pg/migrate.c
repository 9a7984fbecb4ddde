#include "pg/migrate.h"

#include "base/arena.h"
#include "base/base.h"
#include "base/crypto.h"
#include "base/log.h"
#include "common_migrations.h"
#include "pg/fault.h"
#include "pg/target.h"

#include <libpq-fe.h>

#include <stdbool.h>
#include <string.h>

/* One run on one connection, which is closed with the arena. */
struct run {
	PGconn *pg;
	const char *schema;
	struct arena *arena;
	PGresult *applied; /* name, sha256 */
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

/* Log the failure and return its code. `migration` NULL: none was begun. */
static enum err_code run_failed(const struct run *run, const char *migration,
                                const PGresult *result)
{
	const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
	enum err_code code = sqlstate ? pg_fault_of_sqlstate(sqlstate)->code : ERR_UNAVAILABLE;
	log_error(LOG_GROUP_PG, "migration failed", f_text("schema", run->schema),
	          f_text("migration", migration), f_text("sqlstate", sqlstate),
	          f_text("reason", pg_error_line(run->arena, run->pg)));
	return code == ERR_UNAVAILABLE ? ERR_UNAVAILABLE : ERR_INTERNAL;
}

/* Run one or more statements; `ret_result` (may be NULL) is the last answer. */
static enum err_code run_sql(struct run *run, const char *migration, const char *sql,
                             PGresult **ret_result)
{
	PGresult *result = PQexec(run->pg, sql);
	arena_on_free(run->arena, on_result_free, result);
	ExecStatusType status = PQresultStatus(result);
	if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_EMPTY_QUERY)
		return run_failed(run, migration, result);
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

/* Read what is applied. */
static enum err_code run_read(struct run *run)
{
	return run_sql(run, NULL, "SELECT name, sha256 FROM migration ORDER BY name",
	               &run->applied);
}

/* Create the schema and its table of migrations, and read what is applied. */
static enum err_code run_open(struct run *run)
{
	const char *literal = quoted(run, PQescapeLiteral, run->schema);
	const char *name = quoted(run, PQescapeIdentifier, run->schema);
	PGresult *result;
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
	log_error(LOG_GROUP_PG, "the database does not match the migrations",
	          f_text("schema", run->schema), f_text("migration", name), f_text("reason", why));
	return ERR_CONFLICT;
}

/* Begin the transaction of all pending migrations. The lock makes other processes that migrate this
 * schema wait until it ends; they have perhaps applied some. */
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

/* Check the migration if it is applied. `is_begun`: apply it if it is not; else set
 * *ret_is_pending. */
static enum err_code run_one(struct run *run, const struct migration *migration, bool is_begun,
                             bool *ret_is_pending)
{
	char hex[SHA256_HEX_LEN + 1];
	sha256_hex(migration->sql, strlen(migration->sql), hex);
	const char *sha256 = migration->original_sha256 ? migration->original_sha256 : hex;
	const char *recorded = applied_sha256(run, migration->name);
	if (recorded && strcmp(recorded, sha256) != 0)
		return run_conflict(run, migration->name,
		                    "the migration was edited after it was applied");
	if (!recorded)
		*ret_is_pending = true;
	return recorded || !is_begun ? ERR_NONE : run_apply(run, migration, sha256);
}

static enum err_code run_table(struct run *run, const struct migration *migrations, bool is_begun,
                               bool *ret_is_pending)
{
	enum err_code code = ERR_NONE;
	for (const struct migration *m = migrations; code == ERR_NONE && m->name; m++)
		code = run_one(run, m, is_begun, ret_is_pending);
	return code;
}

static enum err_code run_tables(struct run *run, const struct migration *migrations, bool is_begun,
                                bool *ret_is_pending)
{
	enum err_code code = run_table(run, COMMON_MIGRATIONS, is_begun, ret_is_pending);
	return code == ERR_NONE ? run_table(run, migrations, is_begun, ret_is_pending) : code;
}

static const char *newest(const struct migration *migrations)
{
	const char *name = "";
	for (const struct migration *m = migrations; m->name; m++)
		name = strcmp(m->name, name) > 0 ? m->name : name;
	return name;
}

static bool is_known(const struct migration *migrations, const char *name)
{
	for (const struct migration *m = migrations; m->name; m++) {
		if (strcmp(m->name, name) == 0)
			return true;
	}
	return false;
}

/* A migration that this build lacks is allowed when it is newer than all migrations of this build:
 * a newer release is being rolled out. */
static enum err_code run_check_unknown(const struct run *run, const struct migration *migrations)
{
	for (int i = 0; i < PQntuples(run->applied); i++) {
		const char *name = PQgetvalue(run->applied, i, 0);
		bool is_common = strncmp(name, "common_", strlen("common_")) == 0;
		const struct migration *table = is_common ? COMMON_MIGRATIONS : migrations;
		if (!is_known(table, name) && strcmp(name, newest(table)) < 0)
			return run_conflict(run, name, "this build lacks the migration");
	}
	return ERR_NONE;
}

/* Apply what is pending in one transaction. */
static enum err_code run_pending(struct run *run, const struct migration *migrations)
{
	bool is_pending = false;
	enum err_code code = run_tables(run, migrations, false, &is_pending);
	if (code != ERR_NONE || !is_pending)
		return code;
	code = run_begin(run);
	if (code == ERR_NONE)
		code = run_tables(run, migrations, true, &is_pending);
	if (code == ERR_NONE)
		code = run_sql(run, NULL, "COMMIT", NULL);
	if (code == ERR_NONE)
		log_info(LOG_GROUP_PG, "schema migrated", f_text("schema", run->schema),
		         f_text("newest", newest(migrations)));
	return code;
}

enum err_code migrate_run(const char *database_url, const char *schema,
                          const struct migration *migrations)
{
	struct arena *arena = arena_new();
	struct run run = {.schema = schema, .arena = arena};
	enum err_code code = run_connect(&run, database_url);
	if (code == ERR_NONE)
		code = run_open(&run);
	if (code == ERR_NONE)
		code = run_check_unknown(&run, migrations);
	if (code == ERR_NONE)
		code = run_pending(&run, migrations);
	arena_free(arena);
	return code;
}
