#include "ranking/explanation.h"

#include "base/base.h"
#include "ranking/calibration.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *const terms[] = {"retrieval", "reranking"};

/* A strong match: both words are in the title. */
static const struct explanation_facts strong = {
	.title = "Retrieval and Reranking at Scale",
	.interest_name = "Search",
	.terms = terms,
	.term_count = ARRAY_LEN(terms),
	.relevance = 0.8,
	.age_days = NAN,
	.liked = NAN,
};

struct texts {
	struct arena *arena;
	const char *match;
};

static struct texts explain(struct explanation_facts facts)
{
	struct arena *arena = arena_new();
	struct word_splitter *splitter = word_splitter_new(arena);
	struct phrases phrases = explanation_phrases(arena, splitter, &facts);
	return (struct texts){arena, explain_match(arena, &facts, &phrases)};
}

static void assert_match(struct explanation_facts facts, const char *part, bool is_in)
{
	struct texts texts = explain(facts);
	assert_int_equal(strstr(texts.match, part) != NULL, is_in);
	arena_free(texts.arena);
}

static void test_matched_words_are_quoted_with_their_place(void **state)
{
	(void)state;
	struct explanation_facts facts = strong;
	assert_match(facts, "\"retrieval\", \"reranking\" in the title", true);
	assert_match(facts, "abstract", false);
	facts.title = "Fast Retrieval";
	facts.abstract = "Reranking too.";
	assert_match(facts, "\"retrieval\" in the title", true);
	assert_match(facts, "\"reranking\" in the abstract", true);
	facts.title = facts.abstract = "None of the words";
	assert_match(facts, "retrieval", false);
	assert_match(facts, "\"Search\"", true);
}

static void test_an_author_whom_the_interest_names_comes_first(void **state)
{
	(void)state;
	struct explanation_facts facts = strong;
	facts.author = "Kaiming He";
	assert_match(facts, "By Kaiming He; matches \"retrieval\", \"reranking\" in the title.",
	             true);
	facts.title = "None of the words";
	facts.relevance = 0.1;
	assert_match(facts, "By Kaiming He.", true);
	assert_match(facts, "Loosely", false);
}

static void test_only_a_recent_age_is_mentioned(void **state)
{
	(void)state;
	static const struct {
		double age_days;
		const char *part;
	} rows[] = {
		{-5, "today"},   {0.2, "today"},    {1.9, "yesterday"},
		{3.4, "3 days"}, {60.9, "60 days"},
	};
	struct explanation_facts facts = strong;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		facts.age_days = rows[i].age_days;
		assert_match(facts, rows[i].part, true);
	}
	facts.age_days = EXPLANATION_RECENT_DAYS + 1;
	assert_match(facts, "published", false);
	facts.age_days = NAN;
	assert_match(facts, "published", false);
}

static void test_similarity_to_liked_papers_needs_a_high_preference(void **state)
{
	(void)state;
	struct explanation_facts facts = strong;
	static const double low[] = {NAN, -INFINITY, EXPLANATION_LIKED_MIN - 0.01};
	for (size_t i = 0; i < ARRAY_LEN(low); i++) {
		facts.liked = low[i];
		assert_match(facts, "liked", false);
	}
	facts.liked = EXPLANATION_LIKED_MIN;
	assert_match(facts, "liked", true);
}

static void test_each_level_of_relevance_is_told(void **state)
{
	(void)state;
	static const struct {
		double relevance;
		bool is_loose;
		bool is_last_resort;
	} rows[] = {
		{NAN, false, false},
		{RELEVANCE_RELATED, false, false},
		{RELEVANCE_RELATED - 0.01, true, false},
		{RELEVANCE_LOOSE, true, false},
		{RELEVANCE_LOOSE - 0.01, true, true},
	};
	struct explanation_facts facts = strong;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		facts.relevance = rows[i].relevance;
		assert_match(facts, "Loosely related", rows[i].is_loose);
		assert_match(facts, "nothing closer was found", rows[i].is_last_resort);
		assert_match(facts, "\"retrieval\"", true);
	}
}

static void test_general_words_replace_missing_texts(void **state)
{
	(void)state;
	struct explanation_facts facts = {.relevance = NAN, .age_days = NAN, .liked = NAN};
	assert_match(facts, "the interest", true);
	facts.relevance = 0.2;
	assert_match(facts, "the interest", true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matched_words_are_quoted_with_their_place),
		cmocka_unit_test(test_an_author_whom_the_interest_names_comes_first),
		cmocka_unit_test(test_only_a_recent_age_is_mentioned),
		cmocka_unit_test(test_similarity_to_liked_papers_needs_a_high_preference),
		cmocka_unit_test(test_each_level_of_relevance_is_told),
		cmocka_unit_test(test_general_words_replace_missing_texts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
