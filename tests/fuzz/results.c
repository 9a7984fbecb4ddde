/* Results of an experiment: any JSON is refused, or becomes an analysis whose figures fit each
 * other. The input is the plan and the body, `{"ab_test_config": {...}, "body": {...}}`. */
#include "analysis/analysis.h"
#include "analysis/members.h"
#include "analysis/output.h"
#include "analysis/rows.h"
#include "analysis/sums.h"
#include "base/base.h"
#include "fuzz.h"
#include "input/field_check.h"
#include "json/json.h"

#include <math.h>

static const struct field BODY[] = {RESULT_MEMBERS, FIELD_END};

/* More rows only take longer. */
#define BYTES_MAX 20000

static void check_comparison(const struct comparison *c)
{
	require(!isinf(c->effect) && !isinf(c->p));
	require(isnan(c->p) || (c->p >= 0 && c->p <= 1));
	require(isnan(c->low) || isnan(c->high) || c->low <= c->high);
	require(isnan(c->relative_low) || isnan(c->relative_high) ||
	        c->relative_low <= c->relative_high);
}

static void check_figures(const struct analysis *a)
{
	for (size_t i = 0; i < a->plan->metric_count; i++)
		for (size_t arm = 0; a->metrics[i].is_present && arm < a->plan->arm_count; arm++) {
			const struct pair_figures *pair = &a->metrics[i].pairs[arm];
			if (arm == a->plan->control)
				continue;
			check_comparison(&pair->plain);
			if (pair->has_adjusted)
				check_comparison(&pair->adjusted);
			require(pair->invalid || !isnan(pair->plain.p));
			require(isnan(pair->p_adjusted) || pair->p_adjusted >= pair->plain.p);
		}
}

/* The output is JSON again, of which a CSV can be made. */
static void check_output(struct arena *arena, const struct analysis *a)
{
	size_t length;
	const char *json = analysis_json(a, "metrics");
	require(analysis_csv(arena, json_parse_own(arena, json), &length) && length > 0);
}

static void analyse(struct arena *arena, const struct plan *plan, yyjson_val *body)
{
	struct problem problem = {0};
	yyjson_val *rows = json_get(body, "rows");
	if (!yyjson_is_obj(body))
		return;
	field_check_members(arena, &problem, body, BODY);
	if (problem.field_count)
		return;
	struct analysis *a = analysis_new(arena, plan, rows ? SOURCE_ROWS : SOURCE_SUMS,
	                                  &(struct result_facts){0});
	if (rows)
		rows_read(a, rows, &problem);
	else
		sums_read(a, body, &problem);
	if (problem.field_count)
		return;
	analysis_conclude(a, NULL);
	check_figures(a);
	check_output(arena, a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	struct problem problem = {0};
	struct plan plan;
	yyjson_val *json;
	if (size <= BYTES_MAX && !json_parse(arena, (const char *)data, size, &json, NULL)) {
		plan_read(arena, json, &problem, &plan);
		if (!problem.field_count)
			analyse(arena, &plan, json_get(json, "body"));
	}
	arena_free(arena);
	return 0;
}
