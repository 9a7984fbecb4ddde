#include "build/catalogue.h"

#include "catalogue.sql.h"
#include "client/service_call.h"
#include "http/query.h"
#include "json/json.h"
#include "pg/pg.h"

#include <string.h>

static void put_outcome(struct request *rq, const char *paper, const char *outcome)
{
	struct fetch_response *answer = NULL;
	const struct service_call call = {
		.service = API_SEARCH,
		.method = "PUT",
		.path = arena_printf(rq->arena, "/api/v1.0/search/assets/%s",
	                             query_encode(rq->arena, paper)),
		.json_body = outcome,
	};
	enum err_code code = service_call(rq, &call, &answer);
	if (code)
		raise_error(rq, code, "svc-search was not notified of a build");
	if (answer->status != 200)
		raise_error(rq, answer->status < 500 ? ERR_CONFLICT : ERR_UPSTREAM,
		            "svc-search refused the outcome of a build: %d", answer->status);
}

void asset_update_run(struct request *rq, struct task *task)
{
	const char *paper = json_get_text(task->input, "arxiv_id"), *told = "", *outcome;
	while (outcome = pg_json(pg_query(rq, CATALOGUE_OUTCOME_SQL, pg_text(paper))),
	       strcmp(outcome, told) != 0) {
		put_outcome(rq, paper, outcome);
		told = outcome;
	}
	task_complete(rq, task, "{}", "The catalogue has the outcome.");
}
