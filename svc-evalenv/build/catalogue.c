#include "build/catalogue.h"

#include "client/service_call.h"
#include "http/query.h"
#include "json/json.h"

void asset_update_run(struct request *rq, struct task *task)
{
	struct fetch_response *answer = NULL;
	const char *id = query_encode(rq->arena, json_get_text(task->input, "arxiv_id"));
	const struct service_call call = {
		.service = API_SEARCH,
		.method = "PUT",
		.path = arena_printf(rq->arena, "/api/v1.0/search/assets/%s", id),
		.json_body = json_write(rq->arena, json_get(task->input, "members"), NULL),
	};
	enum err_code code = service_call(rq, &call, &answer);
	if (code)
		raise_error(rq, code, "svc-search was not notified of a build");
	if (answer->status != 200)
		raise_error(rq, answer->status < 500 ? ERR_CONFLICT : ERR_UPSTREAM,
		            "svc-search refused the outcome of a build: %d", answer->status);
	task_complete(rq, task, "{}", "The catalogue has the outcome.");
}
