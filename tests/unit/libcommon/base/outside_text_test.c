#include "base/outside_text.h"

#include "arena_fixture.h"
#include "base/base.h"

/* `~` stands for the space of no width. */
static const char *with_space(const char *text)
{
	struct buf out = {.arena = arena};
	for (; *text; text++)
		buf_add(&out, *text == '~' ? "\xe2\x80\x8b" : text, *text == '~' ? 3 : 1);
	return out.data ? out.data : "";
}

static void check(const char *text, const char *expected)
{
	assert_string_equal(outside_text(arena, text), with_space(expected));
}

static void what_would_do_something_is_broken(void **state)
{
	(void)state;
	static const char *const EXAMPLES[][2] = {
		{"@team and (@octo-org/team), \xc3\xa9@ada",
	         "@~team and (@~octo-org/team), \xc3\xa9@~ada"},
		{"Closes #1, fixes a/b#23", "Closes #~1, fixes a/b#~23"},
		{"resolves GH-3 gh-4", "resolves GH-~3 gh-~4"},
		{"https://github.com/a/b/issues/7", "https://github.com/a/b/issues/~7"},
		{"https://github.com/a/b/PULL/7#x", "https://github.com/a/b/PULL/~7#x"},
		{"https://github.com/a/b/commit/abc", "https://github.com/a/b/commit/~abc"},
		{"[skip ci] [CI Skip] [no\nci] [skip actions] [actions skip] [ci-skip]",
	         "[skip~ ci] [CI~ Skip~] [no~\nci] [skip~ actions] [actions~ skip~] [ci~-skip~]"},
		{"[netlify skip]", "[netlify skip~]"},
		{"skip-checks: true\nSkip-Checks:true", "skip-che~cks: true\nSkip-Che~cks:true"},
		{"***NO_CI***", "***NO_C~I***"},
		{"&#64;x &commat;x", "&~#~64;x &~commat;x"},
		{"<img src=x> </b> <!-- x --> <?x", "<~img src=x> <~/b> <~!-- x --> <~?x"},
		{"![a](b) [t](u) [t][u]", "!~[a]~(b) [t]~(u) [t]~[u]"},
	};
	for (size_t i = 0; i < ARRAY_LEN(EXAMPLES); i++)
		check(EXAMPLES[i][0], EXAMPLES[i][1]);
}

static void everything_else_stays(void **state)
{
	(void)state;
	static const char *const TEXTS[] = {
		"",
		"@",
		"a@b.org",
		"a#b C# #",
		"x[0] & y < 3 [1, 2] (see [3])",
		"skip-connections, a[i] high-1",
		"https://arxiv.org/abs/2605.02520",
		"https://github.com/acme/ranker",
		"\xe6\x97\xa5\xe6\x9c\xac",
	};
	for (size_t i = 0; i < ARRAY_LEN(TEXTS); i++)
		check(TEXTS[i], TEXTS[i]);
	assert_null(outside_text(arena, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(what_would_do_something_is_broken),
		ARENA_TEST(everything_else_stays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
