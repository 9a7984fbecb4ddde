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

#define POOL_MAX 5

/* What is selected of a pool: the indexes of its candidates, in their order. */
struct selection_case {
	const char *what;
	struct candidate pool[POOL_MAX];
	size_t pool_count, limit;
	const struct features *recommended; /* before; NULL: nothing was */
	size_t selected[POOL_MAX], count;
};

#define UNAGED(score)                                 \
	{                                             \
		.retrieval = (score), .age_days = NAN \
	}
#define ABOUT(terms, score)                                                \
	{                                                                  \
		.features = (terms), .retrieval = (score), .age_days = NAN \
	}
#define BY_AUTHOR(score)                                                      \
	{                                                                     \
		.retrieval = (score), .age_days = NAN, .author = "Kaiming He" \
	}

/* The papers a and ab are similar (0.7), others are not. */
static const struct selection_case CASES[] = {
	{"a similar paper comes after one of another topic that is about as good",
         {ABOUT(&c, 0.90), ABOUT(&ab, 0.95), ABOUT(&a, 1.00)},
         3,
         2,
         NULL,
         {2, 0},
         2},
	{"and is not left out",
         {ABOUT(&c, 0.90), ABOUT(&ab, 0.95), ABOUT(&a, 1.00)},
         3,
         3,
         NULL,
         {2, 1, 0},
         3},
	{"a clearly better paper is not passed over for one of another kind",
         {ABOUT(&c, 0.80), ABOUT(&ab, 0.95), ABOUT(&a, 1.00)},
         3,
         2,
         NULL,
         {2, 1},
         2},
	{"unrelated papers fill a list up to three",
         {UNAGED(0.20), UNAGED(0.35), UNAGED(0.30), UNAGED(0.25), UNAGED(0.15)},
         5,
         5,
         NULL,
         {1, 2, 3},
         SELECTION_LEAST},
	{"and no further than the limit",
         {UNAGED(0.20), UNAGED(0.35), UNAGED(0.30), UNAGED(0.25), UNAGED(0.15)},
         5,
         2,
         NULL,
         {1, 2},
         2},
	{"after the related ones",
         {UNAGED(0.20), UNAGED(0.35), UNAGED(0.30), UNAGED(0.25), UNAGED(0.90)},
         5,
         5,
         NULL,
         {4, 1, 2},
         3},
	{"not where three are related",
         {UNAGED(0.80), UNAGED(0.35), UNAGED(0.60), UNAGED(0.70), UNAGED(0.90)},
         5,
         5,
         NULL,
         {4, 0, 3, 2},
         4},
	{"the best of the related ones",
         {UNAGED(0.80), UNAGED(0.35), UNAGED(0.60), UNAGED(0.70), UNAGED(0.90)},
         5,
         2,
         NULL,
         {4, 0},
         2},
	{"papers of a named author are related",
         {BY_AUTHOR(0.30), BY_AUTHOR(0.25), BY_AUTHOR(0.20), BY_AUTHOR(0.15), UNAGED(0.45)},
         5,
         5,
         NULL,
         {0, 1, 2, 3},
         4},
	{"duplicates are left out, also of what was recommended",
         {{.features = &a, .retrieval = 1},
          {.features = &a, .retrieval = 0.9},
          {.features = &b, .retrieval = 0.5},
          {.features = &c, .retrieval = 0.4}},
         4,
         4,
         &b,
         {0, 3},
         2},
	{"equal papers keep the order of the pool",
         {{.retrieval = 0.9},
          {.retrieval = 0.9},
          {.retrieval = 0.9},
          {.retrieval = 0.9},
          {.retrieval = 0.9}},
         5,
         4,
         NULL,
         {0, 1, 2, 3},
         4},
	{"a limit of 0", {{.retrieval = 0.9}}, 1, 0, NULL, {0}, 0},
	{"an empty pool", {{0}}, 0, 4, NULL, {0}, 0},
};

/* Prints the difference if there is one. */
static bool is_as_expected(const struct selection_case *row, const struct selected *selected,
                           size_t count)
{
	bool is_good = count == row->count;
	for (size_t i = 0; i < count && i < row->count; i++)
		is_good = is_good && selected[i].candidate == row->selected[i];
	if (!is_good)
		print_error("%s: %zu selected\n", row->what, count);
	return is_good;
}

static void test_selections(void **state)
{
	(void)state;
	size_t faults = 0, count;
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		const struct selection_case *row = &CASES[i];
		struct arena *arena = arena_new();
		struct selection_options options = {.limit = row->limit,
		                                    .recommended = &row->recommended,
		                                    .recommended_count = row->recommended != NULL};
		struct selected *selected =
			select_papers(arena, row->pool, row->pool_count, &options, &count);
		faults += !is_as_expected(row, selected, count);
		arena_free(arena);
	}
	assert_int_equal(faults, 0);
}

/* A paper that is similar to one before it loses a part of its score. */
static void test_similarity_costs_score(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	static const struct candidate pool[] = {ABOUT(&ab, 0.95), ABOUT(&a, 1.00)};
	const struct selection_options options = {.limit = 2};
	size_t count;
	struct selected *selected = select_papers(arena, pool, 2, &options, &count);
	assert_true(selected[0].final_score >= selected[0].base_score);
	assert_true(selected[1].final_score < selected[1].base_score);
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

#define MANY 60

/* A pool: candidates of four subjects and of none, some of them refused or of a named author, with
 * scores in no order. */
static void make_many(struct candidate pool[MANY])
{
	static const struct features *const vectors[] = {&a, &b, &c, &ab, NULL};
	for (size_t i = 0; i < MANY; i++)
		pool[i] = (struct candidate){
			.features = vectors[i * 7 % ARRAY_LEN(vectors)],
			.retrieval = 0.25 + (double)(i * 37 % MANY) / (2 * MANY),
			.preference = (double)(i * 29 % MANY) / MANY,
			.age_days = (double)(i * 11 % 100),
			.has_container = i % 3 == 0,
			.refusal = i % 5 == 0 ? 0.7 : 0,
			.author = i % 17 == 3 ? "Kaiming He" : NULL,
		};
}

/* What is known of a candidate without its paper: not what it has that is refused. */
static struct candidate unread(const struct candidate *candidate)
{
	struct candidate known = *candidate;
	known.refusal = 0;
	return known;
}

/* Note what a candidate may be that is not in the pool. */
static void bound(struct selection_options *options, const struct candidate *outside)
{
	double score = base_score(outside, &options->scoring);
	double relevance = candidate_relevance(outside, &options->scoring);
	options->base_score_outside = fmax(options->base_score_outside, score);
	if (!relevance_is_below(relevance, outside->author, RELEVANCE_LOOSE))
		options->related_outside = fmax(options->related_outside, score);
}

/* The candidates whose base score may be among the `count` highest, in the order of the pool. */
static struct candidate *best_of(struct arena *arena, const struct candidate pool[MANY],
                                 size_t count, struct selection_options *options)
{
	struct candidate *part = arena_array(arena, count, sizeof(*part));
	size_t taken = 0;
	options->base_score_outside = options->related_outside = 0;
	for (size_t i = 0; i < MANY; i++) {
		struct candidate known = unread(&pool[i]);
		double own = base_score(&known, &options->scoring);
		size_t better = 0;
		for (size_t j = 0; j < MANY; j++) {
			struct candidate another = unread(&pool[j]);
			double other = base_score(&another, &options->scoring);
			better += other > own || (other == own && j < i);
		}
		if (better < count)
			part[taken++] = pool[i];
		else
			bound(options, &known);
	}
	assert_int_equal(taken, count);
	return part;
}

/* Select of each part of the pool. Returns how many of them sufficed. */
static size_t select_of_parts(struct selection_options options)
{
	struct arena *arena = arena_new();
	struct candidate pool[MANY];
	size_t whole_count, part_count, sufficed = 0;
	make_many(pool);
	const struct selected *whole = select_papers(arena, pool, MANY, &options, &whole_count);
	for (size_t count = 1; count < MANY; count++) {
		const struct candidate *part = best_of(arena, pool, count, &options);
		const struct selected *selected =
			select_papers(arena, part, count, &options, &part_count);
		if (!selected)
			continue;
		sufficed++;
		assert_int_equal(part_count, whole_count);
		for (size_t i = 0; i < part_count; i++)
			assert_memory_equal(&part[selected[i].candidate], &pool[whole[i].candidate],
			                    sizeof(pool[0]));
	}
	arena_free(arena);
	return sufficed;
}

/* What is selected among the best candidates is what is selected among all, or it says that they do
 * not suffice; with a model and without one. */
static void test_a_part_of_the_pool_suffices_or_says_so(void **state)
{
	(void)state;
	static const struct score_options scorings[] = {
		{0},
		{.preference_trust = 0.3, .preference_typical = 0.6},
		{.preference_trust = 0.9, .preference_typical = 0.4},
	};
	for (size_t i = 0; i < ARRAY_LEN(scorings); i++) {
		size_t sufficed = 0;
		for (size_t limit = 1; limit <= 12; limit++)
			sufficed += select_of_parts(
				(struct selection_options){.limit = limit, .scoring = scorings[i]});
		assert_in_range(sufficed, 1, 12 * (MANY - 1) - 1);
	}
}

/* Where nothing outside may be related, a list ends without it, or is filled up with the best. */
static void test_what_is_not_related_is_not_waited_for(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	size_t count;
	static const struct candidate pool[] = {UNAGED(0.80), UNAGED(0.75), UNAGED(0.70)};
	struct selection_options options = {.limit = 5, .base_score_outside = 0.4};
	assert_non_null(select_papers(arena, pool, 3, &options, &count));
	assert_int_equal(count, 3);
	assert_null(select_papers(arena, pool, 2, &options, &count));
	options.related_outside = 0.4;
	assert_null(select_papers(arena, pool, 3, &options, &count));
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_result_is_in_the_order_of_relevance),
		cmocka_unit_test(test_selections),
		cmocka_unit_test(test_similarity_costs_score),
		cmocka_unit_test(test_a_paper_below_loosely_related_is_selected_last),
		cmocka_unit_test(test_a_part_of_the_pool_suffices_or_says_so),
		cmocka_unit_test(test_what_is_not_related_is_not_waited_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
