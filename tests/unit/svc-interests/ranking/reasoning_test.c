#include "ranking/reasoning.h"

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
	{{.title = "Retrieval and Reranking at Scale",
          .interest_name = "Search",
          .terms = search_terms,
          .term_count = 2,
          .retrieval = 0.8,
          .age_days = 3.4,
          .has_container = true,
          .code_url = "https://example.org/code",
          .liked = 0.9},
         "Matches \"retrieval\", \"reranking\" in the title; published 3 days ago; "
         "has a runnable container; similar to papers this team liked.",
         "Run the container of \"Retrieval and Reranking at Scale\" on a small sample of your data "
         "for \"Search\", and compare the result with what you use today; begin with what it says "
         "of \"retrieval\" and \"reranking\"."},
	{{.title = "Fast Retrieval",
          .abstract = "Latency, cost; recall.",
          .interest_name = "Search",
          .terms = mixed_terms,
          .term_count = 7,
          .retrieval = 0.1,
          .age_days = 400,
          .code_url = "https://example.org/co\nde",
          .liked = 0.59},
         "Matches \"retrieval\" in the title and \"latency\", \"cost\", \"recall\" in the "
         "abstract.",
         "Try what \"Fast Retrieval\" (code: https://example.org/co de) describes on a small "
         "sample of your data for \"Search\", and compare the result with what you use today; "
         "begin with what it says of \"retrieval\" and \"latency\"."},
	{{.title = "A Survey of Agents",
          .abstract = "You say \"cheese\" now.",
          .interest_name = "Agents",
          .terms = quoted_terms,
          .term_count = 1,
          .retrieval = 0.45,
          .age_days = 0.2,
          .liked = NAN},
         "Matches \"say 'cheese' now\" in the abstract; published today.",
         "Take one approach from \"A Survey of Agents\" to a small sample of your data for "
         "\"Agents\", and compare the result with what you use today; begin with what it says of "
         "\"say 'cheese' now\"."},
	{{.title = "A \"quoted\"\n  title",
          .interest_name = "My  interest",
          .retrieval = NAN,
          .age_days = 1.9,
          .liked = NAN},
         "Close in meaning to \"My interest\"; published yesterday.",
         "Try what \"A 'quoted' title\" describes on a small sample of your data for "
         "\"My interest\", and compare the result with what you use today."},
	{{.retrieval = NAN, .age_days = NAN, .liked = NAN},
         "Close in meaning to the interest.",
         "Try what this paper describes on a small sample of your data, and compare the result "
         "with what you use today."},
	{{.title = "RAGBench: a Benchmark",
          .interest_name = "RAG",
          .retrieval = 0.9,
          .age_days = -5,
          .liked = 1},
         "Close in meaning to \"RAG\"; published today; similar to papers this team liked.",
         "Repeat a small part of \"RAGBench: a Benchmark\" for \"RAG\", and see how what you use "
         "today does."},
	{{.title = "Datasets of Code",
          .interest_name = "Code",
          .retrieval = 0.9,
          .age_days = 60,
          .liked = -INFINITY},
         "Close in meaning to \"Code\"; published 60 days ago.",
         "Take a small part of \"Datasets of Code\" as test data for \"Code\", and see how what "
         "you use today does."},
	{{.title = "Reranking of Cultures",
          .abstract = "Retrieval.",
          .interest_name = "Sourdough",
          .terms = search_terms,
          .term_count = 2,
          .retrieval = 0.44,
          .age_days = NAN,
          .liked = NAN},
         "Loosely related: matches only \"reranking\" in the title and \"retrieval\" in the "
         "abstract.",
         "Read \"Reranking of Cultures\" before trying anything: it may have little to do with "
         "\"Sourdough\"."},
	{{.title = "Something", .retrieval = 0.2, .age_days = 2, .liked = NAN},
         "Loosely related to the interest; published 2 days ago.",
         "Read \"Something\" before trying anything: it may have little to do with the "
         "interest."},
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
	struct reasoning_facts facts = {
		.title = words,
		.retrieval = NAN,
		.age_days = NAN,
		.liked = NAN,
	};
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
