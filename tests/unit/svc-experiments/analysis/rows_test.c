/* Results of runs and examples that are few, the same, or too large. */
#include "analysed.h"
#include "base/base.h"

#define PLAN(kind) "{\"metrics\": [{\"key\": \"m\", \"kind\": \"" kind "\"}]}"
#define SUITE(scale)                                                                          \
	"{\"suite\": [\"a\", \"b\"], \"metrics\": [{\"key\": \"a\", \"kind\": \"mean\"" scale \
	"}, "                                                                                 \
	"{\"key\": \"b\", \"kind\": \"mean\"}]}"

/* A row that is a run, or with `example` one of its examples. */
static void add_row(struct buf *rows, const char *arm, const char *members, const char *metrics)
{
	buf_printf(rows, "%s{\"arm\": \"%s\", %s\"metrics\": {%s}}", rows->length ? ", " : "", arm,
	           members, metrics);
}

static const char *body_of(struct buf *rows)
{
	return arena_printf(rows->arena, "{\"rows\": [%s]}", rows->data);
}

/* Runs with the values of m in each arm. */
static const char *runs(struct arena *arena, size_t count, const double *control,
                        const double *treatment)
{
	struct buf rows = {.arena = arena};
	for (size_t i = 0; i < count; i++) {
		add_row(&rows, "control", "", arena_printf(arena, "\"m\": %.17g", control[i]));
		add_row(&rows, "treatment", "", arena_printf(arena, "\"m\": %.17g", treatment[i]));
	}
	return body_of(&rows);
}

/* Figures are shown of the fewest runs, but no interval below three and no word. */
static void few_runs_have_figures_and_no_interval(void **state)
{
	(void)state;
	static const double CONTROL[] = {1, 2, 3}, TREATMENT[] = {2, 4, 3};
	static const double EFFECTS[] = {1, 1.5, 1};
	for (size_t count = 1; count <= 3; count++) {
		struct arena *arena = arena_new();
		struct analysed r;
		assert_true(analyse(&r, PLAN("mean"), runs(arena, count, CONTROL, TREATMENT)));
		const struct metric_figures *m = &r.analysis->metrics[0];
		assert_true(m->pairs[1].plain.effect == EFFECTS[count - 1]);
		assert_int_equal(isnan(m->pairs[1].plain.low), count < 3);
		assert_int_equal(isnan(m->arms[0].low), count < 3);
		assert_true(m->arms[0].smallest == 1 && m->arms[0].largest == CONTROL[count - 1]);
		assert_int_equal(r.analysis->verdict == VERDICT_INVALID, count < 3);
		analysed_free(&r);
		arena_free(arena);
	}
}

/* Two runs that got half of it right are no one right and one wrong. */
static void shares_of_runs_are_no_counts(void **state)
{
	(void)state;
	static const double HALF[] = {0.5, 0.5, 0.4, 0.6}, MORE[] = {0.6, 0.7, 0.5, 0.7};
	struct arena *arena = arena_new();
	struct analysed r;
	assert_true(analyse(&r, PLAN("proportion"), runs(arena, 4, HALF, MORE)));
	const struct arm_figures *control = &r.analysis->metrics[0].arms[0];
	assert_true(fabs(control->high - 0.5 - 3.182446305 * sqrt(0.02 / 3 / 4)) < 1e-9);
	analysed_free(&r);
	arena_free(arena);
}

/* Nor are means of samples: of each example one of two samples is right. */
static void means_of_samples_are_no_counts(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct buf rows = {.arena = arena};
	struct analysed r;
	for (int i = 0; i < 48; i++)
		add_row(&rows, i < 24 ? "control" : "treatment",
		        arena_printf(arena, "\"example\": \"%c%d\", ", i < 24 ? 'c' : 't', i / 2),
		        arena_printf(arena, "\"m\": %d", i % 2));
	assert_true(analyse(&r, PLAN("proportion"), body_of(&rows)));
	assert_string_equal(r.analysis->text, "There is no valid test: the results do not vary.");
	analysed_free(&r);
	arena_free(arena);
}

/* What a run of a metric of kind pass_at_k says is the share that it has computed, not samples. */
static void runs_have_computed_pass_at_k(void **state)
{
	(void)state;
	static const double CONTROL[] = {0.83, 0.4, 0.7}, TREATMENT[] = {0.9, 1, 0.8};
	static const char *const PLANS[] = {
		PLAN("pass_at_k"),
		"{\"metrics\": [{\"key\": \"m\", \"kind\": \"pass_at_k\", \"k\": 5}]}",
	};
	static const double EFFECTS[] = {0.07, 0.335, 0.77 / 3};
	for (size_t i = 0; i < ARRAY_LEN(PLANS); i++)
		for (size_t count = 1; count <= 3; count++) {
			struct arena *arena = arena_new();
			struct analysed r;
			assert_true(analyse(&r, PLANS[i], runs(arena, count, CONTROL, TREATMENT)));
			const struct metric_figures *m = &r.analysis->metrics[0];
			assert_true(fabs(m->pairs[1].plain.effect - EFFECTS[count - 1]) < 1e-12);
			assert_true(m->arms[0].largest == 0.83);
			analysed_free(&r);
			arena_free(arena);
		}
}

#define NO_SPREAD "There is no valid test: the results do not vary."

/* Ten examples of 0.1 in each arm. Those of the treatment have three samples each but one, and a
 * sum of three is not three times 0.1. */
static void means_of_samples_that_are_equal_do_not_vary(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct buf rows = {.arena = arena};
	struct analysed r;
	for (int i = 0; i < 10; i++) {
		add_row(&rows, "control", arena_printf(arena, "\"example\": \"c%d\", ", i),
		        "\"m\": 0.1");
		for (int k = 0; k < (i ? 3 : 1); k++)
			add_row(&rows, "treatment",
			        arena_printf(arena, "\"example\": \"t%d\", ", i), "\"m\": 0.1");
	}
	assert_true(analyse(&r, PLAN("mean"), body_of(&rows)));
	assert_string_equal(r.analysis->text, NO_SPREAD);
	assert_true(r.analysis->metrics[0].pairs[1].plain.effect == 0);
	analysed_free(&r);
	arena_free(arena);
}

/* Nor do runs whose sums were made in another order, also where both arms have the same seeds. */
static void runs_that_differ_by_rounding_do_not_vary(void **state)
{
	(void)state;
	static const double CONTROL[] = {0.3, 0.1 + 0.2, 0.3}, TREATMENT[] = {0.7, 0.7, 0.8 - 0.1};
	struct arena *arena = arena_new();
	struct analysed r;
	assert_true(CONTROL[1] != 0.3 && TREATMENT[2] != 0.7);
	assert_true(analyse(&r, PLAN("mean"), runs(arena, 3, CONTROL, TREATMENT)));
	assert_string_equal(r.analysis->text, NO_SPREAD);
	assert_true(r.analysis->metrics[0].arms[0].low == r.analysis->metrics[0].arms[0].mean);
	analysed_free(&r);
	arena_free(arena);
}

static void values_are_bounded(void **state)
{
	(void)state;
	static const double LARGE[] = {1, 2, 1.1e100}, SUMMED[] = {-1e100, 1e100, 0},
			    ONES[] = {1, 2, 3};
	struct arena *arena = arena_new();
	struct analysed r;
	assert_false(analyse(&r, PLAN("mean"), runs(arena, 3, ONES, LARGE)));
	assert_string_equal(r.problem.fields->field, "rows.metrics.m");
	analysed_free(&r);
	assert_true(analyse(&r, PLAN("mean"), runs(arena, 3, ONES, SUMMED)));
	assert_true(isfinite(r.analysis->metrics[0].pairs[1].plain.high));
	analysed_free(&r);
	arena_free(arena);
}

/* ---- Suites ---- */

static const char *suite_runs(struct arena *arena, int count, double spread, double treatment)
{
	struct buf rows = {.arena = arena};
	for (int i = 0; i < 2 * count; i++) {
		double value = 0.5 + spread * (i / 2) + (i % 2 ? treatment : 0);
		add_row(&rows, i % 2 ? "treatment" : "control", "",
		        arena_printf(arena, "\"a\": %.17g, \"b\": %.17g", value, value));
	}
	return body_of(&rows);
}

static void runs_of_a_suite_that_do_not_vary_are_no_test(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct analysed r;
	assert_true(analyse(&r, SUITE(""), suite_runs(arena, 6, 0, 0.2)));
	assert_string_equal(r.analysis->text, "There is no valid test: the results do not vary.");
	assert_true(fabs(r.analysis->metrics[2].pairs[1].plain.effect - 0.2) < 1e-12);
	analysed_free(&r);
	assert_true(analyse(&r, SUITE(""), suite_runs(arena, 6, 0.01, 0.2)));
	const struct pair_figures *pair = &r.analysis->metrics[2].pairs[1];
	assert_int_equal(r.analysis->verdict, VERDICT_BETTER);
	assert_true(pair->minimum_detectable > 0 && pair->needed_n > 0 &&
	            pair->plain.relative_low > 0);
	analysed_free(&r);
	arena_free(arena);
}

/* The scale begins near the values, which makes their last digit a digit of the share. */
static void runs_of_a_suite_that_differ_by_rounding_are_no_test(void **state)
{
	(void)state;
	static const double VALUES[] = {0.3, 0.1 + 0.2, 0.3, 0.3, 0.3};
	struct arena *arena = arena_new();
	struct buf rows = {.arena = arena};
	struct analysed r;
	for (size_t i = 0; i < ARRAY_LEN(VALUES); i++) {
		add_row(&rows, "control", "",
		        arena_printf(arena, "\"a\": %.17g, \"b\": 0.5", VALUES[i]));
		add_row(&rows, "treatment", "",
		        arena_printf(arena, "\"a\": %.17g, \"b\": 0.6", VALUES[i]));
	}
	assert_true(analyse(&r, SUITE(", \"scale\": {\"low\": 0.299, \"high\": 0.301}"),
	                    body_of(&rows)));
	assert_string_equal(r.analysis->text, NO_SPREAD);
	analysed_free(&r);
	arena_free(arena);
}

static void few_runs_of_a_suite_have_no_word(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	for (int count = 2; count <= 5; count++) {
		struct analysed r;
		assert_true(analyse(&r, SUITE(""), suite_runs(arena, count, 0.01, 0.2)));
		const struct comparison *c = &r.analysis->metrics[2].pairs[1].plain;
		assert_true(fabs(c->effect - 0.2) < 1e-12);
		assert_int_equal(isnan(c->low), count < 3);
		assert_int_equal(r.analysis->verdict == VERDICT_INVALID, count < 5);
		analysed_free(&r);
	}
	arena_free(arena);
}

/* The first treatment has both tasks, the second one only the first, and the third no results. */
static void arms_of_a_suite_are_compared_by_common_tasks(void **state)
{
	(void)state;
	static const char *const PLAN_OF_4 =
		"{\"arms\": [{\"key\": \"c\", \"control\": true}, {\"key\": \"both\"}, "
		"{\"key\": \"one\"}, {\"key\": \"none\"}], \"suite\": [\"a\", \"b\"], \"metrics\": "
		"[{\"key\": \"a\", \"kind\": \"mean\"}, {\"key\": \"b\", \"kind\": \"mean\"}]}";
	struct arena *arena = arena_new();
	struct buf rows = {.arena = arena};
	struct analysed r;
	for (int i = 0; i < 6; i++) {
		add_row(&rows, "c", "", arena_printf(arena, "\"a\": 0.3%d, \"b\": 0.8%d", i, i));
		add_row(&rows, "both", "", arena_printf(arena, "\"a\": 0.4%d, \"b\": 0.1%d", i, i));
		add_row(&rows, "one", "", arena_printf(arena, "\"a\": 0.5%d", i));
	}
	assert_true(analyse(&r, PLAN_OF_4, body_of(&rows)));
	const struct metric_figures *suite = &r.analysis->metrics[2];
	assert_true(fabs(suite->arms[0].mean - 0.325) < 1e-12 && suite->arms[0].n == 6);
	assert_true(fabs(suite->pairs[1].plain.effect - 0.1) < 1e-12);
	assert_true(fabs(suite->pairs[2].plain.effect - 0.2) < 1e-12);
	assert_string_equal(suite->pairs[3].invalid, "the arms have no task in common");
	analysed_free(&r);
	arena_free(arena);
}

static void values_far_outside_of_a_scale_are_refused(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct analysed r;
	assert_false(analyse(&r, SUITE(", \"scale\": {\"low\": 0, \"high\": 1e-300}"),
	                     suite_runs(arena, 6, 0.01, 0.2)));
	assert_string_equal(r.problem.fields->field, "rows.metrics.a");
	analysed_free(&r);
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_runs_have_figures_and_no_interval),
		cmocka_unit_test(shares_of_runs_are_no_counts),
		cmocka_unit_test(means_of_samples_are_no_counts),
		cmocka_unit_test(runs_have_computed_pass_at_k),
		cmocka_unit_test(runs_that_differ_by_rounding_do_not_vary),
		cmocka_unit_test(means_of_samples_that_are_equal_do_not_vary),
		cmocka_unit_test(values_are_bounded),
		cmocka_unit_test(runs_of_a_suite_that_do_not_vary_are_no_test),
		cmocka_unit_test(runs_of_a_suite_that_differ_by_rounding_are_no_test),
		cmocka_unit_test(few_runs_of_a_suite_have_no_word),
		cmocka_unit_test(arms_of_a_suite_are_compared_by_common_tasks),
		cmocka_unit_test(values_far_outside_of_a_scale_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
