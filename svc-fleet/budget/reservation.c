#include "budget/reservation.h"

#include "budget/budget.h"
#include "budget/row_work.h"
#include "client/service_ask.h"
#include "input/input.h"
#include "input/key_limit.h"
#include "json/json.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "product/agent_pair.h"
#include "reply/reply.h"
#include "reply/resource.h"
#include "request/audited.h"
#include "reservation.sql.h"

#define KEY_MAX 200

const int64_t RESERVATIONS_EVERY_MS = 60 * 1000;

struct reserve_input {
	const char *key, *repo, *interest, *agent, *provider;
	const char *run_id; /* JSON text */
};

static const struct field RESERVE_FIELDS[] = {
	BODY_TEXT(struct reserve_input, key, "key", REQUIRED, 1, KEY_MAX),
	BODY_REPO(struct reserve_input, repo),
	BODY_UUID(struct reserve_input, interest, "interest_id", NULLABLE),
	BODY_TEXT(struct reserve_input, agent, "agent", NULLABLE, 1, AGENT_NAME_MAX),
	BODY_TEXT(struct reserve_input, provider, "provider", NULLABLE, 1, AGENT_NAME_MAX),
	JSON_TEXT("model", NULLABLE, 1, 200),
	JSON_BOOL("over_budget", OPTIONAL),
	JSON_OBJECT("limits", OPTIONAL),
	JSON_OBJECT("by", OPTIONAL),
	FIELD_END,
};

static const struct field ATTACH_FIELDS[] = {
	BODY_TEXT(struct reserve_input, key, "key", REQUIRED, 1, KEY_MAX),
	BODY_ID(struct reserve_input, run_id, "run_id", REQUIRED, KEY_MAX),
	FIELD_END,
};

static const struct field RELEASE_FIELDS[] = {
	BODY_TEXT(struct reserve_input, key, "key", REQUIRED, 1, KEY_MAX),
	FIELD_END,
};

static const struct constraint CONSTRAINTS[] = {
	{"admission_max", ERR_CONFLICT, NULL,
         "10 runs of the repository have asked already and have not reported their end"},
	{0},
};

/* Whether the agent stops at the cost in $MAX_USD. svc-interests has the commands of agents; one of
 * the former version does not know. */
static bool agent_obeys(struct request *rq, const char *agent, const char *provider)
{
	if (!agent || !provider)
		return false;
	yyjson_val *pair =
		service_ask_found(rq, INTERNAL_ID_agent_pair_get,
	                          ASK_BODY(rq, {"agent", agent}, {"provider", provider}));
	return json_get_bool(pair, "obeys_max_usd", false);
}

#define NOT_NEEDED "{\"allowed\": true, \"max_usd\": null, \"reservation_id\": null}"

/* Reserve for a start, or for a run that asks, whose JSON text is `asked`; the other parameters are
 * members of it. Most accounts have no budget, and nothing else is asked for a start then; of a run
 * it is stored that it asks. */
static const char *reserve(struct request *rq, bool is_run, const char *asked,
                           const struct agent_start *start)
{
	struct pg_rows *about = pg_query(rq, RESERVATION_ABOUT_SQL, pg_uuid(rq->caller.account),
	                                 pg_text(start->repo), pg_text(start->interest));
	bool has_budget = pg_get_bool(about, 0, "has_budget");
	if (!has_budget && !is_run)
		return NOT_NEEDED;
	bool is_named = start->agent;
	const char *agent = is_named ? start->agent : pg_get(about, 0, "agent");
	const char *provider = is_named ? start->provider : pg_get(about, 0, "provider");
	bool obeys = has_budget && agent_obeys(rq, agent, provider);
	if (start->is_over_budget)
		audited_begin_for(rq, start->by);
	struct pg_rows *made = pg_write(rq, CONSTRAINTS, is_run ? RUN_ADMIT_SQL : RUN_RESERVE_SQL,
	                                pg_uuid(rq->caller.account), pg_text(asked),
	                                pg_text(pg_get(about, 0, "interest_id")), pg_text(agent),
	                                pg_text(provider), pg_bool(obeys));
	if (start->is_over_budget)
		pg_commit(rq);
	return pg_value(made, 0);
}

void run_reserve(struct request *rq)
{
	struct reserve_input *in = request_input(rq, struct reserve_input, RESERVE_FIELDS);
	yyjson_val *by = json_get(request_body(rq), "by");
	const struct agent_start start = {
		.repo = in->repo,
		.interest = in->interest,
		.agent = in->agent,
		.provider = in->provider,
		.is_over_budget = json_get_bool(request_body(rq), "over_budget", false),
		.by = by ? json_write(rq->arena, by, NULL) : NULL,
	};
	reply_json(rq, 200, reserve(rq, false, request_body_json(rq), &start));
}

void run_attach(struct request *rq)
{
	struct reserve_input *in = request_input(rq, struct reserve_input, ATTACH_FIELDS);
	reservation_attach(rq, in->key, in->run_id);
	reply_json(rq, 200, "{}");
}

void run_release(struct request *rq)
{
	struct reserve_input *in = request_input(rq, struct reserve_input, RELEASE_FIELDS);
	reservation_release(rq, in->key);
	reply_json(rq, 200, "{}");
}

/* Raise unless the answer allows the start. */
static const char *require_allowed(struct request *rq, const char *answer)
{
	yyjson_val *json = json_parse_own(rq->arena, answer);
	if (!json_get_bool(json, "allowed", false))
		agent_start_refuse(rq, json);
	return answer;
}

void reservation_make(struct request *rq, const struct agent_start *start)
{
	require_allowed(rq, reserve(rq, false, agent_start_body(rq, start), start));
}

const char *reservation_admit(struct request *rq, const struct agent_start *start)
{
	return require_allowed(rq, reserve(rq, true, request_body_json(rq), start));
}

void reservation_attach(struct request *rq, const char *key, const char *run_id)
{
	pg_query(rq, RESERVATION_ATTACH_SQL, pg_uuid(rq->caller.account), pg_text(key),
	         pg_text(run_id));
}

void reservation_release(struct request *rq, const char *key)
{
	pg_query(rq, RESERVATION_RELEASE_SQL, pg_uuid(rq->caller.account), pg_text(key));
}

void reservations_expire(struct request *rq)
{
	static struct row_work work = {
		.row = "reservation",
		.next_sql = RESERVATION_NEXT_SQL,
		.run_sql = RESERVATION_EXPIRE_DUE_SQL,
		.leave_out_sql = RESERVATION_LEAVE_OUT_SQL,
	};
	int64_t count = rows_work(rq, &work, NULL);
	if (count)
		log_info("reservations of runs have expired", f_int("reservations", count));
}
