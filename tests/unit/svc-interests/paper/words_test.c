#include "paper/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct case_row {
	const char *text;
	/* Joined by spaces; '+' marks a word that directly follows the previous one. */
	const char *stems;
};

static void join(void *context, const struct word *word)
{
	struct buf *out = context;
	assert_int_equal(strlen(word->stem), word->stem_length);
	buf_printf(out, "%s%s%s", out->length > 0 ? " " : "", word->follows ? "+" : "", word->stem);
}

static const struct case_row rows[] = {
	{"", ""},
	{NULL, ""},
	{"Retrieval of Documents", "retriev document"},
	{"neural ranking models", "neural +rank +model"},
	{"bird's eye, cats\xe2\x80\x99s eye, it's", "bird +eye cat +eye"},
	{"self-supervised learning", "self +supervis +learn"},
	{"one, two", "one two"},
	{"the of and is", ""},
	{"in 2024 a GPT4 model, x", "gpt4 +model"},
	{"see https://github.com/some/repo now", "see now"},
	{"see HTTPS://Example.org/x", "see"},
	{"WWW.Example is not www.example.org/x here", "www exampl"},
	{"na\xc3\xafve Bayes", "na\xc3\xafv +bay"},
	{"\xe2\x80\x9cquoted\xe2\x80\x9d\xe2\x80\x94"
         "dash",
         "quot dash"},
	{"bad\xff\xc3(byte\xe2\x80", "bad byte"},
	{"\xf0\x9f\x98", ""},
	{"$\\alpha$-divergence", "alpha diverg"},
};

static void test_stems(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct arena *arena = arena_new();
		struct buf out = {.arena = arena};
		buf_puts(&out, "");
		words_each(word_splitter_new(arena), rows[i].text, join, &out);
		assert_string_equal(out.data, rows[i].stems);
		arena_free(arena);
	}
}

static void test_words_beyond_the_maximum_length_are_skipped(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct word_splitter *splitter = word_splitter_new(arena);
	struct buf out = {.arena = arena};
	buf_puts(&out, "");
	char text[300];
	memset(text, 'q', sizeof(text));
	text[64] = ' ';
	text[sizeof(text) - 1] = '\0';
	words_each(splitter, text, join, &out);
	assert_int_equal(out.length, 64);
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stems),
		cmocka_unit_test(test_words_beyond_the_maximum_length_are_skipped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
