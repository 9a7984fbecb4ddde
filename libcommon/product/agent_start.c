#include "product/agent_start.h"

#include "json/json.h"

const char *agent_start_body(struct request *rq, const struct agent_start *start)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, body, "key", start->key);
	yyjson_mut_obj_add_str(doc, body, "repo", start->repo);
	json_add_text(doc, body, "interest_id", start->interest);
	json_add_text(doc, body, "agent", start->agent);
	json_add_text(doc, body, "provider", start->provider);
	json_add_text(doc, body, "model", start->model);
	yyjson_mut_obj_add_bool(doc, body, "over_budget", start->is_over_budget);
	if (start->by)
		yyjson_mut_obj_add_val(doc, body, "by", yyjson_mut_raw(doc, start->by));
	if (rq->caller.repo || rq->caller.interest) {
		yyjson_mut_val *limits = yyjson_mut_obj_add_obj(doc, body, "limits");
		json_add_text(doc, limits, "repo", rq->caller.repo);
		json_add_text(doc, limits, "interest_id", rq->caller.interest);
	}
	return json_write_mut(rq->arena, body, NULL);
}

yyjson_val *agent_start_reserve(struct request *rq, const struct agent_start *start)
{
	yyjson_val *answer =
		service_ask_found(rq, INTERNAL_ID_run_reserve, agent_start_body(rq, start));
	return json_get_bool(answer, "allowed", false) ? NULL : answer;
}

attr_noreturn void agent_start_refuse(struct request *rq, yyjson_val *refusal)
{
	raise_problem(rq,
	              &(struct problem){
			      .code = ERR_BUDGET_REACHED,
			      .detail = json_get_text(refusal, "detail"),
			      .budget = json_write(rq->arena, json_get(refusal, "budget"), NULL),
		      });
}

/* A svc-fleet of the former version has reserved nothing. */
void agent_start_release(struct request *rq, const char *key)
{
	service_ask_found(rq, INTERNAL_ID_run_release, ASK_BODY(rq, {"key", key}));
}

static void attach(struct request *rq, const char *key, yyjson_val *started)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, body, "key", key);
	yyjson_mut_obj_add_int(doc, body, "run_id", json_get_int(started, "run_id", 0));
	service_ask_found(rq, INTERNAL_ID_run_attach, json_write_mut(rq->arena, body, NULL));
}

/* After a failure that is transient the task begins again. Its key may have started a run in an
 * attempt before this one, of which only the next one will know. */
yyjson_val *agent_start_dispatch(struct request *rq, const char *key, const char *body)
{
	struct service_answer answer =
		service_ask_try(rq, INTERNAL_ID_workflow_dispatch, body, NULL);
	if (err_is_final(answer.code))
		agent_start_release(rq, key);
	if (answer.code)
		service_answer_raise(rq, &answer);
	if (json_get_int(answer.json, "run_id", 0))
		attach(rq, key, answer.json);
	return answer.json;
}
