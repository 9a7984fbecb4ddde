#include "statistics/verdict.h"

#include "base/base.h"
#include "near.h"

static void one_rule_gives_the_word(void **state)
{
	(void)state;
	static const struct {
		double effect, low, high, p, relative_low, relative_high;
		bool is_lower_better, is_early;
		enum verdict verdict;
		const char *confidence;
	} ROWS[] = {
		{1, 0.5, 1.5, 0.01, 0.05, 0.15, false, false, VERDICT_BETTER, "significant"},
		{1, 0.5, 1.5, 0.01, 0.05, 0.15, true, false, VERDICT_WORSE, "significant"},
		{-1, -1.5, -0.5, 0.01, -0.15, -0.05, true, false, VERDICT_BETTER, "significant"},
		{-1, -1.5, -0.5, 0.01, -0.15, -0.05, false, false, VERDICT_WORSE, "significant"},
		{1, 0.5, 1.5, 0.05, 0.05, 0.15, false, false, VERDICT_BETTER, "significant"},
		/* Whatever p is, before there are enough units. */
		{1, 0.5, 1.5, 1e-9, 0.05, 0.15, false, true, VERDICT_TOO_EARLY, "inconclusive"},
		/* p and interval do not agree: both are asked. */
		{1, -0.1, 1.5, 0.04, -0.01, 0.15, false, false, VERDICT_UNCLEAR, "inconclusive"},
		{1, 0.1, 1.5, 0.06, 0.01, 0.15, false, false, VERDICT_UNCLEAR, "inconclusive"},
		{0, -0.1, 0.1, 0.9, -0.004, 0.004, false, false, VERDICT_EQUAL, "inconclusive"},
		{0, -0.1, 0.1, 0.9, -0.006, 0.004, false, false, VERDICT_UNCLEAR, "inconclusive"},
		/* A relative effect without bounds is not small. */
		{0, -0.1, 0.1, 0.9, NAN, NAN, false, false, VERDICT_UNCLEAR, "inconclusive"},
		{1, NAN, NAN, NAN, NAN, NAN, false, true, VERDICT_INVALID, "not_tested"},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		struct comparison c = {.effect = ROWS[i].effect,
		                       .low = ROWS[i].low,
		                       .high = ROWS[i].high,
		                       .p = ROWS[i].p,
		                       .relative_low = ROWS[i].relative_low,
		                       .relative_high = ROWS[i].relative_high};
		enum verdict verdict = verdict_of(
			&(struct verdict_question){&c, c.p, 0.05, 0.005, ROWS[i].is_lower_better,
		                                   ROWS[i].is_early});
		assert_int_equal(verdict, ROWS[i].verdict);
		assert_string_equal(verdict_confidence(verdict), ROWS[i].confidence);
	}
}

static void an_adjusted_p_decides(void **state)
{
	(void)state;
	struct comparison c = {.effect = 1, .low = 0.1, .high = 2, .p = 0.03, .relative_high = 0.2};
	struct verdict_question question = {&c, 0.06, 0.05, 0.005, false, false};
	assert_int_equal(verdict_of(&question), VERDICT_UNCLEAR);
}

static void guardrails_watch_the_bad_side(void **state)
{
	(void)state;
	struct comparison c = {.low = -2, .high = -1, .relative_low = -0.2, .relative_high = -0.1};
	assert_int_equal(guardrail_of(&c, 0.05, false), GUARDRAIL_HARMED);
	assert_int_equal(guardrail_of(&c, 0.05, true), GUARDRAIL_SAFE);
	c = (struct comparison){.low = -1, .high = 1, .relative_low = -0.06, .relative_high = 0.04};
	assert_int_equal(guardrail_of(&c, 0.05, false), GUARDRAIL_AT_RISK);
	assert_int_equal(guardrail_of(&c, 0.05, true), GUARDRAIL_SAFE);
	c.relative_low = NAN;
	assert_int_equal(guardrail_of(&c, 0.05, false), GUARDRAIL_AT_RISK);
}

static void advice_follows_the_verdict_and_the_worst_guardrail(void **state)
{
	(void)state;
	assert_string_equal(verdict_advice(VERDICT_BETTER, GUARDRAIL_SAFE, true), "ship");
	assert_string_equal(verdict_advice(VERDICT_BETTER, GUARDRAIL_AT_RISK, true), "wait");
	assert_string_equal(verdict_advice(VERDICT_BETTER, GUARDRAIL_HARMED, true), "iterate");
	assert_string_equal(verdict_advice(VERDICT_WORSE, GUARDRAIL_SAFE, false), "stop");
	assert_string_equal(verdict_advice(VERDICT_UNCLEAR, GUARDRAIL_SAFE, false), "wait");
	assert_string_equal(verdict_advice(VERDICT_UNCLEAR, GUARDRAIL_SAFE, true), "iterate");
	assert_string_equal(verdict_advice(VERDICT_INVALID, GUARDRAIL_SAFE, true), "wait");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_rule_gives_the_word),
		cmocka_unit_test(an_adjusted_p_decides),
		cmocka_unit_test(guardrails_watch_the_bad_side),
		cmocka_unit_test(advice_follows_the_verdict_and_the_worst_guardrail),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
