#include "source/page_text.h"

#include "arena_fixture.h"

#include <libxml/parser.h>
#include <string.h>

static struct page_text read_page(const char *html, const char *charset)
{
	return page_text_read(arena, html, strlen(html), charset);
}

static void test_the_text_of_a_page_is_read(void **state)
{
	(void)state;
	struct page_text page =
		read_page("<!doctype html><html><head><title> Fast\n ranking </title>"
	                  "<style>p{}</style></head><body><nav>Home</nav>"
	                  "<p>One<b>two</b> &amp;\n\n three</p><p>four</p>"
	                  "<script>x()</script><footer>Imprint</footer></body></html>",
	                  NULL);
	assert_string_equal(page.title, "Fast ranking");
	assert_string_equal(page.text, "Onetwo & three four");
}

static void test_the_main_text_is_preferred(void **state)
{
	(void)state;
	char words[400];
	memset(words, 'w', sizeof(words) - 1);
	words[sizeof(words) - 1] = '\0';
	const char *page =
		arena_printf(arena, "<body><div>aside</div><main><p>%s</p></main></body>", words);
	assert_string_equal(read_page(page, NULL).text, words);
	assert_string_equal(read_page("<body><div>all</div><main>short</main></body>", NULL).text,
	                    "all short");
}

static void test_charsets(void **state)
{
	(void)state;
	assert_string_equal(read_page("<p>na\xC3\xAFve</p>", "iso-8859-1").text, "na\xC3\xAFve");
	assert_string_equal(read_page("<p>na\xEFve</p>", "iso-8859-1").text, "na\xC3\xAFve");
	assert_string_equal(read_page("<p>na\xEFve</p>", NULL).text, "na\xC3\xAFve");
	read_page("<p>na\xEFve</p>", "no-such-charset");
	assert_string_equal(read_page("<p>na\xEFve caf\xC3\xA9</p>", "utf-8").text,
	                    "na\xEF\xBF\xBDve caf\xC3\xA9");
}

static void test_what_is_no_page_does_no_harm(void **state)
{
	(void)state;
	assert_string_equal(read_page("", NULL).text, "");
	assert_string_equal(read_page("<html><head></head></html>", NULL).text, "");
	struct buf deep = {.arena = arena};
	for (int i = 0; i < 100000; i++)
		buf_puts(&deep, "<div>");
	buf_puts(&deep, "x");
	read_page(deep.data, NULL);
	assert_string_equal(read_page("<p>a<p>b</div></html><!-- <p>c", NULL).title, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(test_the_text_of_a_page_is_read),
		ARENA_TEST(test_the_main_text_is_preferred),
		ARENA_TEST(test_charsets),
		ARENA_TEST(test_what_is_no_page_does_no_harm),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	xmlCleanupParser();
	return failed;
}
