#include "engine/text/wanted.h"

#include "corpus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct wanted *parse(struct arena *arena, const char *text)
{
	return wanted_parse(arena, text, strlen(text));
}

static void test_terms(void **state)
{
	struct arena *arena = arena_new();
	struct wanted *wanted = parse(arena, "The GPT-4 models: a model of gpt");
	static const struct {
		const char *text;
		const char *word;
		float count;
		bool is_extra;
	} expected[] = {
		{"gpt", "GPT", 2, false},
		{"4", "4", 1, false},
		{"gpt4", "GPT-4", WANTED_EXTRA_COUNT, true},
		{"model", "models", 2, false},
	};
	static const uint32_t sequence[] = {0, 1, 3, 3, 0};

	(void)state;
	assert_int_equal(wanted->term_count, ARRAY_LEN(expected));
	for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
		assert_string_equal(wanted->terms[i].text, expected[i].text);
		assert_string_equal(wanted->terms[i].word, expected[i].word);
		assert_true(wanted->terms[i].count == expected[i].count);
		assert_int_equal(wanted->terms[i].is_extra, expected[i].is_extra);
	}
	assert_int_equal(wanted->sequence_count, ARRAY_LEN(sequence));
	assert_memory_equal(wanted->sequence, sequence, sizeof(sequence));
	arena_free(arena);
}

static void test_nothing_wanted(void **state)
{
	static const char *const texts[] = {"", "   ", "the of and", "?!,.", "\xFF\xFE"};
	struct arena *arena = arena_new();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct wanted *wanted = parse(arena, texts[i]);

		assert_int_equal(wanted->term_count, 0);
		assert_int_equal(wanted->sequence_count, 0);
		wanted_keep_best(wanted, 5, arena);
		assert_int_equal(wanted->term_count, 0);
	}
	arena_free(arena);
}

static void test_the_best_are_kept_in_order(void **state)
{
	struct arena *arena = arena_new();
	struct wanted *wanted = parse(arena, "alpha bravo charlie alpha delta echo");
	static const float idfs[] = {1, 9, 2, 8, 3};
	static const uint32_t sequence[] = {WANTED_NONE, 0, WANTED_NONE, WANTED_NONE, 1, 2};

	(void)state;
	assert_int_equal(wanted->term_count, 5);
	for (size_t i = 0; i < 5; i++)
		wanted->terms[i].idf = idfs[i];
	wanted_keep_best(wanted, 3, arena);
	assert_int_equal(wanted->term_count, 3);
	assert_string_equal(wanted->terms[0].text, "bravo");
	assert_string_equal(wanted->terms[1].text, "delta");
	assert_string_equal(wanted->terms[2].text, "echo");
	assert_memory_equal(wanted->sequence, sequence, sizeof(sequence));
	arena_free(arena);
}

static void test_long_texts(void **state)
{
	struct arena *arena = arena_new();
	struct noise noise = {41};
	const char *text = made_text(arena, &noise, 20000, 5000);
	struct wanted *wanted = parse(arena, text);
	size_t sum = 0;

	(void)state;
	assert_true(wanted->term_count > 1000);
	assert_int_equal(wanted->sequence_count, 20000);
	for (size_t i = 0; i < wanted->term_count; i++) {
		sum += (size_t)wanted->terms[i].count;
		wanted->terms[i].idf = 1;
	}
	assert_int_equal(sum, 20000);
	wanted_keep_best(wanted, WANTED_MAX_TERMS, arena);
	assert_int_equal(wanted->term_count, WANTED_MAX_TERMS);
	for (size_t i = 0; i < wanted->sequence_count; i++)
		assert_true(wanted->sequence[i] == WANTED_NONE ||
		            wanted->sequence[i] < WANTED_MAX_TERMS);
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_terms),
		cmocka_unit_test(test_nothing_wanted),
		cmocka_unit_test(test_the_best_are_kept_in_order),
		cmocka_unit_test(test_long_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
