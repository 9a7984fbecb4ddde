#include "source/source_links.h"

#include "arena_fixture.h"
#include "base/base.h"

#include <string.h>

static struct source_links find(const char *text)
{
	struct source_links links = {0};
	source_links_add(arena, &links, text, "https://github.com");
	return links;
}

static void test_addresses_are_told_apart(void **state)
{
	static const struct {
		const char *text, *url, *name;
		enum source_kind kind;
	} CASES[] = {
		{"see https://arxiv.org/abs/2205.14135v2.", "https://arxiv.org/abs/2205.14135v2",
	         "[\"2205.14135v2\"]", SOURCE_PAPER},
		{"(https://github.com/acme/ranker)", "https://github.com/acme/ranker",
	         "acme/ranker", SOURCE_REPOSITORY},
		{"https://GitHub.com/acme/ranker.git/?tab=readme",
	         "https://GitHub.com/acme/ranker.git/?tab=readme", "acme/ranker",
	         SOURCE_REPOSITORY},
		{"HTTPS://ARXIV.ORG/abs/2205.14135", "HTTPS://ARXIV.ORG/abs/2205.14135",
	         "[\"2205.14135\"]", SOURCE_PAPER},
		{"HTTP://www.GitHub.com/acme/ranker", "HTTP://www.GitHub.com/acme/ranker",
	         "acme/ranker", SOURCE_REPOSITORY},
		{"https://GitHub.com/marketplace/ci", "https://GitHub.com/marketplace/ci", NULL,
	         SOURCE_PAGE},
		{"https://notarxiv.org/abs/2205.14135", "https://notarxiv.org/abs/2205.14135", NULL,
	         SOURCE_PAGE},
		{"https://a.org/x, HTTPS://A.ORG/x", "https://a.org/x", NULL, SOURCE_PAGE},
		{"https://github.com/acme", "https://github.com/acme", NULL, SOURCE_PAGE},
		{"https://github.com/topics/ranking", "https://github.com/topics/ranking", NULL,
	         SOURCE_PAGE},
		{"https://github.com/acme/", "https://github.com/acme/", NULL, SOURCE_PAGE},
		{"https://github.com/a/b/issues/3", "https://github.com/a/b/issues/3", NULL,
	         SOURCE_PAGE},
		{"https://github.community/a/b", "https://github.community/a/b", NULL, SOURCE_PAGE},
		{"<http://example.org/a_(b)>", "http://example.org/a", NULL, SOURCE_PAGE},
		{"([http://[::1]:80/x])", "http://[::1]:80/x", NULL, SOURCE_PAGE},
		{"https://arxiv.org/list/cs.LG/new", "https://arxiv.org/list/cs.LG/new", NULL,
	         SOURCE_PAGE},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		struct source_links links = find(CASES[i].text);
		assert_int_equal(links.count, 1);
		assert_string_equal(links.links[0].url, CASES[i].url);
		assert_int_equal(links.links[0].kind, CASES[i].kind);
		if (CASES[i].name)
			assert_string_equal(links.links[0].name, CASES[i].name);
	}
}

static void test_what_is_no_link_is_left_out(void **state)
{
	(void)state;
	assert_int_equal(
		find("ftp://a.b http:// http://[ http://[::1 https://user:pw@example.org/ www.a.b")
			.count,
		0);
}

static void test_each_is_listed_once_and_ten_at_most(void **state)
{
	struct buf text = {.arena = arena};
	(void)state;
	for (int i = 0; i < 30; i++)
		buf_printf(&text, "https://example.org/%d\n", i / 2);
	struct source_links links = find(text.data);
	assert_int_equal(links.count, SOURCE_LINKS_MAX);
	assert_string_equal(links.links[9].url, "https://example.org/9");
	source_links_add(arena, &links, "https://example.org/x", "https://github.com");
	assert_int_equal(links.count, SOURCE_LINKS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(test_addresses_are_told_apart),
		ARENA_TEST(test_what_is_no_link_is_left_out),
		ARENA_TEST(test_each_is_listed_once_and_ten_at_most),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
