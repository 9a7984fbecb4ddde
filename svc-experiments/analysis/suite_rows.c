#include "analysis/suite_rows.h"

#include "analysis/warning.h"
#include "statistics/suite.h"

#include <math.h>
#include <string.h>

#define RUNS_MIN          5 /* in each arm, for a word */
#define INTERVAL_RUNS_MIN 3 /* to show an interval at all */

/* What the scale of a metric makes of a value; the squares of larger ones may overflow. */
#define SCALED_MAX 1e50

/* The values of a task in an arm, scaled when all are read. */
struct task_values {
	double *values; /* NULL: they are only counted */
	size_t count;
};

/* By arm and metric of the plan. */
struct suite_values {
	struct task_values of[PLAN_ARMS_MAX][PLAN_METRICS_MAX];
};

static double scaled(const struct planned_metric *task, double value)
{
	double share = (value - task->scale_low) / (task->scale_high - task->scale_low);
	return task->is_lower_better ? 1 - share : share;
}

static void add_value(struct task_values *task, double value)
{
	if (task->values)
		task->values[task->count] = value;
	task->count++;
}

/* Count the values of the suite in all rows, or keep them, where there is room for them. */
static void add_rows(const struct plan *plan, yyjson_val *rows, struct suite_values *suite)
{
	size_t index, count, place, members;
	yyjson_val *row, *name, *value;
	yyjson_arr_foreach (rows, index, count, row) {
		int arm = plan_arm(plan, json_get_text(row, "arm"));
		json_obj_foreach (json_get(row, "metrics"), place, members, name, value) {
			int metric = plan_metric(plan, yyjson_get_str(name));
			if (metric >= 0 && plan->metrics[metric].is_in_suite &&
			    yyjson_is_num(value))
				add_value(&suite->of[arm][metric], yyjson_get_num(value));
		}
	}
}

/* Values that differ by rounding alone become one: the scale may magnify what they differ by. */
static void scale_values(const struct planned_metric *task, struct task_values *of)
{
	bool is_one = sample_of_values(of->values, of->count).variance == 0;
	for (size_t i = 0; i < of->count; i++)
		of->values[i] = is_one && i > 0 ? of->values[0] : scaled(task, of->values[i]);
}

static struct suite_values *read_values(struct arena *arena, const struct plan *plan,
                                        yyjson_val *rows)
{
	struct suite_values *suite = arena_new_of(arena, struct suite_values);
	add_rows(plan, rows, suite);
	for (size_t arm = 0; arm < plan->arm_count; arm++)
		for (size_t i = 0; i < PLAN_METRICS_MAX; i++) {
			struct task_values *task = &suite->of[arm][i];
			task->values = arena_array(arena, task->count, sizeof(*task->values));
			task->count = 0;
		}
	add_rows(plan, rows, suite);
	for (size_t arm = 0; arm < plan->arm_count; arm++)
		for (size_t i = 0; i < plan->metric_count; i++)
			scale_values(&plan->metrics[i], &suite->of[arm][i]);
	return suite;
}

static bool is_on_scale(const struct task_values *task)
{
	for (size_t i = 0; i < task->count; i++)
		if (!(fabs(task->values[i]) <= SCALED_MAX))
			return false;
	return true;
}

/* Whether all values have a scale that makes something of them. */
static bool check_scales(struct analysis *a, const struct suite_values *suite,
                         struct problem *problem)
{
	for (size_t arm = 0; arm < a->plan->arm_count; arm++)
		for (size_t i = 0; i < PLAN_METRICS_MAX; i++) {
			if (is_on_scale(&suite->of[arm][i]))
				continue;
			problem_add_field(a->arena, problem,
			                  arena_printf(a->arena, "rows.metrics.%s",
			                               a->plan->metrics[i].key),
			                  "is far outside of its scale");
			return false;
		}
	return true;
}

static bool has_results(const struct suite_values *suite, size_t arm)
{
	for (size_t i = 0; i < PLAN_METRICS_MAX; i++)
		if (suite->of[arm][i].count)
			return true;
	return false;
}

/* Whether all arms with results of the suite have some of the task. */
static bool is_common(const struct plan *plan, const struct suite_values *suite, size_t task)
{
	for (size_t arm = 0; arm < plan->arm_count; arm++)
		if (!suite->of[arm][task].count && has_results(suite, arm))
			return false;
	return true;
}

/* The tasks by which an arm is compared with the control: those that are common to all arms, so
 * that the control has one mean, from which each treatment's effect is counted. */
static size_t find_tasks(const struct plan *plan, const struct suite_values *suite, size_t arm,
                         struct suite_task *tasks)
{
	size_t count = 0;
	for (size_t i = 0; i < PLAN_METRICS_MAX; i++) {
		const struct task_values *c = &suite->of[plan->control][i], *t = &suite->of[arm][i];
		if (c->count && t->count && is_common(plan, suite, i))
			tasks[count++] =
				(struct suite_task){c->values, t->values, c->count, t->count};
	}
	return count;
}

/* Runs of the whole suite in each arm: those of the task that has the fewest. */
struct run_counts {
	size_t control, treatment;
};

static struct run_counts count_runs(const struct suite_task *tasks, size_t count)
{
	struct run_counts runs = {SIZE_MAX, SIZE_MAX};
	for (size_t i = 0; i < count; i++) {
		runs.control = MIN_OF(runs.control, tasks[i].control_count);
		runs.treatment = MIN_OF(runs.treatment, tasks[i].treatment_count);
	}
	return runs;
}

static void compare_suite(struct analysis *a, const struct planned_metric *metric,
                          const struct suite_task *tasks, size_t count, size_t arm,
                          struct metric_figures *figures)
{
	struct pair_figures *pair = &figures->pairs[arm];
	struct run_counts runs = count_runs(tasks, count);
	size_t fewest = MIN_OF(runs.control, runs.treatment);
	struct suite_testing how = {a->plan->alpha, a->seed + arm,
	                            SUITE_DRAWS_MAX / (a->plan->arm_count - 1)};
	struct suite_result r = suite_compare(a->scratch, tasks, count, &how);
	figures->arms[a->plan->control] = arm_figures_of((double)runs.control, r.control);
	figures->arms[arm] = arm_figures_of((double)runs.treatment, r.treatment);
	a->replicates = fmin(a->replicates, (double)r.replicates);
	pair->improvement = r.improvement;
	pair->plain = r.comparison;
	if (fewest < INTERVAL_RUNS_MIN)
		pair->plain = comparison_untested(r.control, r.treatment);
	if (fewest < RUNS_MIN)
		pair->invalid = "an arm has fewer than 5 runs of a task";
	analysis_complete_pair(a, metric, pair, r.control, (double)(runs.control + runs.treatment));
}

void suite_read(struct analysis *a, yyjson_val *rows, size_t number, struct problem *problem)
{
	struct metric_figures *figures = &a->metrics[number];
	struct suite_values *suite = read_values(a->scratch, a->plan, rows);
	struct suite_task tasks[PLAN_METRICS_MAX];
	if (!check_scales(a, suite, problem))
		return;
	for (size_t arm = 0; arm < a->plan->arm_count; arm++)
		figures->arms[arm] = arm_figures_of(0, NAN);
	for (size_t arm = 0; arm < a->plan->arm_count; arm++) {
		if (arm == a->plan->control)
			continue;
		size_t count = find_tasks(a->plan, suite, arm, tasks);
		figures->pairs[arm] =
			pair_untested(count ? NULL : "the arms have no task in common");
		figures->is_present |= count > 0;
		if (count)
			compare_suite(a, &a->plan->metrics[number], tasks, count, arm, figures);
	}
}
