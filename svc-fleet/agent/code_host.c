#include "agent/agent.h"
#include "code_host.sql.h"
#include "json/json.h"
#include "pg/pg.h"
#include "product/agent_workflow.h"
#include "run/repo_access.h"
#include "service/repository_name.h"

#include <string.h>

/* What it says it reverts, as JSON; NULL: nothing. */
static const char *reverts_of(struct request *rq, const struct event *event)
{
	yyjson_val *reverts = json_get(event->data, "reverts");
	return yyjson_is_arr(reverts) ? json_write(rq->arena, reverts, NULL) : NULL;
}

void on_code_host_item(struct request *rq, const struct event *event)
{
	const char *state = event_require_text(rq, event, "state");
	bool is_merged = json_get_bool(event->data, "merged", false);
	repo_access_renew_owners(rq, repository_of_event(rq, event));
	if (is_merged)
		state = "merged";
	pg_query(rq, CODE_HOST_ITEM_UPDATE_SQL, pg_text(event_require_text(rq, event, "repo")),
	         pg_text(strcmp(event->type, "issues") == 0 ? "issue" : "pull_request"),
	         pg_int(json_get_int(event->data, "number", 0)), pg_text(state),
	         pg_text(json_get_text(event->data, "action")),
	         pg_text(event_require_text(rq, event, "occurred_at")),
	         repository_number_of(rq, event),
	         pg_text(is_merged ? json_get_text(event->data, "commit") : NULL),
	         pg_text(reverts_of(rq, event)));
}

void on_code_host_push(struct request *rq, const struct event *event)
{
	const char *reverts = reverts_of(rq, event);
	if (reverts)
		pg_query(rq, CODE_HOST_PUSH_SQL, pg_text(event_require_text(rq, event, "repo")),
		         pg_text(reverts), pg_time(event->at_ms), repository_number_of(rq, event));
}

void on_code_host_run(struct request *rq, const struct event *event)
{
	const char *workflow = json_get_text(event->data, "workflow");
	if (!workflow || strcmp(workflow, agent_workflow) != 0)
		return;
	repo_access_renew_owners(rq, repository_of_event(rq, event));
	pg_query(rq, WORKFLOW_RUN_UPDATE_SQL, pg_text(event_require_text(rq, event, "repo")),
	         pg_int(json_get_int(event->data, "run_id", 0)),
	         pg_text(event_require_text(rq, event, "state")),
	         pg_text(json_get_text(event->data, "conclusion")),
	         pg_text(event_require_text(rq, event, "occurred_at")),
	         repository_number_of(rq, event));
}

void on_code_host_name(struct request *rq, const struct event *event)
{
	const char *repo = json_get_text(event->data, "repo");
	on_repository_name(rq, event);
	if (!repo || !json_get_text(event->data, "former"))
		return;
	repo_access_renew_owners(rq, repo);
	pg_query(rq, CODE_HOST_SETTLE_SQL, pg_text(repo));
}
