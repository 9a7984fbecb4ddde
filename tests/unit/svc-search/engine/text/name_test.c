#include "engine/text/name.h"

#include "base/arena.h"
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void add_term(const char *term, size_t length, void *ctx)
{
	struct buf *buf = ctx;
	assert_int_equal(strlen(term), length);
	assert_true(length <= TERM_MAX_BYTES);
	buf_printf(buf, "%s%s", buf->length > 0 ? ", " : "", term);
}

static const struct {
	const char *name;
	const char *terms;
} cases[] = {
	{"", ""},
	{"Kaiming He", "@kaiming, @he, @he k, @he kaiming"},
	{"He, Kaiming", "@he, @kaiming, @he k, @he kaiming"},
	{"He, K.", "@he, @he k"},
	{"K.-M. He", "@he, @he k"},
	{"J. R. R. Tolkien", "@tolkien, @tolkien j"},
	{"Plato", "@plato"},
	{"Laurens van der Maaten", "@laurens, @van, @der, @maaten, @maaten l, @maaten laurens"},
	{"Jun-En Ding", "@junen, @ding, @jun, @en, @ding j, @ding junen"},
	{"Edward J. Hu Jr.", "@edward, @hu, @jr, @hu e, @hu edward"},
	{"Bernhard Sch\xC3\xB6lkopf",
         "@bernhard, @scholkopf, @scholkopf b, @scholkopf bernhard, @bernhard, @schoelkopf, "
         "@schoelkopf b, @schoelkopf bernhard"},
	{"Conor O\xE2\x80\x99"
         "Brien",
         "@conor, @obrien, @obrien c, @obrien conor"},
	{"\xE4\xBD\x95\xE6\x81\xBA\xE6\x98\x8E", "@\xE4\xBD\x95\xE6\x81\xBA\xE6\x98\x8E"},
};

static void names_have_these_terms(void **state attr_unused)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct buf buf = {.arena = arena_new()};
		buf_puts(&buf, "");
		name_index_terms(cases[i].name, strlen(cases[i].name), add_term, &buf);
		assert_string_equal(buf.data, cases[i].terms);
		arena_free(buf.arena);
	}
}

static void words_are_bounded(void **state attr_unused)
{
	struct arena *arena = arena_new();
	struct buf text = {.arena = arena};
	struct name_word words[NAME_MAX_WORDS];
	for (int i = 0; i < 40; i++)
		buf_puts(&text, "Wolfeschlegelsteinhausenbergerdorff\xC3\x9F ");
	assert_int_equal(name_split(text.data, text.length, words), NAME_MAX_WORDS);
	for (size_t i = 0; i < NAME_MAX_WORDS; i++)
		assert_int_equal(words[i].length, NAME_WORD_BYTES);
	struct buf terms = {.arena = arena};
	name_index_terms(text.data, text.length, add_term, &terms);
	arena_free(arena);
}

static void words_tell_how_they_are_written(void **state attr_unused)
{
	static const char text[] = "He, K. attention";
	struct name_word words[NAME_MAX_WORDS];
	assert_int_equal(name_split(text, strlen(text), words), 3);
	assert_true(words[0].is_capital && words[0].is_before_comma);
	assert_false(name_is_initial(&words[0]));
	assert_true(name_is_initial(&words[1]));
	assert_false(words[2].is_capital);
	assert_int_equal(words[2].start, 7);
	assert_int_equal(words[2].end, strlen(text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_have_these_terms),
		cmocka_unit_test(words_are_bounded),
		cmocka_unit_test(words_tell_how_they_are_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
