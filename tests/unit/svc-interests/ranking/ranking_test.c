#include "ranking/ranking.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Vectors of one or two terms, of length 1. */
static const struct feature term_a[] = {{1, 1}}, term_b[] = {{2, 1}}, term_c[] = {{3, 1}};
static const struct feature term_ab[] = {{1, 0.7f}, {2, 0.714f}};
static const struct features a = {.terms = term_a, .count = 1};
static const struct features b = {.terms = term_b, .count = 1};
static const struct features c = {.terms = term_c, .count = 1};
static const struct features ab = {.terms = term_ab, .count = 2};

static void test_merit(void **state)
{
	(void)state;
	static const struct {
		struct candidate candidate;
		double trust;
		double merit;
	} rows[] = {
		{{NULL, 1, 0, 0, true}, 0, 1},
		{{NULL, 0, 1, NAN, false}, 0, 0},
		{{NULL, 0, 1, NAN, false}, 1, 0.44},
		{{NULL, 1, 0, NAN, false}, 1, 0.44},
		{{NULL, 0, 0, 0, false}, 1, 0.08},
		{{NULL, 0, 0, 30, false}, 1, 0.04},
		{{NULL, 0, 0, -3, false}, 1, 0.08},
		{{NULL, 0, 0, NAN, true}, 1, 0.04},
		{{NULL, 0, 1, NAN, false}, 0.5, 0.22 / 0.78},
		{{NULL, NAN, NAN, INFINITY, false}, 1, 0},
		{{NULL, INFINITY, 7, -INFINITY, true}, 9, 1},
		{{NULL, -1, -1, NAN, false}, NAN, 0},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct rank_options options = {.preference_trust = rows[i].trust};
		assert_true(fabs(candidate_merit(&rows[i].candidate, &options) - rows[i].merit) <
		            1e-9);
	}
	struct rank_options week = {.half_life_days = 7, .preference_trust = 1};
	struct candidate week_old = {.age_days = 7};
	assert_true(fabs(candidate_merit(&week_old, &week) - 0.04) < 1e-9);
}

static void test_falling_and_in_range(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct candidate pool[40];
	const struct features *vectors[] = {&a, &b, &c, &ab, NULL};
	for (size_t i = 0; i < ARRAY_LEN(pool); i++)
		pool[i] = (struct candidate){
			.features = vectors[i % ARRAY_LEN(vectors)],
			.retrieval = (double)(i * 7 % 40) / 40,
			.preference = i % 11 == 0 ? NAN : (double)(i * 13 % 40) / 40,
			.age_days = (double)(i * 3 % 40),
			.has_container = i % 2 == 0,
		};
	struct rank_options options = {.limit = 100, .preference_trust = 0.6};
	size_t count;
	struct ranked *ranked = rank_pool(arena, pool, ARRAY_LEN(pool), &options, &count);
	assert_true(count >= 8); /* the eight without a vector are like nothing */
	for (size_t i = 0; i < count; i++) {
		assert_true(ranked[i].relevance >= 0 && ranked[i].relevance <= 1);
		assert_true(ranked[i].relevance <= ranked[i].merit);
		assert_int_equal(ranked[i].rank, i + 1);
		assert_true(i == 0 || ranked[i].relevance <= ranked[i - 1].relevance);
	}
	arena_free(arena);
}

/* The second best says much of what the best says (likeness 0.7): it gives way to another
 * subject. */
static void test_diversity(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	static const struct candidate pool[] = {
		{.features = &c, .retrieval = 0.80, .age_days = NAN},
		{.features = &ab, .retrieval = 0.95, .age_days = NAN},
		{.features = &a, .retrieval = 1.00, .age_days = NAN},
	};
	struct rank_options options = {.limit = 3};
	size_t count;
	struct ranked *ranked = rank_pool(arena, pool, 3, &options, &count);
	assert_int_equal(count, 3);
	assert_int_equal(ranked[0].candidate, 2);
	assert_int_equal(ranked[1].candidate, 0);
	assert_int_equal(ranked[2].candidate, 1);
	assert_true(ranked[2].relevance < ranked[2].merit);
	arena_free(arena);
}

static void test_same_again_is_left_out(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	static const struct candidate pool[] = {
		{.features = &a, .retrieval = 1},
		{.features = &a, .retrieval = 0.9},
		{.features = &b, .retrieval = 0.5},
		{.features = &c, .retrieval = 0.4},
	};
	const struct features *seen[] = {&b};
	struct rank_options options = {.limit = 4, .seen = seen, .seen_count = 1};
	size_t count;
	struct ranked *ranked = rank_pool(arena, pool, 4, &options, &count);
	assert_int_equal(count, 2);
	assert_int_equal(ranked[0].candidate, 0);
	assert_int_equal(ranked[1].candidate, 3);
	arena_free(arena);
}

static void test_ties_and_limits(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct candidate pool[6] = {0};
	struct rank_options options = {.limit = 4};
	size_t count;
	struct ranked *ranked = rank_pool(arena, pool, 6, &options, &count);
	assert_int_equal(count, 4);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(ranked[i].candidate, i);
	options.limit = 0;
	rank_pool(arena, pool, 6, &options, &count);
	assert_int_equal(count, 0);
	options.limit = 4;
	rank_pool(arena, NULL, 0, &options, &count);
	assert_int_equal(count, 0);
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merit),
		cmocka_unit_test(test_falling_and_in_range),
		cmocka_unit_test(test_diversity),
		cmocka_unit_test(test_same_again_is_left_out),
		cmocka_unit_test(test_ties_and_limits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
