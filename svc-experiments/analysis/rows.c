#include "analysis/rows.h"

#include "analysis/members.h"
#include "analysis/suite_rows.h"
#include "analysis/warning.h"
#include "statistics/paired.h"
#include "statistics/proportion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLUSTERS_MIN 10 /* for a word */
#define RUNS_MIN     3  /* in each arm, for a word */
#define FEW_RUNS     4
#define FEW_EXAMPLES 100
#define FEW_GROUPS   30

/* A value of one metric. */
struct value {
	const char *example, *group; /* NULL: none; of a run, `example` is its seed */
	int arm;
	double value;
};

/* An example in an arm: its samples, added up. */
struct example {
	const char *name, *group;
	int arm;
	double n;
	long double sum; /* with the digits that many samples would lose in a double */
	double result;   /* set by set_results() */
	bool is_binary;  /* each sample is 0 or 1 */
};

/* The examples of a metric, ordered by name and then by arm. */
struct examples {
	struct example *items;
	size_t count;
	struct sample arms[PLAN_ARMS_MAX]; /* set by set_samples() */
};

/* Text of a member that is a string or an integer; NULL: it is absent. */
static const char *label(struct arena *arena, yyjson_val *row, const char *member)
{
	yyjson_val *value = json_get(row, member);
	return yyjson_is_int(value) ? json_write(arena, value, NULL) : yyjson_get_str(value);
}

static int compare_texts(const char *one, const char *other)
{
	if (!one || !other)
		return (one != NULL) - (other != NULL);
	return strcmp(one, other);
}

static int compare_values(const void *one, const void *other)
{
	const struct value *a = one, *b = other;
	int by_name = compare_texts(a->example, b->example);
	return by_name ? by_name : a->arm - b->arm;
}

/* All values of a metric in the rows. */
static struct value *collect(struct analysis *a, yyjson_val *rows, const char *key, bool is_runs,
                             size_t *ret_count)
{
	struct value *values = arena_array(a->scratch, yyjson_arr_size(rows), sizeof(*values));
	size_t index, count;
	yyjson_val *row;
	*ret_count = 0;
	yyjson_arr_foreach (rows, index, count, row) {
		yyjson_val *value = json_get(json_get(row, "metrics"), key);
		if (!yyjson_is_num(value))
			continue;
		values[(*ret_count)++] = (struct value){
			.example = label(a->scratch, row, is_runs ? "sample" : "example"),
			.group = label(a->scratch, row, "group"),
			.arm = plan_arm(a->plan, json_get_text(row, "arm")),
			.value = yyjson_get_num(value),
		};
	}
	return values;
}

/* Add up the samples of each example in each arm. A run without a seed stays by itself. */
static struct examples add_samples(struct arena *arena, struct value *values, size_t count)
{
	struct examples all = {.items = arena_array(arena, count, sizeof(*all.items))};
	qsort(values, count, sizeof(*values), compare_values);
	for (size_t i = 0; i < count; i++) {
		const struct value *v = &values[i];
		if (i == 0 || !v->example || compare_values(v, v - 1) != 0)
			all.items[all.count++] =
				(struct example){v->example, v->group, v->arm, 0, 0, 0, true};
		struct example *e = &all.items[all.count - 1];
		e->n++;
		e->sum += v->value;
		e->is_binary &= v->value == 0 || v->value == 1;
	}
	return all;
}

/* Why the metric cannot have this result of an example or run; NULL: it can. */
static const char *example_fault(const struct planned_metric *metric, bool is_runs,
                                 const struct example *e)
{
	if (!(fabsl(e->sum) <= NUMBER_MAX))
		return "must not be more than 1e100";
	if (is_runs)
		return NULL;
	if (!e->is_binary && metric->kind == KIND_PASS_AT_K)
		return "must be 0 or 1 in a metric of kind pass_at_k";
	if (!e->is_binary && metric->kind == KIND_PROPORTION)
		return "must be 0 or 1 in a metric of kind proportion";
	if (metric->kind == KIND_PASS_AT_K && e->n < (double)metric->k)
		return "must be of at least k samples of an example";
	return NULL;
}

static bool check_examples(struct analysis *a, const struct planned_metric *metric, bool is_runs,
                           const struct examples *all, struct problem *problem)
{
	const char *fault = NULL;
	for (size_t i = 0; i < all->count && !fault; i++)
		fault = example_fault(metric, is_runs, &all->items[i]);
	if (fault)
		problem_add_field(a->arena, problem,
		                  arena_printf(a->arena, "rows.metrics.%s", metric->key), "%s",
		                  fault);
	return !fault;
}

/* The results of examples and runs that were checked. A run of a metric of kind pass_at_k has
 * computed its share itself. */
static void set_results(const struct planned_metric *metric, bool is_runs, struct examples *all)
{
	bool is_counted = metric->kind == KIND_PASS_AT_K && !is_runs;
	for (size_t i = 0; i < all->count; i++) {
		struct example *e = &all->items[i];
		e->result = is_counted ? pass_at_k((size_t)e->n, (size_t)e->sum, (size_t)metric->k)
		                       : (double)(e->sum / e->n);
	}
}

/* Mean and variance of each arm over its examples. */
static void set_samples(struct analysis *a, struct examples *all)
{
	double *results = arena_array(a->scratch, all->count, sizeof(*results));
	for (size_t arm = 0; arm < a->plan->arm_count; arm++) {
		size_t count = 0;
		for (size_t i = 0; i < all->count; i++)
			if (all->items[i].arm == (int)arm)
				results[count++] = all->items[i].result;
		all->arms[arm] = sample_of_values(results, count);
	}
}

/* The results of an arm counted; false: they are no 0 or 1 each, but means of samples, or
 * runs. */
static bool arm_counts(const struct analysis *a, const struct planned_metric *metric,
                       const struct examples *all, size_t arm, struct proportion *ret)
{
	struct proportion counts = {0};
	if (metric->kind != KIND_PROPORTION || a->unit == UNIT_RUN)
		return false;
	for (size_t i = 0; i < all->count; i++) {
		const struct example *e = &all->items[i];
		if (e->arm != (int)arm)
			continue;
		if (!e->is_binary || e->n != 1)
			return false;
		counts.n++;
		counts.successes += (double)e->sum;
	}
	*ret = counts;
	return counts.n > 0;
}

/* The examples that the control and a treatment have both. */
struct common {
	struct example_pair *pairs;
	const char **groups;
	size_t count, dropped;
	bool is_binary, has_groups; /* one sample of 0 or 1 each; any group */
};

static void add_common(struct common *common, const struct example *c, const struct example *t)
{
	common->pairs[common->count] = (struct example_pair){c->result, t->result, common->count};
	common->groups[common->count] = c->group;
	common->is_binary &= c->is_binary && t->is_binary && c->n == 1 && t->n == 1;
	common->has_groups |= c->group != NULL;
	common->count++;
}

/* The example of the same name in the arm, if it has one; `from` is the first of that name. */
static const struct example *in_arm(const struct examples *all, size_t from, size_t to, int arm)
{
	for (size_t i = from; i < to; i++)
		if (all->items[i].arm == arm)
			return &all->items[i];
	return NULL;
}

static struct common find_common(struct arena *arena, const struct examples *all, int control,
                                 int treatment)
{
	struct common common = {
		.pairs = arena_alloc(arena, all->count * sizeof(*common.pairs)),
		.groups = arena_alloc(arena, all->count * sizeof(*common.groups)),
		.is_binary = true,
	};
	for (size_t from = 0, to; from < all->count; from = to) {
		const char *name = all->items[from].name;
		for (to = from + 1; to < all->count && name; to++)
			if (compare_texts(all->items[to].name, name) != 0)
				break;
		const struct example *c = in_arm(all, from, to, control);
		const struct example *t = in_arm(all, from, to, treatment);
		if (c && t && name)
			add_common(&common, c, t);
		else
			common.dropped += c || t;
	}
	return common;
}

struct grouped {
	const char *group;
	size_t pair;
};

static int compare_groups(const void *one, const void *other)
{
	return compare_texts(((const struct grouped *)one)->group,
	                     ((const struct grouped *)other)->group);
}

/* Number the clusters: the groups, and each example without one. Returns how many. */
static size_t number_clusters(struct arena *arena, struct common *common)
{
	struct grouped *order = arena_alloc(arena, common->count * sizeof(*order));
	size_t clusters = 0;
	for (size_t i = 0; i < common->count; i++)
		order[i] = (struct grouped){common->groups[i], i};
	qsort(order, common->count, sizeof(*order), compare_groups);
	for (size_t i = 0; i < common->count; i++) {
		if (i == 0 || !order[i].group || compare_groups(&order[i], &order[i - 1]) != 0)
			clusters++;
		common->pairs[order[i].pair].cluster = clusters - 1;
	}
	return clusters;
}

static struct discordance count_discordance(const struct common *common)
{
	struct discordance d = {.n = (double)common->count};
	for (size_t i = 0; i < common->count; i++) {
		const struct example_pair *p = &common->pairs[i];
		d.treatment += p->treatment > p->control;
		d.control += p->control > p->treatment;
		d.both += p->control == 1 && p->treatment == 1;
	}
	return d;
}

static void warn_of_examples(struct analysis *a, const struct planned_metric *metric,
                             const struct common *common, size_t clusters)
{
	if (!common->is_binary && common->count < FEW_EXAMPLES)
		warning_add(a, "few_examples", metric->key,
		            "Under 100 examples: intervals of means are too narrow there.");
	if (common->has_groups && clusters < FEW_GROUPS)
		warning_add(a, "few_groups", metric->key,
		            "Under 30 groups: their spread is known badly.");
}

static void compare_common(struct analysis *a, const struct planned_metric *metric,
                           struct common *common, struct pair_figures *pair)
{
	size_t clusters = number_clusters(a->scratch, common);
	if (common->is_binary && !common->has_groups) {
		struct discordance d = count_discordance(common);
		pair->plain = discordance_compare(&d, &a->testing);
	} else {
		double *sums = arena_array(a->scratch, clusters, 3 * sizeof(*sums));
		pair->plain =
			pairs_compare(common->pairs, common->count, clusters, sums, &a->testing);
	}
	if (clusters < CLUSTERS_MIN)
		pair->invalid = "there are fewer than 10 examples or groups of them";
	warn_of_examples(a, metric, common, clusters);
}

/* Arms with nothing in common. */
static void compare_independent(struct analysis *a, const struct planned_metric *metric,
                                const struct examples *all, size_t arm, struct pair_figures *pair)
{
	struct proportion c_counts, t_counts;
	struct sample c = all->arms[a->plan->control], t = all->arms[arm];
	double fewer = fmin(c.n, t.n);
	if (fewer < 1) {
		pair->invalid = "an arm has no results";
		return;
	}
	if (fewer < CLUSTERS_MIN)
		pair->invalid = "an arm has fewer than 10 examples";
	if (arm_counts(a, metric, all, a->plan->control, &c_counts) &&
	    arm_counts(a, metric, all, arm, &t_counts))
		pair->plain = proportions_compare(&c_counts, &t_counts, &a->testing);
	else if (fewer >= 2)
		pair->plain = samples_compare(&c, &t, &a->testing);
	else
		pair->plain = comparison_untested(c.mean, t.mean);
}

static void warn_of_runs(struct analysis *a, const struct planned_metric *metric, double runs)
{
	if (runs <= FEW_RUNS)
		warning_add(a, "few_runs", metric->key, "An arm has 3 or 4 runs.");
}

/* Runs with other seeds in the arms. Of fewer than three there is no interval worth showing. */
static void compare_independent_runs(struct analysis *a, const struct planned_metric *metric,
                                     const struct examples *all, size_t arm,
                                     struct pair_figures *pair)
{
	struct sample c = all->arms[a->plan->control], t = all->arms[arm];
	if (c.n < RUNS_MIN || t.n < RUNS_MIN) {
		pair->invalid = "an arm has fewer than 3 runs";
		if (c.n > 0 && t.n > 0)
			pair->plain = comparison_untested(c.mean, t.mean);
		return;
	}
	pair->plain = samples_compare(&c, &t, &a->testing);
	warn_of_runs(a, metric, fmin(c.n, t.n));
}

/* Runs are paired when both arms have the same seeds. */
static void compare_runs(struct analysis *a, const struct planned_metric *metric,
                         const struct examples *all, struct common *common, size_t arm,
                         struct pair_figures *pair)
{
	if (common->dropped || common->count < RUNS_MIN) {
		compare_independent_runs(a, metric, all, arm, pair);
		return;
	}
	double *sums = arena_array(a->scratch, common->count, 3 * sizeof(*sums));
	pair->plain = pairs_compare(common->pairs, common->count, common->count, sums, &a->testing);
	warn_of_runs(a, metric, (double)common->count);
}

static void compare_arm(struct analysis *a, const struct planned_metric *metric,
                        const struct examples *all, bool is_runs, size_t arm,
                        struct metric_figures *figures)
{
	struct pair_figures *pair = &figures->pairs[arm];
	struct common common = find_common(a->scratch, all, (int)a->plan->control, (int)arm);
	*pair = pair_untested(NULL);
	if (is_runs)
		compare_runs(a, metric, all, &common, arm, pair);
	else if (common.count)
		compare_common(a, metric, &common, pair);
	else
		compare_independent(a, metric, all, arm, pair);
	if (common.count && !is_runs) {
		a->dropped_examples = fmax(a->dropped_examples, (double)common.dropped);
		a->examples = fmax(a->examples, (double)(common.count + common.dropped));
	}
	analysis_complete_pair(a, metric, pair, figures->arms[a->plan->control].mean,
	                       figures->arms[a->plan->control].n + figures->arms[arm].n);
}

/* Smallest and largest of the runs of an arm. */
static void set_spread(const struct examples *all, size_t arm, struct arm_figures *figures)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct example *run = &all->items[i];
		if (run->arm != (int)arm)
			continue;
		figures->smallest = fmin(figures->smallest, run->result);
		figures->largest = fmax(figures->largest, run->result);
	}
}

static void set_arm(struct analysis *a, const struct planned_metric *metric,
                    const struct examples *all, size_t arm, struct arm_figures *figures)
{
	struct proportion counts;
	struct sample s = all->arms[arm];
	*figures = arm_figures_of(s.n, s.n > 0 ? s.mean : NAN);
	if (a->unit == UNIT_RUN)
		set_spread(all, arm, figures);
	if (arm_counts(a, metric, all, arm, &counts))
		proportion_interval(&counts, a->plan->alpha, &figures->low, &figures->high);
	else if (a->unit != UNIT_RUN || s.n >= RUNS_MIN)
		sample_interval(&s, a->plan->alpha, &figures->low, &figures->high);
}

static void read_metric(struct analysis *a, yyjson_val *rows, bool is_runs, size_t number,
                        struct problem *problem)
{
	const struct planned_metric *metric = &a->plan->metrics[number];
	struct metric_figures *figures = &a->metrics[number];
	size_t count;
	struct value *values = collect(a, rows, metric->key, is_runs, &count);
	if (count == 0)
		return;
	if (metric->kind == KIND_RATIO || metric->kind == KIND_QUANTILE) {
		problem_add_field(a->arena, problem,
		                  arena_printf(a->arena, "rows.metrics.%s", metric->key),
		                  "is of the kind %s, which needs sums",
		                  METRIC_KINDS[metric->kind]);
		return;
	}
	struct examples all = add_samples(a->scratch, values, count);
	if (!check_examples(a, metric, is_runs, &all, problem))
		return;
	set_results(metric, is_runs, &all);
	set_samples(a, &all);
	figures->is_present = true;
	for (size_t arm = 0; arm < a->plan->arm_count; arm++)
		set_arm(a, metric, &all, arm, &figures->arms[arm]);
	for (size_t arm = 0; arm < a->plan->arm_count; arm++)
		if (arm != a->plan->control)
			compare_arm(a, metric, &all, is_runs, arm, figures);
}

/* Whether the rows are runs: none has an example. */
static bool check_rows(struct analysis *a, yyjson_val *rows, struct problem *problem)
{
	size_t index, count;
	yyjson_val *row;
	bool is_runs = !json_get(yyjson_arr_get_first(rows), "example");
	yyjson_arr_foreach (rows, index, count, row) {
		if (plan_arm(a->plan, json_get_text(row, "arm")) < 0)
			problem_add_field(a->arena, problem,
			                  arena_printf(a->arena, "rows[%zu].arm", index),
			                  "is no arm of the plan");
		if (is_runs == (json_get(row, "example") != NULL))
			problem_add_field(a->arena, problem,
			                  arena_printf(a->arena, "rows[%zu].example", index), "%s",
			                  is_runs ? "is not in all rows"
			                          : "is required, as in other rows");
	}
	return is_runs;
}

void rows_read(struct analysis *a, yyjson_val *rows, struct problem *problem)
{
	bool is_runs = check_rows(a, rows, problem);
	a->unit = is_runs ? UNIT_RUN : UNIT_EXAMPLE;
	for (size_t i = 0; problem->field_count == 0 && i < a->plan->metric_count; i++) {
		a->scratch = arena_new();
		if (a->plan->metrics[i].kind != KIND_SUITE)
			read_metric(a, rows, is_runs, i, problem);
		else if (is_runs)
			suite_read(a, rows, i, problem);
		arena_free(a->scratch);
	}
	a->scratch = NULL;
}
