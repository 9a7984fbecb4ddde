#include "client/service_ask.h"
#include "code_host/code_host.h"
#include "input/input.h"
#include "input/key_limit.h"
#include "json/json.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "product/agent_workflow.h"
#include "reply/resource.h"
#include "run_status.sql.h"

#define ASK_TIMEOUT_MS 5000

struct status_input {
	const char *repo;
};

static const struct field STATUS_FIELDS[] = {
	QUERY_REPO(struct status_input, repo),
	FIELD_END,
};

/* Ask at the time `now` for the newest run of the agents' workflow, and keep the answer. Whatever
 * is wrong, what is known is shown. */
static void ask(struct request *rq, const char *repo, const char *now)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, body, "repo", repo);
	yyjson_mut_obj_add_str(doc, body, "workflow", agent_workflow);
	struct service_answer answer =
		service_ask_try(rq, INTERNAL_ID_run_latest, json_write_mut(rq->arena, body, NULL),
	                        &(struct ask_options){.timeout_ms = ASK_TIMEOUT_MS});
	if (!answer.code) {
		const char *run = json_write(rq->arena, json_get(answer.json, "run"), NULL);
		pg_query(rq, RUN_STATUS_UPDATE_SQL, pg_uuid(rq->caller.account), pg_text(repo),
		         pg_text(run), pg_text(now));
		return;
	}
	log_info("the newest run is not known", f_text("repo", repo),
	         f_text("error", err_info(answer.code)->slug), f_text("detail", answer.detail));
	/* A limit of requests is one of the account: another one of the repository may ask. */
	if (!err_is_transient(answer.code) || answer.code == ERR_RATE_LIMITED)
		pg_query(rq, RUN_STATUS_GIVE_UP_SQL, pg_uuid(rq->caller.account), pg_text(repo));
}

void fleet_run_status_get(struct request *rq)
{
	struct status_input *in = request_input(rq, struct status_input, STATUS_FIELDS);
	require_repo(rq, in->repo);
	struct pg_rows *rows =
		pg_query(rq, RUN_STATUS_ASK_SQL, pg_uuid(rq->caller.account), pg_text(in->repo));
	require_row(rq, rows, "no agent of yours works on this repository");
	if (pg_get_bool(rows, 0, "is_due"))
		ask(rq, pg_get(rows, 0, "repo"), pg_get(rows, 0, "now"));
	reply_one(rq, 200,
	          pg_query(rq, RUN_STATUS_GET_SQL, pg_uuid(rq->caller.account), pg_text(in->repo)),
	          "no such repository");
}
