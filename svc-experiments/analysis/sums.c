#include "analysis/sums.h"

#include "analysis/warning.h"
#include "statistics/proportion.h"

#include <math.h>

/* An arm of a metric as it was sent. */
struct given {
	bool is_there;
	struct sample sample;
	struct quantile quantile;
	struct proportion proportion;
	struct pre_period pre;
	bool has_pre;
};

/* Where a fault is: `metrics[2].arms[0]`. */
struct place {
	struct analysis *analysis;
	struct problem *problem;
	size_t metric, arm;
};

static void add_fault(const struct place *at, const char *member, const char *message)
{
	struct arena *arena = at->analysis->arena;
	problem_add_field(arena, at->problem,
	                  arena_printf(arena, "metrics[%zu].arms[%zu].%s", at->metric, at->arm,
	                               member),
	                  "%s", message);
}

/* A number that must be there; 0 and a fault when it is not. */
static double number(const struct place *at, yyjson_val *arm, const char *member)
{
	double value = json_get_float(arm, member, NAN);
	if (isnan(value))
		add_fault(at, member, "is required");
	return isnan(value) ? 0 : value;
}

static void read_proportion(const struct place *at, yyjson_val *arm, struct given *g)
{
	double n = g->sample.n, successes = number(at, arm, "successes");
	if (successes < 0 || successes > n || successes != floor(successes))
		add_fault(at, "successes", "must be a whole number from 0 to n");
	g->proportion = (struct proportion){n, successes};
	g->sample = sample_of_counts(n, successes);
}

static void read_moments(const struct place *at, yyjson_val *arm, struct given *g)
{
	double variance = number(at, arm, "variance");
	if (variance < 0)
		add_fault(at, "variance", "must not be negative");
	g->sample.mean = number(at, arm, "mean");
	g->sample.variance = g->sample.n < 2 ? NAN : variance;
}

static void read_mean(const struct place *at, yyjson_val *arm, struct given *g)
{
	if (json_get(arm, "mean")) {
		read_moments(at, arm, g);
		return;
	}
	struct sums sums = {g->sample.n, number(at, arm, "sum"), number(at, arm, "sum_squares")};
	sums_fault fault = sample_of_sums(&sums, &g->sample);
	if (fault)
		add_fault(at, "sum_squares", fault);
}

static void read_ratio(const struct place *at, yyjson_val *arm, struct given *g)
{
	struct ratio_sums sums = {
		g->sample.n,
		number(at, arm, "sum"),
		number(at, arm, "sum_squares"),
		number(at, arm, "denominator_sum"),
		number(at, arm, "denominator_sum_squares"),
		number(at, arm, "sum_products"),
	};
	sums_fault fault = sample_of_ratio(&sums, &g->sample);
	if (fault)
		add_fault(at, "sum", fault);
}

static void read_quantile(const struct place *at, yyjson_val *arm, struct given *g)
{
	struct quantile q = {g->sample.n, number(at, arm, "value"), number(at, arm, "lower"),
	                     number(at, arm, "upper")};
	if (q.lower > q.value || q.value > q.upper)
		add_fault(at, "value", "must be between lower and upper");
	g->quantile = q;
	g->sample = (struct sample){q.n, q.value, NAN};
}

static void read_pass_at_k(const struct place *at, yyjson_val *arm, struct given *g)
{
	(void)arm, (void)g;
	add_fault(at, "arm", "has a metric of kind pass_at_k, which needs rows");
}

static void (*const READERS[])(const struct place *at, yyjson_val *arm, struct given *g) = {
	[KIND_PROPORTION] = read_proportion, [KIND_MEAN] = read_mean,
	[KIND_RATIO] = read_ratio,           [KIND_QUANTILE] = read_quantile,
	[KIND_PASS_AT_K] = read_pass_at_k,
};

/* Of a sum of products, what rounding may leave of a covariance of 0. */
#define ROUNDING 1e-12

/* Whether a covariance is possible beside the two variances (Cauchy and Schwarz); that of a
 * proportion is of n, not n - 1. */
static bool fits(double covariance, double variance, const struct sample *now, double products)
{
	double largest = variance * now->variance * (now->n / (now->n - 1));
	double rounded = ROUNDING * fabs(products) / now->n;
	return fabs(covariance) <= sqrt(largest * (1 + 1e-6)) + rounded;
}

/* The values before the experiment; their products are with the metric. */
static void read_pre_period(const struct place *at, yyjson_val *arm, struct given *g)
{
	double n = g->sample.n;
	if (!json_get(arm, "pre_sum") || n < 2)
		return;
	struct sums sums = {n, number(at, arm, "pre_sum"), number(at, arm, "pre_sum_squares")};
	double products = number(at, arm, "pre_sum_products");
	sums_fault fault = sums_variance_or_none(&sums, &g->pre.variance);
	if (fault)
		add_fault(at, "pre_sum_squares", fault);
	g->pre.mean = sums.sum / n;
	g->pre.covariance = sums_covariance(n, sums.sum, g->sample.mean * n, products);
	if (!fault && !fits(g->pre.covariance, g->pre.variance, &g->sample, products))
		add_fault(at, "pre_sum_products", "does not fit the other sums");
	g->has_pre = true;
}

static void read_arm(const struct place *at, const struct planned_metric *metric, yyjson_val *arm,
                     struct given *given)
{
	const char *key = json_get_text(arm, "arm");
	int number_of = plan_arm(at->analysis->plan, key);
	if (number_of < 0 || given[number_of].is_there) {
		add_fault(at, "arm", number_of < 0 ? "is no arm of the plan" : "is given twice");
		return;
	}
	struct given *g = &given[number_of];
	g->is_there = true;
	g->sample.n = (double)json_get_int(arm, "n", 0);
	READERS[metric->kind](at, arm, g);
	if (metric->kind == KIND_MEAN || metric->kind == KIND_PROPORTION)
		read_pre_period(at, arm, g);
}

static void set_arm(const struct analysis *a, enum metric_kind kind, const struct given *g,
                    struct arm_figures *arm)
{
	*arm = arm_figures_of(g->sample.n, g->sample.mean);
	if (!g->is_there) {
		arm->mean = NAN;
	} else if (kind == KIND_PROPORTION) {
		arm->events = g->proportion.successes;
		arm->non_events = g->proportion.n - g->proportion.successes;
		proportion_interval(&g->proportion, a->plan->alpha, &arm->low, &arm->high);
	} else if (kind != KIND_QUANTILE) {
		sample_interval(&g->sample, a->plan->alpha, &arm->low, &arm->high);
	} else if (a->plan->alpha == 0.05) {
		arm->low = g->quantile.lower;
		arm->high = g->quantile.upper;
	}
}

/* Why two arms cannot be compared; NULL: they can. */
static const char *why_not(const struct planned_metric *m, const struct given *c,
                           const struct given *t)
{
	if (!c->is_there || !t->is_there)
		return "an arm has no results";
	if (m->kind == KIND_QUANTILE && (!quantile_is_enough(c->sample.n, m->quantile) ||
	                                 !quantile_is_enough(t->sample.n, m->quantile)))
		return "an arm has too few units for this quantile";
	if (m->kind == KIND_QUANTILE &&
	    (c->quantile.lower == c->quantile.upper || t->quantile.lower == t->quantile.upper))
		return "an arm does not vary at this quantile";
	if (m->kind != KIND_PROPORTION && fmin(c->sample.n, t->sample.n) < 2)
		return "an arm has fewer than two units";
	return NULL;
}

static struct comparison compare(const struct analysis *a, enum metric_kind kind,
                                 const struct given *c, const struct given *t)
{
	if (kind == KIND_PROPORTION)
		return proportions_compare(&c->proportion, &t->proportion, &a->testing);
	if (kind == KIND_QUANTILE)
		return quantiles_compare(&c->quantile, &t->quantile, &a->testing);
	return samples_compare(&c->sample, &t->sample, &a->testing);
}

/* Whether the arms differed before the experiment began. */
static void check_pre_period(struct analysis *a, const struct planned_metric *metric,
                             const struct given *c, const struct given *t)
{
	static const struct testing ONCE = {.alpha = ALLOCATION_ALPHA};
	struct sample before = {c->sample.n, c->pre.mean, c->pre.variance};
	struct sample other = {t->sample.n, t->pre.mean, t->pre.variance};
	if (samples_compare(&before, &other, &ONCE).p < ALLOCATION_ALPHA)
		warning_add(a, "pre_period_imbalance", metric->key,
		            "The arms differed before the experiment began (p < 0.001).");
}

static void compare_arms(struct analysis *a, const struct planned_metric *metric,
                         const struct given *c, const struct given *t, struct pair_figures *pair)
{
	double theta;
	*pair = pair_untested(why_not(metric, c, t));
	if (c->is_there && t->is_there)
		pair->plain = comparison_untested(c->sample.mean, t->sample.mean);
	if (pair->invalid)
		return;
	pair->plain = compare(a, metric->kind, c, t);
	analysis_complete_pair(a, metric, pair, c->sample.mean, c->sample.n + t->sample.n);
	pair->has_adjusted = c->has_pre && t->has_pre && fmin(c->sample.n, t->sample.n) >= 2;
	if (!pair->has_adjusted)
		return;
	pair->adjusted = samples_compare_adjusted(&c->sample, &c->pre, &t->sample, &t->pre,
	                                          &a->testing, &theta);
	pair->has_adjusted = !isnan(theta);
	check_pre_period(a, metric, c, t);
}

static void read_metric(struct analysis *a, struct problem *problem, size_t place, yyjson_val *sent)
{
	int number_of = plan_metric(a->plan, json_get_text(sent, "key"));
	size_t index, count, faults = problem->field_count;
	yyjson_val *arm;
	struct given given[PLAN_ARMS_MAX] = {{0}};
	if (number_of < 0 || a->metrics[number_of].is_present) {
		problem_add_field(a->arena, problem,
		                  arena_printf(a->arena, "metrics[%zu].key", place), "%s",
		                  number_of < 0 ? "is no metric of the plan" : "is given twice");
		return;
	}
	const struct planned_metric *metric = &a->plan->metrics[number_of];
	struct metric_figures *figures = &a->metrics[number_of];
	figures->is_present = true;
	yyjson_arr_foreach (json_get(sent, "arms"), index, count, arm)
		read_arm(&(struct place){a, problem, place, index}, metric, arm, given);
	if (problem->field_count > faults)
		return;
	for (size_t i = 0; i < a->plan->arm_count; i++) {
		set_arm(a, metric->kind, &given[i], &figures->arms[i]);
		if (i != a->plan->control)
			compare_arms(a, metric, &given[a->plan->control], &given[i],
			             &figures->pairs[i]);
	}
}

static void read_units(struct analysis *a, yyjson_val *units, struct problem *problem)
{
	size_t index, count;
	yyjson_val *name, *value;
	json_obj_foreach (units, index, count, name, value) {
		const char *key = yyjson_get_str(name);
		int arm = plan_arm(a->plan, key);
		int64_t n;
		if (arm < 0 || !json_is_whole(value, &n) || n < 0)
			problem_add_field(a->arena, problem, "units", "%s",
			                  arm < 0 ? "has a member that is no arm of the plan"
			                          : "must have whole numbers from 0 on");
		else
			a->units[arm] = (double)n;
	}
}

/* Units that were in several arms: 1 % of all, and at least 10. */
static void check_exposures(struct analysis *a, yyjson_val *body)
{
	double several = (double)json_get_int(body, "multiple_exposures", 0), all = 0;
	for (size_t i = 0; i < a->plan->arm_count; i++)
		all += isnan(a->units[i]) ? 0 : a->units[i];
	if (several >= 10 && several >= 0.01 * all)
		warning_add(a, "multiple_exposures", NULL,
		            "At least 1 % of the units were in more than one arm.");
}

void sums_read(struct analysis *a, yyjson_val *body, struct problem *problem)
{
	size_t index, count;
	yyjson_val *metric;
	read_units(a, json_get(body, "units"), problem);
	check_exposures(a, body);
	yyjson_arr_foreach (json_get(body, "metrics"), index, count, metric)
		read_metric(a, problem, index, metric);
}
