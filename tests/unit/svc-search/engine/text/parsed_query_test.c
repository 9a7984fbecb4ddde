#include "engine/text/parsed_query.h"

#include "corpus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct parsed_query *parse(struct arena *arena, const char *text)
{
	return query_parse(arena, text, strlen(text));
}

static void terms_are_distinct_and_counted(void **state attr_unused)
{
	struct arena *arena = arena_new();
	struct parsed_query *query = parse(arena, "The GPT-4 models: a model of gpt");
	static const struct {
		const char *text;
		const char *word;
		float count;
		bool is_extra;
	} expected[] = {
		{"gpt", "GPT", 2, false},
		{"4", "4", 1, false},
		{"gpt4", "GPT-4", QUERY_EXTRA_COUNT, true},
		{"model", "models", 2, false},
	};
	static const uint32_t sequence[] = {0, 1, 3, 3, 0};
	assert_int_equal(query->term_count, ARRAY_LEN(expected));
	for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
		assert_string_equal(query->terms[i].text, expected[i].text);
		assert_string_equal(query->terms[i].word, expected[i].word);
		assert_true(query->terms[i].count == expected[i].count);
		assert_int_equal(query->terms[i].is_extra, expected[i].is_extra);
	}
	assert_int_equal(query->sequence_count, ARRAY_LEN(sequence));
	assert_memory_equal(query->sequence, sequence, sizeof(sequence));
	arena_free(arena);
}

static void text_without_terms_gives_an_empty_query(void **state attr_unused)
{
	static const char *const texts[] = {"", "   ", "the of and", "?!,.", "\xFF\xFE"};
	struct arena *arena = arena_new();
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct parsed_query *query = parse(arena, texts[i]);
		assert_int_equal(query->term_count, 0);
		assert_int_equal(query->sequence_count, 0);
		query_keep_best(query, 5, arena);
		assert_int_equal(query->term_count, 0);
	}
	arena_free(arena);
}

static void best_terms_are_kept_in_order(void **state attr_unused)
{
	struct arena *arena = arena_new();
	struct parsed_query *query = parse(arena, "alpha bravo charlie alpha delta echo");
	static const float idfs[] = {1, 9, 2, 8, 3};
	static const uint32_t sequence[] = {QUERY_NO_TERM, 0, QUERY_NO_TERM, QUERY_NO_TERM, 1, 2};
	assert_int_equal(query->term_count, 5);
	for (size_t i = 0; i < 5; i++)
		query->terms[i].idf = idfs[i];
	query_keep_best(query, 3, arena);
	assert_int_equal(query->term_count, 3);
	assert_string_equal(query->terms[0].text, "bravo");
	assert_string_equal(query->terms[1].text, "delta");
	assert_string_equal(query->terms[2].text, "echo");
	assert_memory_equal(query->sequence, sequence, sizeof(sequence));
	arena_free(arena);
}

static void long_query_is_reduced_to_the_limit(void **state attr_unused)
{
	struct arena *arena = arena_new();
	struct random_source noise = {41};
	const char *text = sample_text(arena, &noise, 20000, 5000);
	struct parsed_query *query = parse(arena, text);
	size_t sum = 0;
	assert_true(query->term_count > 1000);
	assert_int_equal(query->sequence_count, 20000);
	for (size_t i = 0; i < query->term_count; i++) {
		sum += (size_t)query->terms[i].count;
		query->terms[i].idf = 1;
	}
	assert_int_equal(sum, 20000);
	query_keep_best(query, QUERY_MAX_TERMS, arena);
	assert_int_equal(query->term_count, QUERY_MAX_TERMS);
	for (size_t i = 0; i < query->sequence_count; i++)
		assert_true(query->sequence[i] == QUERY_NO_TERM ||
		            query->sequence[i] < QUERY_MAX_TERMS);
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(terms_are_distinct_and_counted),
		cmocka_unit_test(text_without_terms_gives_an_empty_query),
		cmocka_unit_test(best_terms_are_kept_in_order),
		cmocka_unit_test(long_query_is_reduced_to_the_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
