/** The records that one turn of a chat may speak of. */
#pragma once

#include "loop/request.h"

#include <yyjson.h>

#include <stddef.h>
#include <stdint.h>

#define CHAT_RUNS_MAX 20 /* newest runs of the repository */

struct chat_records {
	const char *repo;   /* as first seen */
	yyjson_val *runs;   /* the newest, as the list shows them, newest first */
	yyjson_val *agents; /* [{"agent", "provider", "status", "installed_at", "revoked_at"}] */
	/* Open pull requests and issues: [{"kind", "url", "run_id", "opened_at"}]. */
	yyjson_val *waiting;
	yyjson_val *month;       /* fleet_sums() of the last 30 days */
	yyjson_val *total;       /* fleet_sums() of all days */
	yyjson_val *findings;    /* of the last 30 days (report/finding.h) */
	int64_t merged;          /* pull requests in the last 30 days */
	yyjson_val *focus;       /* the run in focus, for a prompt (run_record_get()); NULL: none */
	yyjson_val *focus_gates; /* and its gates */
	const char *focus_stage; /* and the stage of what it opened */
};

/** Read them for the caller. `focus_run_id` is JSON text; NULL: none. Raises ERR_NOT_FOUND: the
 * caller has no such repository, or no such run there; ERR_FORBIDDEN: the key is limited to another
 * repository. Suspends. */
struct chat_records chat_records_read(struct request *rq, const char *repo,
                                      const char *focus_run_id);
