#include "base/url.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void links_are_http_with_a_host_and_no_user(void **state)
{
	static const char *const GOOD[] = {"http://a",       "https://a.b:8/c?d=e@f#g@h",
	                                   "https://[::1]/", "https://a/@user",
	                                   "HTTPS://A.b",    "hTTp://a"};
	static const char *const BAD[] = {
		"",
		"a",
		"javascript:alert(1)",
		"https://",
		"https:///a",
		"//a",
		"ftp://a",
		"https://:80/",
		"http://a b",
		"http://a\"b",
		"http://a<",
		"http://a\\b",
		"http://user@a",
		"https://user:secret@a/b",
		"https://@a",
		"https://a@b?c",
		"HTTPS://",
		"HTTP://user@a",
		"data:text/html,x",
	};
	const char *why;
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(GOOD); i++)
		assert_true(url_is_link(GOOD[i], strlen(GOOD[i]), &why));
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		why = NULL;
		assert_false(url_is_link(BAD[i], strlen(BAD[i]), &why));
		assert_non_null(why);
	}
	assert_true(url_is_link_or_empty("", 0, &why));
	assert_false(url_is_link_or_empty("a", 1, &why));
}

static void references_may_be_other_texts(void **state)
{
	static const char *const GOOD[] = {"",
	                                   "acme/ranker",
	                                   "arXiv:2205.14135",
	                                   "localhost:5000/image:tag",
	                                   "git@host:acme/ranker.git",
	                                   "https://arxiv.org/abs/2205.14135",
	                                   "see the data: file",
	                                   "database:7"};
	static const char *const BAD[] = {
		"javascript:alert(1)", "JavaScript:x",     " javascript:x",
		"java\tscript:x",      "data:text/html,x", "file:///etc/x",
		"http://user:pw@a",    "HTTPS://user@a",   "https:a"};
	const char *why;
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(GOOD); i++)
		assert_true(url_is_safe_reference(GOOD[i], strlen(GOOD[i]), &why));
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++)
		assert_false(url_is_safe_reference(BAD[i], strlen(BAD[i]), &why));
}

static void schemes_and_hosts_have_no_case(void **state)
{
	static const char *const ROWS[][2] = {
		{"HTTPS://GitHub.com/Acme/Ranker", "https://github.com/Acme/Ranker"},
		{"Http://A.B:8080?C=D", "http://a.b:8080?C=D"},
		{"https://A#B", "https://a#B"},
		{"https://a/B", "https://a/B"},
		{"HTTPS://A", "https://a"},
		{"Acme/Ranker", "Acme/Ranker"},
		{"", ""},
	};
	struct arena *arena = arena_new();
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++)
		assert_string_equal(url_canonical(arena, ROWS[i][0]), ROWS[i][1]);
	arena_free(arena);
}

static void hosts_are_found_as_whole_names(void **state)
{
	static const struct {
		const char *text, *rest; /* NULL: not found */
	} ROWS[] = {
		{"https://a.org/x", "/x"}, {"see A.ORG", ""},   {"www.a.org/x", "/x"},
		{"na.org/ a.org/x", "/x"}, {"b.a.org/x", NULL}, {"u@a.org/x", NULL},
		{"www-a.org", NULL},       {"a.organ", "an"},   {"", NULL},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		const char *rest = url_host_find(ROWS[i].text, ROWS[i].text, "a.org");
		assert_int_equal(!rest, !ROWS[i].rest);
		if (rest)
			assert_string_equal(rest, ROWS[i].rest);
	}
	assert_null(url_host_find("a.org", "a.org", ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_are_http_with_a_host_and_no_user),
		cmocka_unit_test(references_may_be_other_texts),
		cmocka_unit_test(schemes_and_hosts_have_no_case),
		cmocka_unit_test(hosts_are_found_as_whole_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
