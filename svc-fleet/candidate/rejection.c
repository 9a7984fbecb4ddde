#include "candidate/rejection.h"

#include "input/input.h"
#include "input/key_limit.h"
#include "input/period.h"
#include "json/json.h"
#include "pg/pg.h"
#include "rejection.sql.h"
#include "reply/reply.h"

#include <string.h>

static const struct period_limits PERIOD_LIMITS = {.days_default = 90, .days_max = 400};

static const char *const GATES[] = {"relevance", "duplicate", "license", "container", "feasibility",
                                    "risk",      "scope",     "budget",  "other",     NULL};

struct rejection_input {
	const char *since, *until;
	const char *gate, *repo, *interest;
};

static const struct field FIELDS[] = {
	QUERY_DATE(struct rejection_input, since, "since"),
	QUERY_DATE(struct rejection_input, until, "until"),
	QUERY_ENUM(struct rejection_input, gate, "gate", GATES),
	QUERY_TEXT(struct rejection_input, repo, "repo", OPTIONAL, 1, REPO_MAX),
	QUERY_INTEREST(struct rejection_input, interest),
	FIELD_END,
};

void rejections_get(struct request *rq)
{
	struct rejection_input *in = request_input(rq, struct rejection_input, FIELDS);
	struct period period = period_read(rq, in->since, in->until, &PERIOD_LIMITS);
	if (in->repo)
		require_repo(rq, in->repo);
	struct pg_rows *rows =
		pg_query(rq, REJECTIONS_GET_SQL, pg_uuid(rq->caller.account), pg_text(period.since),
	                 pg_text(period.until), pg_text(in->gate), pg_text(in->repo),
	                 pg_text(in->interest), pg_text(rq->caller.repo));
	reply_json(rq, 200, pg_json(rows));
}

void rejection_experiment_store(struct request *rq, const struct event *event)
{
	pg_query(rq, REJECTION_EXPERIMENT_STORE_SQL, pg_text(event->account), pg_time(event->at_ms),
	         pg_bool(strcmp(event->type, "experiment.deleted") == 0),
	         pg_text(json_write(rq->arena, event->data, NULL)));
}
