#include "engine/fusion.h"

#include "base/base.h"
#include "corpus.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* The weight of the dense scores when the best document covers this much of the query. */
static float dense_weight(float coverage)
{
	return FUSION_DENSE_WEIGHT +
	       (FUSION_DENSE_WEIGHT_COVERED - FUSION_DENSE_WEIGHT) * powf(coverage, 4);
}

static struct relevance_scale scale_of(float full_score)
{
	return (struct relevance_scale){full_score, 0.5f};
}

static void test_scores_are_normalised_and_added(void **state)
{
	struct candidate candidates[] = {
		{.id = "dense", .words = 2, .cosine = 0.8f},
		{.id = "both",
	         .words = 8,
	         .smoothed = 8,
	         .pairs = 2,
	         .coverage = 0.7f,
	         .cosine = 0.4f},
		{.id = "below", .words = 5, .cosine = -0.5f},
	};
	(void)state;
	float weight = dense_weight(0.7f);
	fusion_rank(candidates, 3, scale_of(20), true);
	assert_string_equal(candidates[0].id, "both");
	assert_true(fabsf(candidates[0].fused - (1 + weight / 2)) < 1e-6f);
	assert_string_equal(candidates[1].id, "dense");
	assert_true(fabsf(candidates[1].fused - (0.2f + weight)) < 1e-6f);
	assert_true(fabsf(candidates[2].fused - 0.5f) < 1e-6f);
	/* The best candidate has a coverage of 8 / 20 and a cosine of 0.4. */
	assert_true(fabsf(candidates[0].relevance - 0.4f) < 1e-6f);
	assert_true(fabsf(candidates[2].relevance - 0.4f * 0.5f / candidates[0].fused) < 1e-6f);
}

static void test_dense_scores_weigh_less_when_words_cover_the_query(void **state)
{
	struct candidate covered[] = {
		{.id = "words", .words = 10, .coverage = 1, .cosine = 0.1f},
		{.id = "dense", .words = 4, .coverage = 0.2f, .cosine = 0.9f}};
	struct candidate missed[] = {{.id = "words", .words = 10, .coverage = 0.3f, .cosine = 0.1f},
	                             {.id = "dense", .words = 4, .coverage = 1, .cosine = 0.9f}};
	(void)state;
	fusion_rank(covered, 2, scale_of(10), true);
	assert_string_equal(covered[0].id, "words");
	assert_true(fabsf(covered[1].fused - (0.4f + FUSION_DENSE_WEIGHT_COVERED)) < 1e-6f);
	fusion_rank(missed, 2, scale_of(10), true);
	assert_string_equal(missed[0].id, "dense");
	assert_true(fabsf(missed[0].fused - (0.4f + dense_weight(0.3f))) < 1e-6f);
}

static void test_lexical_scores_only(void **state)
{
	struct candidate candidates[] = {{.id = "a", .words = 1, .cosine = 0.9f},
	                                 {.id = "b", .words = 3, .smoothed = 3}};
	(void)state;
	fusion_rank(candidates, 2, (struct relevance_scale){.full_score = 2}, false);
	assert_string_equal(candidates[0].id, "b");
	assert_true(candidates[0].relevance == 1.0f);
	assert_true(fabsf(candidates[1].relevance - 1.0f / 3) < 1e-6f);
}

static void test_the_cosine_weighs_in_the_relevance_as_told(void **state)
{
	static const float weights[] = {0, 0.1f, 0.5f, 1};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(weights); i++) {
		struct candidate first = {.id = "a", .words = 9, .smoothed = 2, .cosine = 0.8f};
		fusion_rank(&first, 1, (struct relevance_scale){10, weights[i]}, true);
		assert_true(fabsf(first.relevance - (0.2f + 0.6f * weights[i])) < 1e-6f);
	}
}

static void test_a_missing_vector_gets_the_lexical_score(void **state)
{
	struct candidate candidates[] = {
		{.id = "near", .words = 5, .cosine = 0.9f},
		{.id = "pending",
	         .words = 8,
	         .smoothed = 8,
	         .pairs = 2,
	         .coverage = 0.4f,
	         .awaits_vector = true},
		{.id = "none", .awaits_vector = true},
	};
	(void)state;
	fusion_rank(candidates, 3, scale_of(20), true);
	assert_string_equal(candidates[0].id, "pending");
	assert_true(fabsf(candidates[0].fused - (1 + dense_weight(0.4f))) < 1e-6f);
	assert_true(fabsf(candidates[0].relevance - 0.4f) < 1e-6f);
	assert_true(fabsf(candidates[1].fused - (0.5f + dense_weight(0.4f))) < 1e-6f);
	assert_true(candidates[2].fused == 0);
}

static void test_ties_rank_newer_first_then_by_id(void **state)
{
	struct candidate candidates[] = {
		{.id = "c", .words = 1, .published = 5},
		{.id = "b", .words = 1, .published = 7},
		{.id = "a", .words = 1, .published = 5},
	};
	(void)state;
	fusion_rank(candidates, 3, scale_of(1), true);
	assert_string_equal(candidates[0].id, "b");
	assert_string_equal(candidates[1].id, "a");
	assert_string_equal(candidates[2].id, "c");
}

static void test_a_paper_named_by_id_ranks_first(void **state)
{
	struct candidate candidates[] = {
		{.id = "other", .words = 3, .smoothed = 3, .cosine = 0.5f},
		{.id = "named", .words = 1, .is_named = true},
		{.id = "last", .words = 1},
	};
	(void)state;
	fusion_rank(candidates, 3, scale_of(6), true);
	assert_string_equal(candidates[0].id, "named");
	assert_true(candidates[0].relevance == 1.0f);
	assert_string_equal(candidates[1].id, "other");
	assert_true(fabsf(candidates[1].relevance - 0.5f) < 1e-6f);
	fusion_rank(candidates, 1, scale_of(6), true);
	assert_true(candidates[0].relevance == 1.0f);
}

static void test_relevance_is_between_0_and_1_and_descending(void **state)
{
	struct random_source noise = {91};
	(void)state;
	fusion_rank(NULL, 0, scale_of(1), true);
	for (int round = 0; round < 1000; round++) {
		size_t count = 1 + random_below(&noise, 30);
		struct candidate candidates[30];
		for (size_t i = 0; i < count; i++)
			candidates[i] = (struct candidate){
				.id = "x",
				.is_named = random_below(&noise, 20) == 0,
				.words = (float)random_below(&noise, 100) / 10,
				.smoothed = (float)random_below(&noise, 100) / 10,
				.pairs = (float)random_below(&noise, 20) / 10,
				.cosine = (float)random_below(&noise, 200) / 100 - 1,
				.awaits_vector = random_below(&noise, 3) == 0,
			};
		struct relevance_scale scale = {0.5f + (float)random_below(&noise, 50),
		                                (float)(round % 2) / (float)(1 + round % 5)};
		fusion_rank(candidates, count, scale, round % 2);
		for (size_t i = 0; i < count; i++) {
			assert_true(candidates[i].relevance >= 0 && candidates[i].relevance <= 1);
			assert_true(i == 0 ||
			            candidates[i - 1].relevance >= candidates[i].relevance);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scores_are_normalised_and_added),
		cmocka_unit_test(test_dense_scores_weigh_less_when_words_cover_the_query),
		cmocka_unit_test(test_lexical_scores_only),
		cmocka_unit_test(test_the_cosine_weighs_in_the_relevance_as_told),
		cmocka_unit_test(test_a_missing_vector_gets_the_lexical_score),
		cmocka_unit_test(test_ties_rank_newer_first_then_by_id),
		cmocka_unit_test(test_a_paper_named_by_id_ranks_first),
		cmocka_unit_test(test_relevance_is_between_0_and_1_and_descending),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
