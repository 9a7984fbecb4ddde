#include "ranking/selection.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Feature vectors of one or two terms, of length 1. */
static const struct feature term_a[] = {{1, 1}}, term_b[] = {{2, 1}}, term_c[] = {{3, 1}};
static const struct feature term_ab[] = {{1, 0.7f}, {2, 0.714f}};
static const struct features a = {.terms = term_a, .count = 1};
static const struct features b = {.terms = term_b, .count = 1};
static const struct features c = {.terms = term_c, .count = 1};
static const struct features ab = {.terms = term_ab, .count = 2};

static void test_result_is_in_the_order_of_relevance(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct candidate pool[40];
	const struct features *vectors[] = {&a, &b, &c, &ab, NULL};
	for (size_t i = 0; i < ARRAY_LEN(pool); i++)
		pool[i] = (struct candidate){
			.features = vectors[i % ARRAY_LEN(vectors)],
			.retrieval = 0.5 + (double)(i * 7 % 40) / 80,
			.preference = i % 11 == 0 ? NAN : (double)(i * 13 % 40) / 40,
			.age_days = (double)(i * 3 % 40),
			.has_container = i % 2 == 0,
		};
	struct selection_options options = {.limit = 100, .scoring.preference_trust = 0.6};
	size_t count;
	struct selected *selected = select_papers(arena, pool, ARRAY_LEN(pool), &options, &count);
	assert_true(count >= 8); /* the eight without features are similar to no other paper */
	for (size_t i = 0; i < count; i++) {
		assert_true(selected[i].final_score >= 0 && selected[i].final_score <= 1);
		assert_true(selected[i].final_score <= selected[i].base_score);
		assert_int_equal(selected[i].rank, i + 1);
		assert_true(i == 0 || selected[i].relevance <= selected[i - 1].relevance);
	}
	arena_free(arena);
}

/* The second best paper is similar to the best one (0.7), so a paper on another topic that is about
 * as good is selected before it. */
static void test_similar_paper_is_selected_later(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	static const struct candidate pool[] = {
		{.features = &c, .retrieval = 0.90, .age_days = NAN},
		{.features = &ab, .retrieval = 0.95, .age_days = NAN},
		{.features = &a, .retrieval = 1.00, .age_days = NAN},
	};
	struct selection_options options = {.limit = 2};
	size_t count;
	struct selected *selected = select_papers(arena, pool, 3, &options, &count);
	assert_int_equal(count, 2);
	assert_int_equal(selected[0].candidate, 2);
	assert_int_equal(selected[1].candidate, 0);
	options.limit = 3;
	selected = select_papers(arena, pool, 3, &options, &count);
	assert_int_equal(count, 3);
	assert_int_equal(selected[1].candidate, 1);
	assert_true(selected[1].final_score < selected[1].base_score);
	arena_free(arena);
}

/* A clearly better paper is not passed over for one of another kind. */
static void test_diversity_does_not_outweigh_quality(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	static const struct candidate pool[] = {
		{.features = &c, .retrieval = 0.80, .age_days = NAN},
		{.features = &ab, .retrieval = 0.95, .age_days = NAN},
		{.features = &a, .retrieval = 1.00, .age_days = NAN},
	};
	struct selection_options options = {.limit = 2};
	size_t count;
	struct selected *selected = select_papers(arena, pool, 3, &options, &count);
	assert_int_equal(count, 2);
	assert_int_equal(selected[0].candidate, 2);
	assert_int_equal(selected[1].candidate, 1);
	arena_free(arena);
}

/* A new paper with a container does not displace a better one where it is not even loosely
 * related, and fills a short list up after it. */
static void test_a_paper_below_loosely_related_is_selected_last(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	static const struct candidate pool[] = {
		{.features = &a, .retrieval = 0.52, .age_days = NAN},
		{.features = &b, .retrieval = 0.47, .age_days = 0, .has_container = true},
	};
	struct selection_options options = {.limit = 1};
	size_t count;
	struct selected *selected = select_papers(arena, pool, 2, &options, &count);
	assert_true(candidate_relevance(&pool[0], &options.scoring) > RELEVANCE_LOOSE);
	assert_true(candidate_relevance(&pool[1], &options.scoring) < RELEVANCE_LOOSE);
	assert_true(base_score(&pool[1], &options.scoring) >
	            base_score(&pool[0], &options.scoring));
	assert_int_equal(selected[0].candidate, 0);
	options.limit = 2;
	select_papers(arena, pool, 2, &options, &count);
	assert_int_equal(count, 2);
	arena_free(arena);
}

/* Whether the selected papers are these candidates, in this order. */
static void assert_selected(struct candidate *pool, size_t pool_count, size_t limit,
                            const size_t *candidates, size_t count)
{
	struct arena *arena = arena_new();
	struct selection_options options = {.limit = limit};
	size_t selected_count;
	struct selected *selected =
		select_papers(arena, pool, pool_count, &options, &selected_count);
	assert_int_equal(selected_count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(selected[i].candidate, candidates[i]);
	arena_free(arena);
}

static void test_unrelated_papers_only_fill_a_list_up_to_three(void **state)
{
	(void)state;
	struct candidate pool[] = {
		{.retrieval = 0.20, .age_days = NAN}, {.retrieval = 0.35, .age_days = NAN},
		{.retrieval = 0.30, .age_days = NAN}, {.retrieval = 0.25, .age_days = NAN},
		{.retrieval = 0.15, .age_days = NAN},
	};
	const size_t nearest[] = {1, 2, 3}, mixed[] = {4, 1, 2}, related[] = {4, 0, 3, 2};
	assert_int_equal(ARRAY_LEN(nearest), SELECTION_LEAST);
	assert_selected(pool, 5, 5, nearest, 3);
	assert_selected(pool, 5, 2, nearest, 2);
	pool[4].retrieval = 0.9;
	assert_selected(pool, 5, 5, mixed, 3);
	pool[0].retrieval = 0.8;
	pool[3].retrieval = 0.7;
	pool[2].retrieval = 0.6;
	assert_selected(pool, 5, 5, related, 4);
	assert_selected(pool, 5, 2, related, 2);
}

static void test_papers_of_a_named_author_are_related(void **state)
{
	(void)state;
	struct candidate pool[] = {
		{.retrieval = 0.30, .age_days = NAN, .author = "Kaiming He"},
		{.retrieval = 0.25, .age_days = NAN, .author = "Kaiming He"},
		{.retrieval = 0.20, .age_days = NAN, .author = "Kaiming He"},
		{.retrieval = 0.15, .age_days = NAN, .author = "Kaiming He"},
		{.retrieval = 0.45, .age_days = NAN},
	};
	const size_t theirs[] = {0, 1, 2, 3};
	assert_selected(pool, 5, 5, theirs, 4);
}

static void test_duplicates_are_left_out(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	static const struct candidate pool[] = {
		{.features = &a, .retrieval = 1},
		{.features = &a, .retrieval = 0.9},
		{.features = &b, .retrieval = 0.5},
		{.features = &c, .retrieval = 0.4},
	};
	const struct features *recommended[] = {&b};
	struct selection_options options = {.limit = 4,
	                                    .recommended = recommended,
	                                    .recommended_count = 1};
	size_t count;
	struct selected *selected = select_papers(arena, pool, 4, &options, &count);
	assert_int_equal(count, 2);
	assert_int_equal(selected[0].candidate, 0);
	assert_int_equal(selected[1].candidate, 3);
	arena_free(arena);
}

static void test_ties_keep_the_order_of_the_pool_and_the_limit_holds(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct candidate pool[6];
	struct selection_options options = {.limit = 4};
	size_t count;
	for (size_t i = 0; i < ARRAY_LEN(pool); i++)
		pool[i] = (struct candidate){.retrieval = 0.9};
	struct selected *selected = select_papers(arena, pool, 6, &options, &count);
	assert_int_equal(count, 4);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(selected[i].candidate, i);
	options.limit = 0;
	select_papers(arena, pool, 6, &options, &count);
	assert_int_equal(count, 0);
	options.limit = 4;
	select_papers(arena, NULL, 0, &options, &count);
	assert_int_equal(count, 0);
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_result_is_in_the_order_of_relevance),
		cmocka_unit_test(test_similar_paper_is_selected_later),
		cmocka_unit_test(test_diversity_does_not_outweigh_quality),
		cmocka_unit_test(test_a_paper_below_loosely_related_is_selected_last),
		cmocka_unit_test(test_unrelated_papers_only_fill_a_list_up_to_three),
		cmocka_unit_test(test_papers_of_a_named_author_are_related),
		cmocka_unit_test(test_duplicates_are_left_out),
		cmocka_unit_test(test_ties_keep_the_order_of_the_pool_and_the_limit_holds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
