#include "engine/text/highlight.h"

#include "engine/text/fold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CACHE_SLOTS 8 /* so few that words push each other out */

static const char *fragment(struct arena *arena, const char *query, const char *text)
{
	struct tokenizer *tokenizer = tokenizer_new(CACHE_SLOTS);
	const char *found =
		highlight_fragment(arena, tokenizer, query_parse(arena, query, strlen(query)), text,
	                           strlen(text));
	tokenizer_free(tokenizer);
	return found;
}

static size_t count_characters(const char *text, size_t length)
{
	size_t count = 0;
	uint32_t code;
	for (size_t at = 0; at < length; count++)
		at += fold_decode(text + at, length - at, &code);
	return count;
}

static void matching_words_are_marked(void **state attr_unused)
{
	static const struct {
		const char *query;
		const char *text;
		const char *expected;
	} cases[] = {
		{"learning", "We learn fast.", "We <em>learn</em> fast."},
		{"gpt4", "The GPT-4 model", "The <em>GPT-4</em> model"},
		{"gpt-4", "The GPT4 model", "The <em>GPT4</em> model"},
		{"godel",
	         "On G\xC3\xB6"
	         "del, and G\\\"odel.",
	         "On <em>G\xC3\xB6"
	         "del</em>, and <em>G\\\"odel</em>."},
		{"x ray", "if a<b & X-rays > c", "if a&lt;b &amp; <em>X</em>-<em>rays</em> &gt; c"},
		{"em", "an <em> tag", "an &lt;<em>em</em>&gt; tag"},
		{"c++", "C++, not C", "<em>C++</em>, not C"},
		{"absent", "nothing here", NULL},
		{"the of", "the of and", NULL},
		{"", "text", NULL},
		{"text", "", NULL},
	};
	struct arena *arena = arena_new();
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *got = fragment(arena, cases[i].query, cases[i].text);
		if (!cases[i].expected)
			assert_null(got);
		else
			assert_string_equal(got, cases[i].expected);
	}
	arena_free(arena);
}

static void fragment_with_the_most_words_is_selected(void **state attr_unused)
{
	struct arena *arena = arena_new();
	struct buf buf = {.arena = arena};
	buf_puts(&buf, "Attention comes early. ");
	for (int i = 0; i < 60; i++)
		buf_puts(&buf, "Filler words that say little here. ");
	buf_puts(&buf, "Sparse attention of small transformers is cheap. ");
	for (int i = 0; i < 60; i++)
		buf_puts(&buf, "More filler after it. ");
	const char *got = fragment(arena, "sparse attention transformer", buf.data);
	assert_non_null(strstr(got, "<em>Sparse</em> <em>attention</em> of small "
	                            "<em>transformers</em> is cheap."));
	assert_memory_equal(got, "\xE2\x80\xA6", 3);
	assert_memory_equal(got + strlen(got) - 3, "\xE2\x80\xA6", 3);
	arena_free(arena);
}

/* Count the characters of a fragment without marks and ellipses; an escape counts as one. */
static size_t shown_characters(struct arena *arena, const char *text)
{
	struct buf buf = {.arena = arena};
	while (*text != '\0') {
		if (strncmp(text, "<em>", 4) == 0) {
			text += 4;
		} else if (strncmp(text, "</em>", 5) == 0) {
			text += 5;
		} else if (strncmp(text, "\xE2\x80\xA6", 3) == 0) {
			text += 3;
		} else {
			buf_add(&buf, text, 1);
			text = *text == '&' ? strchr(text, ';') + 1 : text + 1;
		}
	}
	return buf.length > 0 ? count_characters(buf.data, buf.length) : 0;
}

static void fragments_are_short_and_cut_no_character(void **state attr_unused)
{
	static const char *const fillers[] = {
		"\xC3\xA9\xC3\xA8 ", "\xE5\x8C\x97", "\xF0\x9D\x92\x9C", "word ", "&<", "a. "};
	struct arena *arena = arena_new();
	for (size_t f = 0; f < ARRAY_LEN(fillers); f++) {
		for (size_t before = 0; before < 300; before += 7) {
			struct buf buf = {.arena = arena};
			buf_puts(&buf, "");
			for (size_t i = 0; i < before; i++)
				buf_puts(&buf, fillers[f]);
			buf_puts(&buf, " needle ");
			for (size_t i = 0; i < 300; i++)
				buf_puts(&buf, fillers[f]);
			const char *got = fragment(arena, "needle", buf.data);
			assert_non_null(strstr(got, "<em>needle</em>"));
			assert_true(shown_characters(arena, got) <= HIGHLIGHT_CHARACTERS);
			for (size_t at = 0; got[at] != '\0';) {
				uint32_t code;
				at += fold_decode(got + at, strlen(got + at), &code);
				assert_true(code != 0xFFFD);
			}
		}
	}
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matching_words_are_marked),
		cmocka_unit_test(fragment_with_the_most_words_is_selected),
		cmocka_unit_test(fragments_are_short_and_cut_no_character),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
