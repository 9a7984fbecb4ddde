#include "result/result_analysis.h"

#include "analysis/output.h"
#include "analysis/rows.h"
#include "analysis/sums.h"
#include "loop/wait.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "reply/resource.h"
#include "result_analysis.sql.h"

#include <string.h>

bool result_analysis_load(struct request *rq, struct result_analysis *c, const char *experiment)
{
	struct pg_rows *rows = pg_query(rq, RESULT_ANALYSIS_LOAD_SQL, pg_uuid(rq->caller.account),
	                                pg_text(experiment));
	if (pg_empty(rows))
		return false;
	c->experiment = json_parse_own(rq->arena, pg_json(rows));
	c->config = pg_get(rows, 0, "config");
	return true;
}

/* A fixed test of live traffic must know when it is complete. */
static void require_size(struct result_analysis *c, const struct plan *plan)
{
	bool is_fixed = plan->mode && strcmp(plan->mode, "fixed") == 0;
	if (c->sums && is_fixed && plan->planned_n == 0)
		problem_add_field(c->arena, &c->problem, "ab_test_config.planned_n",
		                  "is required for results of the mode fixed");
}

static void compute(void *arg)
{
	struct result_analysis *c = arg;
	struct plan *plan = arena_alloc(c->arena, sizeof(*plan));
	plan_read(c->arena, c->experiment, &c->problem, plan);
	if (c->problem.field_count)
		return;
	require_size(c, plan);
	struct analysis *a =
		analysis_new(c->arena, plan, c->sums ? SOURCE_SUMS : SOURCE_ROWS, &c->facts);
	memcpy(&a->seed, c->digest, sizeof(a->seed));
	if (c->sums)
		sums_read(a, c->sums, &c->problem);
	else
		rows_read(a, c->rows, &c->problem);
	if (c->problem.field_count)
		return;
	analysis_conclude(a, json_get(c->experiment, "previous"));
	c->output = analysis_json(a, c->source);
}

void result_analysis_run(struct request *rq, struct result_analysis *c)
{
	bool is_long = c->rows && json_at(c->experiment, "ab_test_config.suite");
	if (c->problem.field_count)
		return;
	c->arena = offload_arena(rq);
	fiber_offload(rq, is_long ? LANE_LONG : LANE_SHORT, compute, c);
}

void result_analysis_refuse(struct request *rq, struct result_analysis *c)
{
	struct plan *plan = arena_alloc(rq->arena, sizeof(*plan));
	struct problem of_plan = {0};
	const char *why = arena_printf(rq->arena, "%s %s", c->problem.fields->field,
	                               c->problem.fields->message);
	plan_read(rq->arena, c->experiment, &of_plan, plan);
	log_info("linked runs cannot be analysed", f_text("source", c->source),
	         f_text("detail", why));
	if (of_plan.field_count)
		return;
	struct analysis *a = analysis_new(rq->arena, plan, SOURCE_ROWS, &c->facts);
	analysis_refuse(a, why);
	c->output = analysis_json(a, c->source);
}

const char *result_analysis_digest_json(struct request *rq, const struct result_analysis *c,
                                        const char *member, size_t count)
{
	char hex[SHA256_HEX_LEN + 1];
	hex_encode(c->digest, sizeof(c->digest), hex);
	return arena_printf(rq->arena, "{\"%s\":%zu,\"sha256\":\"%s\"}", member, count, hex);
}

struct pg_rows *result_analysis_store(struct request *rq, const struct result_analysis *c,
                                      const char *experiment, const char *input)
{
	return pg_query(rq, RESULT_ANALYSIS_STORE_SQL, pg_uuid(rq->caller.account),
	                pg_text(experiment), pg_text(c->config), pg_text(c->source), pg_text(input),
	                pg_text(c->output), caller_key(rq), pg_text(rq->id));
}
