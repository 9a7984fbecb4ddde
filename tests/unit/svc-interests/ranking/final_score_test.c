#include "ranking/final_score.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static double score_of(struct candidate candidate, double trust)
{
	struct score_options options = {.half_life_days = 10, .preference_trust = trust};
	double score = base_score(&candidate, &options);
	assert_true(score >= 0 && score <= 1);
	return score;
}

static void test_score_is_1_or_0_when_all_signals_are(void **state)
{
	(void)state;
	assert_true(score_of((struct candidate){NULL, 1, 1, 0, true}, 1) == 1);
	assert_true(score_of((struct candidate){NULL, 0, 0, NAN, false}, 1) == 0);
}

static void test_each_signal_raises_the_score(void **state)
{
	(void)state;
	static const struct candidate plain = {NULL, 0.5, 0.5, 20, false};
	struct candidate better[] = {plain, plain, plain, plain};
	better[0].retrieval = 0.6;
	better[1].preference = 0.6;
	better[2].age_days = 10;
	better[3].has_container = true;
	for (size_t i = 0; i < ARRAY_LEN(better); i++)
		assert_true(score_of(better[i], 1) > score_of(plain, 1));
}

static void test_refusal_lowers_the_score(void **state)
{
	(void)state;
	struct candidate candidate = {.retrieval = 1, .age_days = 0, .has_container = true};
	candidate.refusal = 0.5;
	assert_true(fabs(score_of(candidate, 0) - (1 - REFUSAL_PENALTY / 2)) < 1e-9);
	candidate.refusal = NAN;
	assert_true(score_of(candidate, 0) == 1);
}

static void test_untrusted_preference_is_ignored(void **state)
{
	(void)state;
	static const struct candidate low = {NULL, 0.5, 0, 5, false};
	static const struct candidate high = {NULL, 0.5, 1, 5, false};
	assert_true(score_of(low, 0) == score_of(high, 0));
	assert_true(score_of(high, 0.5) > score_of(low, 0.5));
	assert_true(score_of(high, 1) > score_of(high, 0.5));
}

static void test_recency_halves_after_each_half_life(void **state)
{
	(void)state;
	double ages[] = {0, 10, 20};
	double scores[ARRAY_LEN(ages)];
	for (size_t i = 0; i < ARRAY_LEN(ages); i++)
		scores[i] = score_of((struct candidate){.age_days = ages[i]}, 0);
	assert_true(fabs(scores[1] - scores[0] / 2) < 1e-9);
	assert_true(fabs(scores[2] - scores[0] / 4) < 1e-9);
	assert_true(score_of((struct candidate){.age_days = -3}, 0) == scores[0]);
}

static void test_numbers_out_of_range_are_clamped(void **state)
{
	(void)state;
	assert_true(score_of((struct candidate){NULL, NAN, NAN, INFINITY, false}, 1) == 0);
	assert_true(score_of((struct candidate){NULL, -1, -1, NAN, false}, NAN) == 0);
	assert_true(score_of((struct candidate){NULL, INFINITY, 7, -INFINITY, true}, 9) == 1);
}

static void test_similarity_lowers_the_final_score(void **state)
{
	(void)state;
	assert_true(final_score(0.8, 0) == 0.8);
	assert_true(final_score(0.8, SIMILARITY_IGNORED) == 0.8);
	double before = 0.8;
	for (double similarity = 0.3; similarity <= 1; similarity += 0.1) {
		double score = final_score(0.8, similarity);
		assert_true(score > 0 && score < before);
		before = score;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_score_is_1_or_0_when_all_signals_are),
		cmocka_unit_test(test_each_signal_raises_the_score),
		cmocka_unit_test(test_refusal_lowers_the_score),
		cmocka_unit_test(test_untrusted_preference_is_ignored),
		cmocka_unit_test(test_recency_halves_after_each_half_life),
		cmocka_unit_test(test_numbers_out_of_range_are_clamped),
		cmocka_unit_test(test_similarity_lowers_the_final_score),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
