#include "analysis/suite_rows.h"

#include "analysis/warning.h"
#include "statistics/suite.h"

#include <math.h>

#define RUNS_MIN 5 /* in each arm, for a word */

/* The scaled values of a task in an arm. */
static double *task_values(struct analysis *a, yyjson_val *rows, const struct planned_metric *task,
                           size_t arm, size_t *ret_count)
{
	double *values = arena_alloc(a->arena, yyjson_arr_size(rows) * sizeof(*values));
	double width = task->scale_high - task->scale_low;
	size_t index, count;
	yyjson_val *row;
	*ret_count = 0;
	yyjson_arr_foreach (rows, index, count, row) {
		yyjson_val *value = json_get(json_get(row, "metrics"), task->key);
		if (yyjson_is_num(value) &&
		    plan_arm(a->plan, json_get_text(row, "arm")) == (int)arm)
			values[(*ret_count)++] = (yyjson_get_num(value) - task->scale_low) / width;
	}
	if (task->is_lower_better)
		for (size_t i = 0; i < *ret_count; i++)
			values[i] = 1 - values[i];
	return values;
}

/* The tasks that both arms have. */
static size_t find_tasks(struct analysis *a, yyjson_val *rows, size_t arm, struct suite_task *tasks)
{
	size_t count = 0;
	for (size_t i = 0; i < a->plan->metric_count; i++) {
		const struct planned_metric *m = &a->plan->metrics[i];
		struct suite_task task;
		if (!m->is_in_suite)
			continue;
		task.control = task_values(a, rows, m, a->plan->control, &task.control_count);
		task.treatment = task_values(a, rows, m, arm, &task.treatment_count);
		if (task.control_count && task.treatment_count)
			tasks[count++] = task;
	}
	return count;
}

static size_t fewest_runs(const struct suite_task *tasks, size_t count)
{
	size_t fewest = SIZE_MAX;
	for (size_t i = 0; i < count; i++)
		fewest = MIN_OF(fewest, MIN_OF(tasks[i].control_count, tasks[i].treatment_count));
	return fewest;
}

static void compare_suite(struct analysis *a, const struct suite_task *tasks, size_t count,
                          size_t arm, struct metric_figures *figures)
{
	struct pair_figures *pair = &figures->pairs[arm];
	size_t control_runs = 0, treatment_runs = 0;
	for (size_t i = 0; i < count; i++) {
		control_runs += tasks[i].control_count;
		treatment_runs += tasks[i].treatment_count;
	}
	double *scores =
		arena_alloc(a->arena, MAX_OF(control_runs, treatment_runs) * sizeof(*scores));
	double *replicates = arena_alloc(a->arena, SUITE_REPLICATES_MAX * sizeof(*replicates));
	struct suite_result r =
		suite_compare(tasks, count, a->plan->alpha, a->seed + arm, scores, replicates);
	pair->plain = r.comparison;
	pair->improvement = r.improvement;
	pair->minimum_detectable = pair->needed_n = NAN;
	a->replicates = (double)r.replicates;
	figures->arms[a->plan->control] = arm_figures_of((double)control_runs, r.control);
	figures->arms[arm] = arm_figures_of((double)treatment_runs, r.treatment);
	if (fewest_runs(tasks, count) < RUNS_MIN)
		pair->invalid = "an arm has fewer than 5 runs of a task";
	pair->p_adjusted = pair->invalid ? NAN : r.comparison.p;
}

void suite_read(struct analysis *a, yyjson_val *rows, size_t number)
{
	struct metric_figures *figures = &a->metrics[number];
	struct suite_task tasks[PLAN_METRICS_MAX];
	for (size_t arm = 0; arm < a->plan->arm_count; arm++)
		figures->arms[arm] = arm_figures_of(0, NAN);
	for (size_t arm = 0; arm < a->plan->arm_count; arm++) {
		if (arm == a->plan->control)
			continue;
		size_t count = find_tasks(a, rows, arm, tasks);
		figures->pairs[arm].invalid = count ? NULL : "the arms have no task in common";
		figures->pairs[arm].plain = COMPARISON_NONE;
		figures->pairs[arm].p_adjusted = NAN;
		figures->is_present |= count > 0;
		if (count)
			compare_suite(a, tasks, count, arm, figures);
	}
}
