#include "run/run.h"

#include "experiment/experiment.h"
#include "experiment/fields.h"
#include "experiment/key_experiments.h"
#include "input/input.h"
#include "pg/pg.h"
#include "product/agent_start.h"
#include "reply/resource.h"
#include "request/audited.h"
#include "request/idempotency.h"
#include "run.sql.h"
#include "run/steps.h"

#include <string.h>

int64_t run_deadline_ms, run_check_every_ms;

const struct setting RUN_SETTINGS[] = {
	SETTING_MS(&run_deadline_ms, "RUN_DEADLINE", "3h", 100, 7 * 24 * 3600 * 1000,
                   "How long a started implementation run waits for a report or a pull request."),
	SETTING_MS(&run_check_every_ms, "RUN_CHECK", "1m", 50, 3600000,
                   "Interval of looking for implementation runs of which the code host is to be "
                   "asked."),
	SETTING_END,
};

struct start_input {
	const char *id;
	bool is_over_budget;
};

static const struct field START_FIELDS[] = {
	PATH_UUID(struct start_input, id, "experiment_id"),
	BODY_BOOL(struct start_input, is_over_budget, "over_budget", NULLABLE, false),
	FIELD_END,
};

/* Raise the outcome of implementation_next() in SQL, unless there is a task. */
static void require_started(struct request *rq, const char *outcome)
{
	static const struct {
		const char *outcome;
		enum err_code code;
		const char *detail;
	} REFUSALS[] = {
		{"no_experiment", ERR_NOT_FOUND, EXPERIMENT_MISSING},
		{"in_flight", ERR_CONFLICT, "a run of the experiment is in flight"},
		{"has_pull_request", ERR_CONFLICT, "the experiment has a pull request already"},
		{"no_launch_context", ERR_CONFLICT, "the experiment has no launch context"},
		{"no_target_repo", ERR_CONFLICT, "the launch context names no target_repo"},
		{"bad_target_repo", ERR_CONFLICT,
	         "the target_repo of the launch context must be owner/name"},
	};
	for (size_t i = 0; i < ARRAY_LEN(REFUSALS); i++)
		if (strcmp(REFUSALS[i].outcome, outcome) == 0)
			raise_error(rq, REFUSALS[i].code, "%s", REFUSALS[i].detail);
}

/* A run acts at the code host with the account's connection. A key of an agent that does not prove
 * its repository opens nothing there. */
static void require_code_host(struct request *rq)
{
	const struct identity *caller = &rq->caller;
	if (caller->kind == KEY_AUTOMATION && !(caller->repo && caller->is_repo_verified))
		raise_error(rq, ERR_FORBIDDEN,
		            "an automation key starts runs only in a repository that it was "
		            "provisioned for");
}

/* Reserve what the run may cost, after all other reasons to refuse it. The same attempt reserves
 * once, so that a start that fails after this leaves no more behind than the next one uses. */
static void reserve(struct request *rq, const struct start_input *in)
{
	if (in->is_over_budget)
		require_scope(rq, SCOPE_BIT_BUDGETS_WRITE);
	struct pg_rows *rows =
		pg_query(rq, RUN_ABOUT_SQL, pg_uuid(rq->caller.account), pg_text(in->id));
	require_started(rq, pg_get(rows, 0, "outcome"));
	const struct agent_start start = {
		.key = pg_get(rows, 0, "key"),
		.repo = pg_get(rows, 0, "target"),
		.is_over_budget = in->is_over_budget,
		.by = audited_by(rq),
	};
	yyjson_val *refusal = agent_start_reserve(rq, &start);
	if (refusal)
		agent_start_refuse(rq, refusal);
}

static const struct constraint CONSTRAINTS[] = {
	CONSTRAINT_TASK_PENDING_MAX,
	{0},
};

void run_start(struct request *rq)
{
	struct start_input *in = request_input(rq, struct start_input, START_FIELDS);
	key_require_experiment(rq, in->id);
	require_code_host(rq);
	reserve(rq, in);
	key_hold_experiment(rq, in->id);
	idempotency_join(rq);
	audited_begin(rq); /* committed together with the answer */
	struct pg_rows *rows = pg_write(rq, CONSTRAINTS, RUN_START_SQL, pg_uuid(rq->caller.account),
	                                pg_text(in->id), caller_key(rq),
	                                pg_text(run_step_names(rq->arena)), pg_text(rq->id));
	require_started(rq, pg_get(rows, 0, "outcome"));
	reply_task(rq, pg_get(rows, 0, "started_task"),
	           arena_printf(rq->arena, "/api/v1.0/implement/experiments/%s/status", in->id));
}
