/** Schema migrations: plain SQL files, forward only. Those that are pending are applied in one
 * transaction: the former version, which still runs, sees the schema before or after all of them,
 * and never a step between.
 *
 * The schema's `migration` table keeps the name, the SHA-256 of the text and the time of each. A
 * migration is not edited once merged, with one exception: where a newer Postgres refuses it, it
 * may get another text with the same effect. Its first line is then `-- original-sha256: HEX`, the
 * hash of the text that it had first. That hash goes on to be its hash in the table, so that
 * databases and releases with either text accept each other.
 *
 * Postgres 15.20 and 17.12 refuse ALTER TABLE with `ADD COLUMN … DEFAULT` or `ALTER COLUMN … TYPE`
 * where a function with an SQL-standard body (RETURN, BEGIN ATOMIC) uses the row type of the table.
 * Set the default in a statement of its own.
 *
 * The tables that every service has (task, outbox, idempotency) come first, from
 * `libcommon/pg/migrations/`, under names `common_0001_…`. A lock on the table lets one process at
 * a time migrate the schema. Settings are changed for the session, so the URL must lead to Postgres
 * itself, not to a pooler that shares sessions.
 */
#pragma once

#include "base/error.h"

struct migration {
	const char *name; /* `0001_interest`; NULL ends a table */
	const char *sql;
	const char *original_sha256; /* hexadecimal; NULL: `sql` is the first text */
};

/** Bring the schema up to date with blocking libpq calls, so call it on a separate thread or in
 * a command. Creates the schema if it is missing.
 *
 * ERR_INVALID: the URL cannot be parsed; ERR_UNAVAILABLE: the server cannot be reached (try again);
 * ERR_CONFLICT: a migration was edited after it was applied, or the database has one that this
 * build lacks and whose name sorts before its newest one; ERR_INTERNAL: a statement
 * failed, and everything was rolled back. Logs the migration and the reason. */
enum err_code migrate_run(const char *database_url, const char *schema,
                          const struct migration *migrations);
