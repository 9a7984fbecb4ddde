/* Each warning on both sides of its threshold. */
#include "analysed.h"
#include "base/base.h"

#define PROPORTION "{\"metrics\": [{\"key\": \"m\", \"kind\": \"proportion\"}]}"
#define MEAN       "{\"metrics\": [{\"key\": \"m\", \"kind\": \"mean\"}]}"
#define FIXED                                                                                 \
	"{\"mode\": \"fixed\", \"planned_n\": 200, \"metrics\": [{\"key\": \"m\", \"kind\": " \
	"\"mean\"}]}"

#define ARMS(control, treatment)                                                           \
	"{\"metrics\": [{\"key\": \"m\", \"arms\": [{\"arm\": \"control\", " control "}, " \
	"{\"arm\": \"treatment\", " treatment "}]}]}"
#define COUNTS(n, successes)       "\"n\": " #n ", \"successes\": " #successes
#define MOMENTS(n, mean, variance) "\"n\": " #n ", \"mean\": " #mean ", \"variance\": " #variance
#define PRE(sum, squares, products)                               \
	", \"pre_sum\": " #sum ", \"pre_sum_squares\": " #squares \
	", \"pre_sum_products\": " #products

static const struct warned {
	const char *code;
	bool is_warned;
	const char *metric; /* NULL: the whole experiment */
	const char *plan, *body, *previous;
	struct result_facts facts;
} TABLE[] = {
	{"sample_ratio_mismatch", false, NULL, PROPORTION,
         ARMS(COUNTS(10000, 500), COUNTS(10450, 520))},
	{"sample_ratio_mismatch", true, NULL, PROPORTION,
         ARMS(COUNTS(1000, 500), COUNTS(1200, 520))},
	{"multiple_exposures", false, NULL, PROPORTION,
         "{\"units\": {\"control\": 500, \"treatment\": 500}, \"multiple_exposures\": 9}"},
	{"multiple_exposures", true, NULL, PROPORTION,
         "{\"units\": {\"control\": 500, \"treatment\": 500}, \"multiple_exposures\": 10}"},
	{"multiple_exposures", false, NULL, PROPORTION,
         "{\"units\": {\"control\": 500, \"treatment\": 501}, \"multiple_exposures\": 10}"},
	{"suspicious_effect", false, "m", PROPORTION, ARMS(COUNTS(1000, 200), COUNTS(1000, 299))},
	{"suspicious_effect", true, "m", PROPORTION, ARMS(COUNTS(1000, 200), COUNTS(1000, 300))},
	{"below_min_effect", true, "m", FIXED,
         ARMS(MOMENTS(1000, 1, 1e-6), MOMENTS(1000, 1.004, 1e-6))},
	{"below_min_effect", false, "m", FIXED,
         ARMS(MOMENTS(1000, 1, 1e-6), MOMENTS(1000, 1.006, 1e-6))},
	{"below_min_effect", false, "m", FIXED, ARMS(MOMENTS(1000, 1, 1), MOMENTS(1000, 1.004, 1))},
	{"few_events", false, "m", PROPORTION, ARMS(COUNTS(1000, 5), COUNTS(1000, 500))},
	{"few_events", true, "m", PROPORTION, ARMS(COUNTS(1000, 4), COUNTS(1000, 500))},
	{"few_events", true, "m", PROPORTION, ARMS(COUNTS(1000, 500), COUNTS(1000, 996))},
	{"few_events", false, "m", MEAN, ARMS(MOMENTS(30, 1, 1), MOMENTS(30, 1, 1))},
	{"few_events", true, "m", MEAN, ARMS(MOMENTS(30, 1, 1), MOMENTS(29, 1, 1))},
	{"pre_period_imbalance", false, "m", MEAN,
         ARMS(MOMENTS(100, 10, 4) PRE(1000, 10500, 10400),
              MOMENTS(100, 10, 4) PRE(1005, 10600, 10450))},
	{"pre_period_imbalance", true, "m", MEAN,
         ARMS(MOMENTS(100, 10, 4) PRE(1000, 10500, 10400),
              MOMENTS(100, 10, 4) PRE(850, 7725, 8900))},
	{"baseline_near_zero", true, "m", FIXED, ARMS(MOMENTS(200, 0.1, 1), MOMENTS(200, 1, 1))},
	{"baseline_near_zero", false, "m", FIXED, ARMS(MOMENTS(200, 0.2, 1), MOMENTS(200, 1, 1))},
	{"early_look", true, "m", FIXED, ARMS(MOMENTS(199, 1, 1), MOMENTS(200, 1, 1))},
	{"early_look", false, "m", FIXED, ARMS(MOMENTS(200, 1, 1), MOMENTS(200, 1, 1))},
	{"early_look", false, "m", MEAN, ARMS(MOMENTS(20, 1, 1), MOMENTS(20, 1, 1))},
	{"shrunk", true, "m", MEAN, ARMS(MOMENTS(200, 1, 1), MOMENTS(199, 1, 1)),
         "{\"metrics\": [{\"key\": \"m\", \"arms\": [{\"arm\": \"treatment\", \"n\": 200}]}]}"},
	{"shrunk", false, "m", MEAN, ARMS(MOMENTS(200, 1, 1), MOMENTS(200, 1, 1)),
         "{\"metrics\": [{\"key\": \"m\", \"arms\": [{\"arm\": \"treatment\", \"n\": 200}]}]}"},
	{"missing_runs",
         true,
         NULL,
         MEAN,
         "{\"rows\": [{\"arm\": \"control\", \"metrics\": {}}]}",
         NULL,
         {.missing_runs = 1}},
	{"missing_runs",
         false,
         NULL,
         MEAN,
         "{\"rows\": [{\"arm\": \"control\", \"metrics\": {}}]}",
         NULL,
         {.left_out_runs = 1}},
	{"repeated_runs",
         true,
         NULL,
         MEAN,
         "{\"rows\": [{\"arm\": \"control\", \"metrics\": {}}]}",
         NULL,
         {.repeated_runs = 1}},
	{"repeated_runs",
         false,
         NULL,
         MEAN,
         "{\"rows\": [{\"arm\": \"control\", \"metrics\": {}}]}",
         NULL,
         {.left_out_runs = 1}},
	{"older_runs",
         true,
         NULL,
         MEAN,
         "{\"rows\": [{\"arm\": \"control\", \"metrics\": {}}]}",
         NULL,
         {.older_runs = 1}},
	{"older_runs",
         false,
         NULL,
         MEAN,
         "{\"rows\": [{\"arm\": \"control\", \"metrics\": {}}]}",
         NULL,
         {.left_out_runs = 1}},
	{"early_look",
         true,
         NULL,
         MEAN,
         "{\"rows\": [{\"arm\": \"control\", \"metrics\": {}}]}",
         NULL,
         {.is_repeated = true}},
	{"estimated_cost",
         false,
         "cost_usd",
         MEAN,
         "{\"rows\": [{\"arm\": \"control\", \"metrics\": {}}]}",
         NULL,
         {.has_estimated_cost = true}},
	{"estimated_cost",
         true,
         "cost_usd",
         "{\"metrics\": [{\"key\": \"cost_usd\", \"kind\": \"mean\"}]}",
         "{\"rows\": [{\"arm\": \"control\", \"metrics\": {}}]}",
         NULL,
         {.has_estimated_cost = true}},
};

static void warnings_are_given_at_their_thresholds(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(TABLE); i++) {
		const struct warned *w = &TABLE[i];
		struct analysed r;
		if (!analyse_after(&r, w->plan, w->body, w->previous, &w->facts))
			fail_msg("%zu: %s %s", i, r.problem.fields->field,
			         r.problem.fields->message);
		if (is_warned(r.analysis, w->code, w->metric) != w->is_warned)
			fail_msg("%zu: %s", i, w->code);
		analysed_free(&r);
	}
}

/* Rows of `count` examples in both arms, and of `alone` in the control only, as JSON. */
static const char *examples(struct arena *arena, int count, int alone, int groups)
{
	struct buf rows = {.arena = arena};
	buf_puts(&rows, "{\"rows\": [");
	for (int i = 0; i < 2 * count + alone; i++)
		buf_printf(&rows,
		           "%s{\"arm\": \"%s\", \"example\": %d, \"group\": %d, \"metrics\": "
		           "{\"m\": %d.5}}",
		           i ? ", " : "", i < count + alone ? "control" : "treatment",
		           i < count + alone ? i : i - count - alone,
		           (i < count + alone ? i : i - count - alone) % groups, i * i % 7);
	buf_puts(&rows, "]}");
	return rows.data;
}

static void assert_example_warning(int count, int alone, int groups, const char *code,
                                   const char *metric, bool expected)
{
	struct arena *arena = arena_new();
	struct analysed r;
	assert_true(analyse(&r, MEAN, examples(arena, count, alone, groups)));
	assert_int_equal(is_warned(r.analysis, code, metric), expected);
	analysed_free(&r);
	arena_free(arena);
}

static void few_examples_and_groups_are_told(void **state)
{
	(void)state;
	assert_example_warning(99, 0, 99, "few_examples", "m", true);
	assert_example_warning(100, 0, 100, "few_examples", "m", false);
	assert_example_warning(100, 0, 29, "few_groups", "m", true);
	assert_example_warning(100, 0, 30, "few_groups", "m", false);
	assert_example_warning(95, 5, 95, "dropped_examples", NULL, false);
	assert_example_warning(94, 6, 94, "dropped_examples", NULL, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(warnings_are_given_at_their_thresholds),
		cmocka_unit_test(few_examples_and_groups_are_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
