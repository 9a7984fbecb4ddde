#include "budget/reservation.h"
#include "client/service_ask.h"
#include "code_host/code_host.h"
#include "crypto/crypto.h"
#include "crypto/uuid.h"
#include "input/input.h"
#include "input/key_limit.h"
#include "json/json.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "product/agent_pair.h"
#include "product/agent_workflow.h"
#include "product/ref_name.h"
#include "reply/reply.h"
#include "reply/resource.h"
#include "request/audited.h"
#include "trigger.sql.h"

#include <string.h>

#define TEXT_MAX       32768 /* characters; the code host takes 65,535 in all inputs together */
#define KEY_VALID_S    85800 /* ten minutes less than an Idempotency-Key is (idempotency.h) */
#define SECRET_WAIT_MS 3000  /* to look for the secret, once the run is started */

struct trigger_input {
	const char *repo, *interest, *ref, *agent, *provider, *model;
	bool is_over_budget;
};

static const char *const TEST_POLICIES[] = {"strict", "warn", "off", NULL};
static const char *const FIDELITY_POLICIES[] = {"block", "warn", "off", NULL};

/* Names that the agent's shell gets: no white space, quotes or signs of the shell. */
static bool name_check(const char *text, size_t length, const char **ret_message)
{
	static const char CHARACTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					 "0123456789._:/@+-";
	*ret_message = "must be letters, digits and ._:/@+-";
	return text[0] != '-' && strspn(text, CHARACTERS) == length;
}

#define JSON_CHECKED(n, hi, c)                                                           \
	{                                                                                \
		IN_BODY, FIELD_TEXT, (n), FIELD_NOWHERE, NULLABLE, 1, (hi), .check = (c) \
	}

static const struct field TRIGGER_FIELDS[] = {
	BODY_REPO(struct trigger_input, repo),
	BODY_INTEREST(struct trigger_input, interest),
	{IN_BODY, FIELD_TEXT, "ref", FIELD_AT(struct trigger_input, ref, const char *), NULLABLE, 1,
         255, .check = ref_name_check},
	{IN_BODY, FIELD_TEXT, "agent", FIELD_AT(struct trigger_input, agent, const char *),
         NULLABLE, 1, AGENT_NAME_MAX, .check = agent_name_check},
	{IN_BODY, FIELD_TEXT, "provider", FIELD_AT(struct trigger_input, provider, const char *),
         NULLABLE, 1, AGENT_NAME_MAX, .check = agent_provider_check},
	{IN_BODY, FIELD_TEXT, "model", FIELD_AT(struct trigger_input, model, const char *),
         NULLABLE, 1, 200, .check = name_check},
	JSON_CHECKED("pin_arxiv", 64, name_check),
	JSON_CHECKED("start_from_ref", 255, ref_name_check),
	JSON_TEXT("lead_content", NULLABLE, 1, TEXT_MAX),
	JSON_ENUM("test_integration_policy", NULLABLE, TEST_POLICIES),
	JSON_ENUM("fidelity_policy", NULLABLE, FIDELITY_POLICIES),
	BODY_BOOL(struct trigger_input, is_over_budget, "over_budget", NULLABLE, false),
	FIELD_END,
};

/* The members that the workflow gets as they are. */
static const char *const PASSED_ON[] = {
	"model",           "pin_arxiv", "start_from_ref", "lead_content", "test_integration_policy",
	"fidelity_policy",
};

/* What is to be started. */
struct trigger {
	const char *key;      /* of the start */
	const char *repo;     /* as first seen */
	const char *interest; /* NULL: none */
	struct agent_pair pair;
	yyjson_mut_doc *doc;
	yyjson_mut_val *inputs; /* of the workflow */
};

/* svc-interests has the commands of agents; one of the former version does not know the question,
 * and then the workflow tells. */
static void require_possible(struct request *rq, struct agent_pair pair)
{
	yyjson_val *found =
		service_ask_found(rq, INTERNAL_ID_agent_pair_get,
	                          ASK_BODY(rq, {"agent", pair.agent}, {"provider", pair.provider}));
	if (found && !json_get_bool(found, "is_possible", false))
		raise_field(rq, "provider", "%s has no credential for %s in AGENT_COMMANDS",
		            pair.agent, pair.provider);
}

/* Find the installation that the run is for, and choose the agent and the provider. */
static struct trigger find_target(struct request *rq, const struct trigger_input *in)
{
	if (in->agent || in->provider) { /* before anything is looked up */
		struct agent_pair named = agent_pair_choose(rq, in->agent, in->provider);
		if (in->agent)
			require_possible(rq, named);
	}
	struct pg_rows *rows = pg_query(rq, TRIGGER_TARGET_SQL, pg_uuid(rq->caller.account),
	                                pg_text(in->repo), pg_text(in->interest));
	require_row(rq, rows, "no agent of yours works on this repository");
	const char *status = pg_get(rows, 0, "status");
	if (status && strcmp(status, "revoked") == 0)
		raise_error(rq, ERR_CONFLICT, "the agent on this repository was revoked");
	if (pg_get_bool(rows, 0, "has_expired"))
		raise_error(rq, ERR_CONFLICT,
		            "the key of the agent has expired: provision it again");
	const char *agent = in->agent, *provider = in->provider;
	if (!agent) {
		agent = pg_get(rows, 0, "agent");
		provider = provider ? provider : pg_get(rows, 0, "provider");
	}
	struct agent_pair pair = agent_pair_choose(rq, agent, provider);
	if (!in->agent)
		require_possible(rq, pair);
	return (struct trigger){
		.repo = pg_get(rows, 0, "repo"),
		.interest = in->interest ? in->interest : pg_get(rows, 0, "interest_id"),
		.pair = pair,
	};
}

/* Recommendations come from the interest's pool, and its agent may be paused. */
static void require_ready_interest(struct request *rq, const char *interest)
{
	const char *question = arena_printf(rq->arena, "{\"interest_id\": \"%s\"}", interest);
	yyjson_val *pool = service_ask(rq, INTERNAL_ID_interest_pool_get, question);
	if (json_get_bool(pool, "agent_paused", false))
		raise_error(rq, ERR_AGENT_PAUSED,
		            "the agent of the interest is paused; resume it first");
	if (!yyjson_equals_str(json_get(pool, "pool_status"), "building"))
		return;
	raise_problem(rq, &(struct problem){
				  .code = ERR_CONFLICT,
				  .detail = "the pool of the interest is still being built",
				  .raw_body = "{\"pool_building\": true}",
			  });
}

static void make_inputs(struct request *rq, struct trigger *trigger)
{
	yyjson_mut_doc *doc = trigger->doc = json_doc_new(rq->arena);
	yyjson_mut_val *inputs = trigger->inputs = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, inputs, "agent", trigger->pair.agent);
	yyjson_mut_obj_add_str(doc, inputs, "provider", trigger->pair.provider);
	if (trigger->interest)
		yyjson_mut_obj_add_str(doc, inputs, "interest_id", trigger->interest);
	for (size_t i = 0; i < ARRAY_LEN(PASSED_ON); i++) {
		const char *text = json_get_text(rq->http->json, PASSED_ON[i]);
		if (text)
			yyjson_mut_obj_add_str(doc, inputs, PASSED_ON[i], text);
	}
}

/* The key under which the run is started: the same for a request that repeats another one, which
 * one of a day later does not. What that one reserved is then found under another key. */
static const char *dispatch_key(struct request *rq)
{
	const char *given = request_header(rq, "Idempotency-Key");
	if (!given)
		return arena_printf(rq->arena, "trigger %s", pg_uuid(uuid_new()).text);
	char hex[SHA256_HEX_LEN + 1];
	const char *caller = pg_uuid(rq->caller.key_id).text;
	const char *own = arena_printf(rq->arena, "%s %s %s", caller, given, rq->http->body);
	sha256_hex(own, strlen(own), hex);
	const char *key = arena_printf(rq->arena, "trigger %s", hex);
	pg_query(rq, TRIGGER_KEY_FREE_SQL, pg_uuid(rq->caller.account), pg_text(key),
	         pg_int(KEY_VALID_S));
	return key;
}

/* Reserve what the run may cost. */
static void reserve(struct request *rq, const struct trigger_input *in,
                    const struct trigger *trigger)
{
	if (in->is_over_budget)
		require_scope(rq, SCOPE_BIT_BUDGETS_WRITE);
	const struct agent_start start = {
		.key = trigger->key,
		.repo = trigger->repo,
		.interest = trigger->interest,
		.agent = trigger->pair.agent,
		.provider = trigger->pair.provider,
		.model = in->model,
		.is_over_budget = in->is_over_budget,
	};
	reservation_make(rq, &start);
}

/* Let the audit log have the start before it is made: nothing is started without its entry. */
static void note_intent(struct request *rq, const struct trigger *trigger)
{
	audited_begin(rq);
	pg_query(rq, TRIGGER_AUDIT_SQL, pg_uuid(rq->caller.account), pg_text(trigger->repo),
	         pg_text(trigger->pair.agent));
	pg_commit(rq);
}

static yyjson_val *dispatch(struct request *rq, const struct trigger_input *in,
                            const struct trigger *trigger)
{
	yyjson_mut_doc *doc = trigger->doc;
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, body, "repo", trigger->repo);
	yyjson_mut_obj_add_str(doc, body, "workflow", agent_workflow);
	json_add_text(doc, body, "ref", in->ref);
	yyjson_mut_obj_add_str(doc, body, "key", trigger->key);
	yyjson_mut_obj_add_int(doc, body, "valid_s", KEY_VALID_S);
	yyjson_mut_obj_add_val(doc, body, "inputs", yyjson_mut_val_mut_copy(doc, trigger->inputs));
	struct service_answer answer = service_ask_try(rq, INTERNAL_ID_workflow_dispatch,
	                                               json_write_mut(rq->arena, body, NULL), NULL);
	if (err_is_undone(answer.code))
		reservation_release(rq, trigger->key);
	if (answer.code)
		service_answer_raise(rq, &answer);
	return answer.json;
}

/* Show the run before the code host's event or the run itself tells of it. If that fails, they
 * will: the run was started, and the client is to know. */
static void note(struct request *rq, const struct trigger *trigger, yyjson_val *started)
{
	int64_t run_id = json_get_int(started, "run_id", 0);
	struct pg_rows *rows;
	enum err_code code =
		pg_try(rq, &rows, NULL, TRIGGER_NOTE_SQL, pg_uuid(rq->caller.account),
	               pg_text(json_get_text(started, "repo")), run_id ? pg_int(run_id) : pg_null(),
	               pg_text(json_get_text(started, "dispatched_at")), pg_text(trigger->key));
	if (code)
		log_warn("a started run was not noted", f_int("run_id", run_id),
		         f_text("error", err_info(code)->slug));
}

/* Say whether the repository lacks the key of the model's provider, without which the run will end
 * at once; null: it cannot be known now. Only provisioning puts the key there. */
static void add_model_key_missing(struct request *rq, const struct trigger *trigger,
                                  yyjson_mut_val *answer)
{
	static const char NAME[] = "model_key_missing";
	const char *secret = agent_model_secret(rq->arena, trigger->pair.provider);
	struct service_answer found =
		service_ask_try(rq, INTERNAL_ID_secret_get,
	                        ASK_BODY(rq, {"repo", trigger->repo}, {"name", secret}),
	                        &(struct ask_options){.timeout_ms = SECRET_WAIT_MS});
	if (found.code)
		yyjson_mut_obj_add_null(trigger->doc, answer, NAME);
	else
		yyjson_mut_obj_add_bool(trigger->doc, answer, NAME,
		                        !json_get_bool(found.json, "found", false));
}

void fleet_trigger(struct request *rq)
{
	static const char *const TOLD[] = {"ref", "workflow", "run_id", "html_url",
	                                   "dispatched_at"};
	yyjson_val *body = request_body(rq);
	agent_pair_check(rq, json_get_text(body, "agent"), json_get_text(body, "provider"));
	struct trigger_input *in = request_input(rq, struct trigger_input, TRIGGER_FIELDS);
	require_repo(rq, in->repo);
	struct trigger trigger = find_target(rq, in);
	if (trigger.interest)
		require_ready_interest(rq, trigger.interest);
	make_inputs(rq, &trigger);
	trigger.key = dispatch_key(rq);
	reserve(rq, in, &trigger);
	note_intent(rq, &trigger);
	yyjson_val *started = dispatch(rq, in, &trigger);
	note(rq, &trigger, started);
	yyjson_mut_doc *doc = trigger.doc;
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_obj_add_bool(doc, answer, "dispatched", true);
	yyjson_mut_obj_add_str(doc, answer, "repo", trigger.repo);
	for (size_t i = 0; i < ARRAY_LEN(TOLD); i++)
		json_add_member(doc, answer, TOLD[i], started, TOLD[i]);
	yyjson_mut_obj_add_str(doc, answer, "agent", trigger.pair.agent);
	yyjson_mut_obj_add_str(doc, answer, "provider", trigger.pair.provider);
	add_model_key_missing(rq, &trigger, answer);
	yyjson_mut_obj_add_val(doc, answer, "inputs", trigger.inputs);
	reply_doc(rq, 200, doc);
}
