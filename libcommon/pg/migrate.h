/** Schema migrations: plain SQL files, forward only, one transaction each, never edited once
 * merged.
 *
 * The schema's `migration` table keeps name, SHA-256 of the text and time. libcommon's own tables
 * (task, outbox, idempotency) come first, from `libcommon/migrations/`, under names
 * `common_0001_…`. An advisory lock per schema lets one process at a time migrate.
 */
#pragma once

#include "base/error.h"

struct migration {
	const char *name; /* `0001_interest`; NULL ends a table */
	const char *sql;
};

/** Bring the schema up to date with blocking libpq calls: for a thread of its own, or a command.
 * Creates the schema when it is missing.
 *
 * ERR_INVALID: the URL cannot be read; ERR_UNAVAILABLE: the server is away (try again);
 * ERR_CONFLICT: a migration that the database has was edited, or is unknown to this build and not
 * newer than it knows; ERR_INTERNAL: a statement failed (rolled back). Logs which and why. */
enum err_code migrate_run(const char *database_url, const char *schema,
                          const struct migration *migrations);
