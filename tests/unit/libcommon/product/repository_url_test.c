#include "product/repository_url.h"

#include "base/base.h"

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
		{"https://GitHub.com", "HTTPS://GITHUB.COM/acme/ranker", {"acme/ranker"}},
		{"HTTPS://github.com", "WWW.GitHub.com/acme/ranker", {"acme/ranker"}},
		{"https://github.com",
	         "github.com/Topics/ranking github.com/settings/keys github.com/marketplace/ci",
	         {NULL}},
		{"https://github.com", "github.com/../x github.com/-a/b", {NULL}},
		{"https://github.com", "https://github.com/acme/ https://github.com//x", {NULL}},
		{"https://github.com", "https://github.com/acme/.git", {NULL}},
		{"https://github.com", "", {NULL}},
		{"", "https://github.com/a/b", {NULL}},
	};
	struct arena *arena = arena_new();
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		const char *repos[MAX];
		size_t count =
			repository_urls_find(arena, ROWS[i].web_url, ROWS[i].text, repos, MAX);
		size_t expected = 0;
		while (expected < MAX && ROWS[i].repos[expected])
			expected++;
		assert_int_equal(count, expected);
		for (size_t j = 0; j < count; j++)
			assert_string_equal(repos[j], ROWS[i].repos[j]);
	}
	arena_free(arena);
}

static void repository_of_an_address(void **state attr_unused)
{
	static const struct {
		const char *url, *repo, *rest; /* NULL: none */
	} ROWS[] = {
		{"https://github.com/acme/ranker", "acme/ranker", ""},
		{"http://github.com/acme/ranker/", "acme/ranker", "/"},
		{"HTTPS://GitHub.Com/Acme/Ranker", "Acme/Ranker", ""},
		{"https://www.github.com/acme/ranker.git", "acme/ranker", ""},
		{"https://github.com/acme/ranker.GIT/?tab=readme", "acme/ranker", "/?tab=readme"},
		{"https://github.com/acme/ranker/issues/3", "acme/ranker", "/issues/3"},
		{"https://github.com/acme/.github", "acme/.github", ""},
		{"https://github.com/acme", NULL, NULL},
		{"https://github.com/acme/", NULL, NULL},
		{"https://github.com/apps/dependabot", NULL, NULL},
		{"https://github.com/enterprise/contact", NULL, NULL},
		{"https://github.com/features/actions", NULL, NULL},
		{"https://GITHUB.com/Marketplace/actions", NULL, NULL},
		{"https://github.com/orgs/acme", NULL, NULL},
		{"https://github.com/ORGS/acme/projects/1", NULL, NULL},
		{"https://github.com/organizations/new", NULL, NULL},
		{"https://github.com/search/advanced", NULL, NULL},
		{"https://github.com/settings/profile", NULL, NULL},
		{"https://github.com/sponsors/ada", NULL, NULL},
		{"https://github.com/stars/ada/lists", NULL, NULL},
		{"https://github.com/topics/ranking", NULL, NULL},
		{"https://github.com/trending/c", NULL, NULL},
		{"https://github.com/users/ada/projects", NULL, NULL},
		{"https://gist.github.com/acme/ranker", NULL, NULL},
		{"https://github.community/acme/ranker", NULL, NULL},
		{"https://github.com.evil.org/acme/ranker", NULL, NULL},
		{"https://ada@github.com/acme/ranker", NULL, NULL},
		{"https://example.org/?to=https://github.com/acme/ranker", NULL, NULL},
		{"github.com/acme/ranker", NULL, NULL},
		{"ftp://github.com/acme/ranker", NULL, NULL},
		{"", NULL, NULL},
	};
	struct arena *arena = arena_new();
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		const char *rest;
		const char *repo =
			repository_url_read(arena, "https://github.com", ROWS[i].url, &rest);
		if (!ROWS[i].repo) {
			assert_null(repo);
			continue;
		}
		assert_string_equal(repo, ROWS[i].repo);
		assert_string_equal(rest, ROWS[i].rest);
	}
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(repository_of_an_address),
		cmocka_unit_test(links_of_a_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
