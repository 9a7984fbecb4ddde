#include "evidence/snapshot.h"

#include "base/timefmt.h"
#include "evidence/collection.h"
#include "experiment/experiment.h"
#include "input/key_limit.h"
#include "json/json.h"
#include "pg/batch.h"
#include "pg/pg.h"
#include "reply/resource.h"
#include "snapshot.sql.h"

#include <string.h>

#define PATIENCE_MS INT64_C(3600000) /* for services that do not answer */

/* --- Reading ---------------------------------------------------------------------------------- */

static void require_whole_view(struct request *rq)
{
	static const enum scope_bit OF_PARTS[] = {SCOPE_BIT_FLEET_READ,
	                                          SCOPE_BIT_RECOMMENDATIONS_READ,
	                                          SCOPE_BIT_EVAL_READ};
	if (key_is_limited(rq))
		raise_error(rq, ERR_FORBIDDEN,
		            "evidence that was kept is of all repositories and interests, and the "
		            "key is limited: ask for the evidence as it is now");
	for (size_t i = 0; i < ARRAY_LEN(OF_PARTS); i++)
		require_scope(rq, OF_PARTS[i]);
}

const char *evidence_snapshot(struct request *rq, const char *experiment)
{
	require_whole_view(rq);
	struct pg_rows *rows =
		pg_query(rq, SNAPSHOT_GET_SQL, pg_uuid(rq->caller.account), pg_text(experiment));
	require_row(rq, rows, EXPERIMENT_MISSING);
	if (!pg_json(rows))
		raise_error(rq, ERR_NOT_FOUND,
		            "no evidence was kept: the experiment is not decided, or its evidence "
		            "is being collected");
	return pg_json(rows);
}

/* --- Keeping ---------------------------------------------------------------------------------- */

static bool is_worth_waiting(const char *decided_at)
{
	int64_t decided_ms = 0;
	time_parse(decided_at, strlen(decided_at), &decided_ms);
	return time_now_ms() - decided_ms < PATIENCE_MS;
}

void evidence_keep(struct request *rq, struct task *task)
{
	const char *experiment = json_get_text(task->input, "experiment_id");
	const char *at = json_get_text(task->input, "at");
	struct evidence evidence = evidence_collect(rq, experiment);
	if (!evidence.json) { /* it was deleted */
		task_complete(rq, task, "{}", NULL);
		return;
	}
	if (evidence.is_partial && is_worth_waiting(at))
		raise_error(rq, ERR_UNAVAILABLE, "a service does not answer");
	task_complete_after(rq, task, "{}", NULL,
	                    &PG_CALL(SNAPSHOT_STORE_SQL, pg_uuid(rq->caller.account),
	                             pg_text(experiment),
	                             pg_int(json_get_int(task->input, "version", 0)), pg_text(at),
	                             pg_text(json_get_text(task->input, "trigger")),
	                             pg_text(evidence.digest), pg_text(evidence.json),
	                             pg_text(rq->id)));
}
