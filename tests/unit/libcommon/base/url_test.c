#include "base/url.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void links_are_http_with_a_host_and_no_user(void **state)
{
	static const char *const GOOD[] = {"http://a", "https://a.b:8/c?d=e@f#g@h",
	                                   "https://[::1]/", "https://a/@user"};
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_are_http_with_a_host_and_no_user),
		cmocka_unit_test(references_may_be_other_texts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
