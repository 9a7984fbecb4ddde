#include "interest/exclusion.h"

#include "base/base.h"
#include "recommendation/negation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct {
	const char *text;
	const char *kept;
	const char *items; /* each in brackets */
} rows[] = {
	{"Segmentation, no video please.", "Segmentation, .", "[video]"},
	{"Video is out of scope. Segmentation.", ". Segmentation.", "[Video]"},
	{"Texts; images, video or 3D are out of scope.", "Texts;.", "[images][video][3D]"},
	{"We don\xe2\x80\x99t want X, Y or Z, we want A.", ", we want A.", "[X][Y][Z]"},
	{"Detection (no faces) in crowds", "Detection () in crowds", "[faces]"},
	{"Detection without deep learning at all", "Detection ", "[deep learning]"},
	{"Not interested in GANs but in diffusion", " but in diffusion", "[GANs]"},
	{"Please avoid surveys, reviews.", "Please .", "[surveys][reviews]"},
	{"A\n\nOut of scope:\n- B\n- C d\n\nE", "A\n\n\nE", "[B][C d]"},
	{"Segmentierung, keine Videos bitte.", "Segmentierung, .", "[Videos]"},
	{"Wir sind nicht interessiert an Audio und Video.", "Wir sind .", "[Audio][Video]"},
	{"Segmentation, pas de texte ou audio", "Segmentation, ", "[texte][audio]"},
	{"Segmentazione senza video", "Segmentazione ", "[video]"},
	/* Not a refusal. */
	{"There is no benchmark for video.", "There is no benchmark for video.", ""},
	{"Not only video, also audio", "Not only video, also audio", ""},
	{"Methods that avoid forgetting", "Methods that avoid forgetting", ""},
	{"Users who do not want to wait", "Users who do not want to wait", ""},
	{"Nothing", "Nothing", ""},
	{"no", "", ""},
	{"no \xff\xfe without", "", "[\xff\xfe without]"},
	{"", "", ""},
};

static void test_exclusions(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct exclusions found = exclusions_find(arena, rows[i].text);
		struct buf items = {.arena = arena};
		buf_puts(&items, "");
		for (size_t j = 0; j < found.count; j++)
			buf_printf(&items, "[%s]", found.items[j]);
		assert_string_equal(items.data, rows[i].items);
		assert_string_equal(found.kept, rows[i].kept);
	}
	arena_free(arena);
}

/* Every prefix of a text with many cues is read within its bounds. */
static void test_prefixes_are_read(void **state)
{
	(void)state;
	static const char text[] =
		"No a, b or c; we don\xe2\x80\x99t want d (not e). f, g and h are "
		"out of scope, nor i - without j.\nOut of scope\n- k\n";
	struct arena *arena = arena_new();
	for (size_t length = 0; length < sizeof(text); length++)
		exclusions_find(arena, arena_strndup(arena, text, length));
	arena_free(arena);
}

static const char *repeat(struct arena *arena, const char *start, const char *part, size_t count)
{
	struct buf out = {.arena = arena};
	buf_puts(&out, start);
	for (size_t i = 0; i < count; i++)
		buf_puts(&out, part);
	return out.data;
}

/* The context of an interest is read on the thread that serves all accounts. Texts as long as these
 * would take hours if each cue, or each comma, read all that follows it. */
static void test_long_texts_are_read_in_one_pass(void **state)
{
	static const struct {
		const char *start, *part;
		size_t parts, items;
	} texts[] = {
		{"", "no a, no b, ", 50000, 64},
		{"", "without a or b but without c, ", 20000, 64},
		{"avoid x", ",", 3000000, 1},
		{"avoid x", ",!", 2000000, 1},
		{"no x or y", " ,!(", 1000000, 2},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct arena *arena = arena_new();
		const char *text = repeat(arena, texts[i].start, texts[i].part, texts[i].parts);
		struct exclusions found = exclusions_find(arena, text);
		assert_int_equal(found.count, texts[i].items);
		assert_true(strlen(found.kept) < strlen(text));
		arena_free(arena);
	}
}

/* Measured: 42 of 42, and 22 of 22 that were not looked at before. */
static void test_contexts_with_negations_are_understood(void **state)
{
	static const char *const sets[] = {"tuning", "held_out"};
	const char *root = getenv("SOURCE_ROOT");
	char path[4096];
	(void)state;
	snprintf(path, sizeof(path), "%s/tests/bench/recommendation/interests/negations.jsonl",
	         root ? root : ".");
	for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
		struct negation_count count;
		assert_true(negation_count(path, sets[i], true, &count));
		assert_true(count.contexts >= 20);
		assert_true(count.understood * 20 >= count.contexts * 19);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exclusions),
		cmocka_unit_test(test_prefixes_are_read),
		cmocka_unit_test(test_long_texts_are_read_in_one_pass),
		cmocka_unit_test(test_contexts_with_negations_are_understood),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
