#include "provision/renewal.h"

#include "json/json.h"
#include "loop/wait.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "provision/proposal.h"
#include "provision/setup.h"
#include "provision/workflow_file.h"
#include "renewal.sql.h"

/* Agents whose renewal one pass starts. Each makes requests to the code host, which an upgrade must
 * not make for all accounts at once. */
#define BATCH 100

/* Passes of another process, one of which is seen for certain if it is there. */
#define SETTLED_PASSES 3

int64_t renewal_check_ms;

const struct setting RENEWAL_SETTINGS[] = {
	SETTING_MS(&renewal_check_ms, "WORKFLOW_CHECK", "5m", 50, 86400000,
                   "Interval of looking for repositories whose workflow is out of date."),
	SETTING_END,
};

void renewals_run(struct request *rq)
{
	const char *version = workflow_version(rq->arena);
	if (!version)
		return;
	struct pg_rows *rows = pg_query(rq, RENEWALS_RUN_SQL, pg_text(version),
	                                pg_int(SETTLED_PASSES * renewal_check_ms), pg_int(BATCH));
	if (!pg_value(rows, 0))
		log_info("renewals of workflows wait: processes differ in it");
	else if (pg_value_int(rows, 0) > 0)
		log_info("renewals of workflows are due", f_int("agents", pg_value_int(rows, 0)));
}

static const char *pull_request_text(struct request *rq)
{
	return arena_printf(
		rq->arena,
		"There is a newer version of the workflow. Until this is merged, the agent goes on "
		"with the one that is here; closed, it is not proposed again.\n\n"
		"What was changed in the file by hand is shown as removed: keep it, if it is still "
		"wanted.\n\n%s",
		proposal_guide(rq->arena));
}

static struct proposal proposal_of(struct request *rq, yyjson_val *row, const struct task *task)
{
	const struct workflow_values values = {
		.interest = json_get_text(row, "interest_id"),
		.agent = json_get_text(row, "agent"),
		.provider = json_get_text(row, "provider"),
	};
	return (struct proposal){
		.repo = json_get_text(row, "repo"),
		.branch = proposal_branch(rq, row, task->id),
		.content = workflow_file(rq->arena, &values),
		.title = "Renew the workflow of the research agent",
		.body = pull_request_text(rq),
	};
}

/* Store which pull request proposes the version. Nothing is stored where the interest was
 * provisioned again meanwhile: that has proposed the workflow, too. */
static void store_proposed(struct request *rq, yyjson_val *row, const struct proposal *proposal,
                           yyjson_val *pull)
{
	pg_query(rq, RENEWAL_PROPOSE_SQL, pg_text(json_get_text(row, "interest_id")),
	         pg_text(json_get_text(row, "task_id")), pg_text(workflow_version(rq->arena)),
	         pg_text(proposal->branch), pg_int(json_get_int(pull, "number", 0)),
	         pg_text(json_get_text(pull, "html_url")));
}

static void end_in_place(struct request *rq, struct task *task, yyjson_val *row)
{
	task_complete_after(rq, task, "{}", "The workflow is up to date.",
	                    &PG_CALL(RENEWAL_IN_PLACE_SQL,
	                             pg_text(json_get_text(row, "interest_id")),
	                             pg_text(json_get_text(row, "task_id")),
	                             pg_text(workflow_version(rq->arena))));
}

/* A renewal while it is made, in a fiber of its own. */
struct renewing {
	const struct task *task;
	yyjson_val *row;
	bool is_in_place;
};

/* The file is looked at again at the end: the event of a merge before the pull request was stored
 * has found no row. */
static void propose(struct request *rq)
{
	struct renewing *r = rq->user;
	struct proposal proposal = proposal_of(rq, r->row, r->task);
	setup_require_app(rq, proposal.repo);
	r->is_in_place = proposal_is_in_place(rq, proposal.repo, proposal.content);
	if (r->is_in_place)
		return;
	proposal_commit(rq, &proposal);
	yyjson_val *answer = proposal_open(rq, &proposal, r->row, r->task->id);
	store_proposed(rq, r->row, &proposal, json_get(answer, "pull_request"));
	r->is_in_place = proposal_is_in_place(rq, proposal.repo, proposal.content);
}

/* A task that fails is told to the account; what is wrong still, once for a version. */
static void end_refused(struct request *rq, struct task *task, const struct problem *problem)
{
	const char *detail = problem_detail(rq->arena, problem);
	struct pg_rows *told =
		pg_query(rq, RENEWAL_IS_TOLD_SQL, pg_uuid(rq->caller.account),
	                 pg_text(json_write(rq->arena, task->input, NULL)), pg_text(detail));
	if (!err_is_final(problem->code) || !pg_value_bool(told, 0))
		raise_problem(rq, problem);
	task_complete(rq, task, "{}", arena_printf(rq->arena, "As before: %s.", detail));
}

static void renew(struct request *rq, struct task *task, yyjson_val *row)
{
	struct renewing r = {.task = task, .row = row};
	struct problem problem;
	fiber_spawn(rq, propose, &r);
	if (fiber_join_try(rq, &problem))
		end_refused(rq, task, &problem);
	else if (r.is_in_place)
		end_in_place(rq, task, row);
	else
		task_complete(rq, task, "{}", "The newer workflow is in a pull request.");
}

void renewal_run(struct request *rq, struct task *task)
{
	const char *interest = json_get_text(task->input, "interest_id");
	struct pg_rows *rows = pg_query(rq, RENEWAL_LOAD_SQL, pg_text(interest));
	if (pg_empty(rows))
		task_complete(rq, task, "{}", "There is no agent at work.");
	else
		renew(rq, task, json_parse_own(rq->arena, pg_json(rows)));
}
