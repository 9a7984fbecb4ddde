#include "ranking/suggestion.h"

#include "base/base.h"
#include "ranking/calibration.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *const terms[] = {"retrieval", "reranking", "cache"};

static const struct explanation_facts FACTS = {
	.title = "HyperRAG: Reranking with a Cache for Retrieval",
	.abstract = "Rerankers are slow. We propose a cache that keeps documents. It is 2.4 times "
		    "faster "
		    "than a plain reranker on long documents. We hope that it is useful.",
	.interest_name = "Search",
	.terms = terms,
	.term_count = ARRAY_LEN(terms),
	.relevance = 0.8,
	.age_days = NAN,
	.liked = NAN,
};

/* The suggestion for these facts is `expected`; NULL: there is none. */
static void assert_suggestion(struct explanation_facts facts, const char *expected)
{
	struct arena *arena = arena_new();
	const char *text = suggest_experiment(arena, &facts);
	if (expected)
		assert_string_equal(text, expected);
	else
		assert_null(text);
	arena_free(arena);
}

#define CLAIM                                                                                     \
	"for \"Search\"; claim to check: \"It is 2.4 times faster than a plain reranker on long " \
	"documents\"."

static void test_it_says_what_to_compare_with_what_on_what(void **state)
{
	(void)state;
	struct explanation_facts facts = FACTS;
	assert_suggestion(facts, "Compare HyperRAG with plain reranker on long documents " CLAIM);
	facts.title = "Reranking with a Cache for Retrieval";
	assert_suggestion(facts, "Compare cache with plain reranker on long documents " CLAIM);
	facts.abstract = "We introduce tiles. Memory is reduced.";
	assert_suggestion(facts, "Compare tiles with your current method on your data for "
	                         "\"Search\"; claim to check: \"Memory is reduced\".");
}

static void test_container_is_preferred_to_code(void **state)
{
	(void)state;
	struct explanation_facts facts = FACTS;
	facts.code_url = "https://example.org/co\nde";
	assert_suggestion(facts, "Compare HyperRAG (code: https://example.org/co de) with plain "
	                         "reranker on long documents " CLAIM);
	facts.has_container = true;
	assert_suggestion(facts, "Run HyperRAG in its container, and compare it with plain "
	                         "reranker on long documents " CLAIM);
}

static void test_own_method_is_measured_on_a_benchmark(void **state)
{
	(void)state;
	struct explanation_facts facts = FACTS;
	facts.title = "RAGBench: a Benchmark of Retrieval";
	assert_suggestion(facts, "Measure your current method on RAGBench " CLAIM);
}

static void test_without_a_method_or_a_claim_there_is_none(void **state)
{
	(void)state;
	struct explanation_facts facts = FACTS;
	facts.title = "A Survey: Retrieval, Reranking, Cache";
	assert_suggestion(facts, NULL);
	facts = FACTS;
	facts.abstract = "Rerankers are slow.";
	assert_suggestion(facts, NULL);
	facts.abstract = NULL;
	assert_suggestion(facts, NULL);
	facts = FACTS;
	facts.title = "Reranking";
	facts.abstract = "It outperforms others.";
	assert_suggestion(facts, NULL);
	facts.abstract = "We propose a novel framework. It outperforms others.";
	assert_suggestion(facts, NULL);
	assert_suggestion((struct explanation_facts){.relevance = NAN}, NULL);
}

static void test_a_weak_match_has_none(void **state)
{
	(void)state;
	struct explanation_facts facts = FACTS;
	facts.term_count = 1;
	facts.relevance = RELEVANCE_LOOSE - 0.01;
	assert_suggestion(facts, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_says_what_to_compare_with_what_on_what),
		cmocka_unit_test(test_container_is_preferred_to_code),
		cmocka_unit_test(test_own_method_is_measured_on_a_benchmark),
		cmocka_unit_test(test_without_a_method_or_a_claim_there_is_none),
		cmocka_unit_test(test_a_weak_match_has_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
