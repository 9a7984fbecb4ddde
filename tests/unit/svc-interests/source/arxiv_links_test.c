#include "source/arxiv_links.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_links_and_citations(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		const char *ids; /* NULL: none */
	} rows[] = {
		{"See https://arxiv.org/abs/2205.14135 for more.", "[\"2205.14135\"]"},
		{"https://arxiv.org/abs/2205.14135.", "[\"2205.14135\"]"},
		{"(http://www.arxiv.org/pdf/2205.14135v2.pdf)", "[\"2205.14135v2\"]"},
		{"arxiv.org/html/2205.14135v1/", "[\"2205.14135v1\"]"},
		{"as in arXiv:2205.14135, and ARXIV:0704.0001", "[\"2205.14135\", \"0704.0001\"]"},
		{"https://arxiv.org/abs/hep-th/9901001", "[\"hep-th/9901001\"]"},
		{"arxiv.org/abs/2205.14135 arxiv.org/pdf/2205.14135", "[\"2205.14135\"]"},
		{"HTTPS://ARXIV.ORG/abs/2205.14135", "[\"2205.14135\"]"},
		{"https://export.arxiv.org/abs/2205.14135", "[\"2205.14135\"]"},
		{"https://notarxiv.org/abs/2205.14135", NULL},
		{"", NULL},
		{"no links at all, arxiv.org", NULL},
		{"arxiv.org/abs/", NULL},
		{"arxiv: an archive", NULL},
		{"arxiv.org/abs/2205", NULL},
		{"arxiv.org/abs/\"2205.14135\"", NULL},
		{"https://example.org/abs/2205.14135", NULL},
		{"arxiv:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL},
	};
	struct arena *arena = arena_new();
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *ids = arxiv_links_find(arena, rows[i].text);
		if (rows[i].ids)
			assert_string_equal(ids, rows[i].ids);
		else
			assert_null(ids);
	}
	arena_free(arena);
}

static void test_ids_beyond_the_maximum_are_ignored(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct buf text = {.arena = arena}, expected = {.arena = arena};
	for (int i = 0; i < ARXIV_LINKS_MAX + 3; i++) {
		buf_printf(&text, "arXiv:2205.%05d ", i);
		if (i < ARXIV_LINKS_MAX)
			buf_printf(&expected, "%s\"2205.%05d\"", i ? ", " : "[", i);
	}
	buf_puts(&expected, "]");
	assert_string_equal(arxiv_links_find(arena, text.data), expected.data);
	arena_free(arena);
}

/* It would take many minutes if all that follows were read for each address. */
static void test_a_long_text_is_read_in_one_pass(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct buf text = {.arena = arena};
	for (int i = 0; i < 400000; i++)
		buf_puts(&text, "arxiv.org/abs/");
	buf_printf(&text, "%065d arxiv:2205.14135", 0);
	assert_string_equal(arxiv_links_find(arena, text.data), "[\"2205.14135\"]");
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links_and_citations),
		cmocka_unit_test(test_ids_beyond_the_maximum_are_ignored),
		cmocka_unit_test(test_a_long_text_is_read_in_one_pass),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
