#include "reasoning.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct case_row {
	struct reasoning_facts facts;
	const char *sentence;
	const char *experiment;
};

static const char *const search_terms[] = {"retrieval", "reranking"};
static const char *const mixed_terms[] = {"retrieval", "retrieve", "the",   "latency",
                                          "cost",      "x y",      "recall"};
static const char *const quoted_terms[] = {"say \"cheese\"\n now"};

static const struct case_row rows[] = {
	{{"Retrieval and Reranking at Scale", "Search", search_terms, 2, 3.4, true, 0.9},
         "Matches \"retrieval\", \"reranking\" in the title; published 3 days ago; "
         "has a runnable container; similar to papers this team liked.",
         "Run the container of \"Retrieval and Reranking at Scale\" on a small sample of your data "
         "for \"Search\", and compare the result with what you use today for retrieval and "
         "reranking."},
	{{"Fast Retrieval", "Search", mixed_terms, 7, 400, false, 0.59},
         "Matches \"retrieval\" in the title and \"latency\", \"cost\", \"recall\" in the "
         "abstract.",
         "Try what \"Fast Retrieval\" describes on a small sample of your data for \"Search\", and "
         "compare the result with what you use today for retrieval and latency."},
	{{"A Survey of Agents", "Agents", quoted_terms, 1, 0.2, false, NAN},
         "Matches \"say 'cheese' now\" in the abstract; published today.",
         "Take one approach from \"A Survey of Agents\" to a small sample of your "
         "data for \"Agents\", and compare the result with what you use today for say 'cheese' "
         "now."},
	{{"A \"quoted\"\n  title", "My  interest", NULL, 0, 1.9, false, NAN},
         "Close in meaning to \"My interest\"; published yesterday.",
         "Try what \"A 'quoted' title\" describes on a small sample of your data for "
         "\"My interest\", and compare the result with what you use today."},
	{{NULL, NULL, NULL, 0, NAN, false, NAN},
         "Close in meaning to the interest.",
         "Try what this paper describes on a small sample of your data, and compare the result "
         "with what you use today."},
	{{"RAGBench: a Benchmark", "RAG", NULL, 0, -5, false, 1},
         "Close in meaning to \"RAG\"; published today; similar to papers this team liked.",
         "Repeat a small part of \"RAGBench: a Benchmark\" for \"RAG\", and see how what you use "
         "today does."},
	{{"Datasets of Code", "Code", NULL, 0, 60, false, -INFINITY},
         "Close in meaning to \"Code\"; published 60 days ago.",
         "Take a small part of \"Datasets of Code\" as test data for \"Code\", and see how what "
         "you "
         "use today does."},
};

static void test_sentences(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct arena *arena = arena_new();
		struct word_splitter *splitter = word_splitter_new(arena);
		assert_string_equal(reasoning_sentence(arena, splitter, &rows[i].facts),
		                    rows[i].sentence);
		assert_string_equal(reasoning_experiment(arena, splitter, &rows[i].facts),
		                    rows[i].experiment);
		arena_free(arena);
	}
}

/* A long title is cut at a word; one without spaces at a whole character. */
static void test_long_titles(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct word_splitter *splitter = word_splitter_new(arena);
	char words[401], letters[401];
	for (size_t i = 0; i < 400; i++)
		words[i] = "abc "[i % 4];
	letters[0] = 'x';
	for (size_t i = 1; i < 399; i++)
		letters[i] = "\xa9\xc3"[i % 2];
	words[400] = letters[399] = '\0';
	struct reasoning_facts facts = {.title = words, .age_days = NAN, .liked = NAN};
	assert_non_null(
		strstr(reasoning_experiment(arena, splitter, &facts), "abc abc...\" describes"));
	facts.title = letters;
	assert_non_null(
		strstr(reasoning_experiment(arena, splitter, &facts), "\xc3\xa9...\" desc"));
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_long_titles),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
