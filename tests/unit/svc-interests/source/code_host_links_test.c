#include "source/code_host_links.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MAX 3

static void links_of_a_text(void **state attr_unused)
{
	static const struct {
		const char *web_url, *text, *repos[MAX];
	} ROWS[] = {
		{"https://github.com", "See https://github.com/acme/ranker.", {"acme/ranker"}},
		{"https://github.com", "github.com/acme/ranker/tree/main/x?y#z", {"acme/ranker"}},
		{"https://github.com/", "http://www.github.com/acme/ranker.git", {"acme/ranker"}},
		{"https://github.com",
	         "https://GitHub.com/Acme/Ranker and https://github.com/acme/ranker",
	         {"Acme/Ranker"}},
		{"https://github.com",
	         "(https://github.com/a/b), github.com/c/d-e.f_g",
	         {"a/b", "c/d-e.f_g"}},
		{"https://github.com",
	         "github.com/a/1 github.com/a/2 github.com/a/3 github.com/a/4",
	         {"a/1", "a/2", "a/3"}},
		{"http://127.0.0.1:8080", "http://127.0.0.1:8080/acme/ranker", {"acme/ranker"}},
		{"http://127.0.0.1:8080", "http://127.0.0.1:80801/acme/ranker", {NULL}},
		{"https://github.com",
	         "https://notgithub.com/a/b https://x.github.com/a/b",
	         {NULL}},
		{"https://github.com", "https://github.com.evil.org/a/b", {NULL}},
		{"https://github.com", "https://user@github.com/a/b", {NULL}},
		{"https://github.com",
	         "https://github.com/orgs/acme https://github.com/acme",
	         {NULL}},
		{"https://github.com", "https://github.com/acme/ https://github.com//x", {NULL}},
		{"https://github.com", "https://github.com/acme/.git", {NULL}},
		{"https://github.com", "", {NULL}},
		{"", "https://github.com/a/b", {NULL}},
	};
	struct arena *arena = arena_new();
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		const char *repos[MAX];
		size_t count =
			code_host_links_find(arena, ROWS[i].web_url, ROWS[i].text, repos, MAX);
		size_t expected = 0;
		while (expected < MAX && ROWS[i].repos[expected])
			expected++;
		assert_int_equal(count, expected);
		for (size_t j = 0; j < count; j++)
			assert_string_equal(repos[j], ROWS[i].repos[j]);
	}
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_of_a_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
