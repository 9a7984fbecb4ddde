#include "client/service_ask.h"
#include "follow.sql.h"
#include "json/json.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "product/agent_start.h"
#include "run/run.h"
#include "run/steps.h"
#include "service/repository_name.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#define PULL_REQUESTS_MAX 100

/* Ask svc-integrations. A refusal, such as that the run does not exist or the app was removed, is
 * logged and answered with NULL, so that a run ends in any case. */
static yyjson_val *ask_or_nothing(struct request *rq, enum internal_id id, const char *body)
{
	struct service_answer answer = service_ask_try(rq, id, body, NULL);
	if (answer.code && !err_is_final(answer.code))
		service_answer_raise(rq, &answer);
	if (answer.code)
		log_info("the code host reports nothing of a run",
		         f_text("error", err_info(answer.code)->slug),
		         f_text("detail", answer.detail));
	return answer.json;
}

/* {"repo", "run_id"} */
static const char *run_body(struct request *rq, const char *repo, int64_t run_id)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, body, "repo", repo);
	yyjson_mut_obj_add_int(doc, body, "run_id", run_id);
	return json_write_mut(rq->arena, body, NULL);
}

/* How the workflow run has ended; NULL: it has not, or nothing is known of it. */
static const char *ask_conclusion(struct request *rq, yyjson_val *row)
{
	int64_t run_id = json_get_int(row, "run_id", 0);
	if (!run_id)
		return NULL;
	yyjson_val *answer = ask_or_nothing(rq, INTERNAL_ID_run_latest,
	                                    run_body(rq, json_get_text(row, "repo"), run_id));
	return json_get_text(json_get(answer, "run"), "conclusion");
}

/* Whether a pull request is the run's: the one that the agent has reported, or one of a branch of
 * the run in the repository itself. Branches of forks are named by anybody. */
static bool is_own(struct request *rq, yyjson_val *row, yyjson_val *pull)
{
	const char *reported = json_get_text(row, "pr_url"), *url = json_get_text(pull, "html_url");
	if (reported)
		return url && strcasecmp(reported, url) == 0;
	const char *repo = json_get_text(pull, "head_repo"), *head = json_get_text(pull, "head");
	if (!repo || !head || strcasecmp(repo, json_get_text(row, "repo")) != 0)
		return false;
	const char *branch =
		arena_printf(rq->arena, "expops/run-%" PRId64, json_get_int(row, "run_id", 0));
	return strcmp(head, branch) == 0 || strcmp(head, json_get_text(row, "work_branch")) == 0;
}

/* The run's pull request; NULL: there is none. */
static yyjson_val *ask_pull_request(struct request *rq, yyjson_val *row)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, body, "repo", json_get_text(row, "repo"));
	yyjson_mut_obj_add_str(doc, body, "state", "all");
	yyjson_mut_obj_add_str(doc, body, "since", json_get_text(row, "since"));
	yyjson_mut_obj_add_int(doc, body, "per_page", PULL_REQUESTS_MAX);
	yyjson_val *answer = ask_or_nothing(rq, INTERNAL_ID_pull_requests_list,
	                                    json_write_mut(rq->arena, body, NULL));
	size_t index, max;
	yyjson_val *pull;
	yyjson_arr_foreach (json_get(answer, "pull_requests"), index, max, pull)
		if (is_own(rq, row, pull))
			return pull;
	return NULL;
}

void run_check(struct request *rq, struct task *task)
{
	struct pg_param experiment = pg_text(json_get_text(task->input, "experiment_id"));
	struct pg_param attempt = pg_int(json_get_int(task->input, "attempt", 0));
	struct pg_rows *rows = pg_query(rq, FOLLOW_LOAD_SQL, experiment, attempt);
	const char *conclusion = NULL, *pull = NULL;
	if (!pg_empty(rows)) {
		yyjson_val *row = json_parse_own(rq->arena, pg_json(rows));
		conclusion = ask_conclusion(rq, row);
		yyjson_val *found = ask_pull_request(rq, row);
		pull = found ? json_write(rq->arena, found, NULL) : NULL;
	}
	pg_begin(rq);
	if (!pg_empty(rows))
		pg_query(rq, FOLLOW_SETTLE_SQL, experiment, attempt, pg_text(conclusion),
		         pg_text(pull));
	task_complete(rq, task, "{}", "The code host was asked.");
	pg_commit(rq);
}

void run_workflow_cancel(struct request *rq, struct task *task)
{
	const char *repo = json_get_text(task->input, "repo");
	int64_t run_id = json_get_int(task->input, "run_id", 0);
	if (!run_id) { /* the dispatch may have been sent, or be under way */
		const char *task_id = json_get_text(task->input, "task_id");
		yyjson_val *known = ask_or_nothing(rq, INTERNAL_ID_workflow_dispatch,
		                                   run_known_body(rq, repo, task_id));
		run_id = json_get_int(known, "run_id", 0);
	}
	yyjson_val *answer = NULL;
	if (run_id)
		answer = ask_or_nothing(rq, INTERNAL_ID_run_cancel, run_body(rq, repo, run_id));
	task_complete(rq, task, "{}",
	              answer ? "The workflow run was cancelled."
	                     : "The code host reports no workflow run to cancel.");
}

void run_reservation_release(struct request *rq, struct task *task)
{
	agent_start_release(rq, json_get_text(task->input, "key"));
	task_complete(rq, task, "{}", "Nothing is reserved for the run any more.");
}

void on_run_pull_request(struct request *rq, const struct event *event)
{
	const char *state = json_get_bool(event->data, "merged", false)
	                            ? "merged"
	                            : json_get_text(event->data, "state");
	pg_query(rq, FOLLOW_PULL_REQUEST_SQL, pg_text(json_get_text(event->data, "repo")),
	         pg_int(json_get_int(event->data, "number", 0)),
	         pg_text(json_get_text(event->data, "branch")), pg_text(state),
	         pg_text(json_get_text(event->data, "occurred_at")),
	         repository_number_of(rq, event), pg_text(json_get_text(event->data, "action")));
}

void on_run_workflow(struct request *rq, const struct event *event)
{
	if (json_get_text(event->data, "conclusion"))
		pg_query(rq, FOLLOW_WORKFLOW_SQL, pg_text(json_get_text(event->data, "repo")),
		         pg_int(json_get_int(event->data, "run_id", 0)),
		         repository_number_of(rq, event));
}

void run_check_due(struct request *rq)
{
	pg_query(rq, FOLLOW_DUE_SQL);
}
