#include "harvest/biorxiv.h"

#include "arena_fixture.h"
#include "base/base.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DAY_MS      INT64_C(86400000)
#define NOVEMBER_24 (INT64_C(1795478400000)) /* 2026-11-24 */
#define ITEM(doi, version, date, title)                                                         \
	"{\"doi\": \"" doi "\", \"version\": " version ", \"date\": \"" date                    \
	"\", \"title\": \"" title                                                               \
	"\", \"authors\": \"Byron, A. B.; Team; van der Berg, J.\", \"abstract\": \"Cells.\", " \
	"\"category\": \"infectious diseases (except hiv/aids)\", \"license\": \"cc_by\"}"

static struct source_page read_page(const char *json)
{
	struct source_page page;
	const char *why;
	assert_int_equal(biorxiv_parse(arena, "medrxiv", json, strlen(json), &page, &why),
	                 ERR_NONE);
	return page;
}

static const char *page_of(const char *message, const char *items)
{
	return arena_printf(arena, "{\"messages\": [%s], \"collection\": [%s]}", message, items);
}

static void test_members_of_an_item(void **state)
{
	(void)state;
	struct source_page page = read_page(
		page_of("{\"status\": \"ok\", \"cursor\": 0, \"count\": 1, \"total\": \"1\"}",
	                ITEM("10.1101/2026.11.20.123456", "\"1\"", "2026-11-24", "A title")));
	const struct source_record *record = STAILQ_FIRST(&page.records);
	const struct metadata *paper = &record->paper;
	assert_int_equal(page.count, 1);
	assert_int_equal(page.complete, 1);
	assert_null(page.token);
	assert_null(record->fault);
	assert_string_equal(paper->id, "medrxiv:10.1101/2026.11.20.123456");
	assert_string_equal(paper->title, "A title");
	assert_string_equal(paper->abstract, "Cells.");
	assert_string_equal(paper->categories, "medrxiv.infectious_diseases_except_hiv_aids");
	assert_string_equal(paper->license, "cc_by");
	assert_int_equal(paper->author_count, 3);
	assert_string_equal(paper->authors[0], "A. B. Byron");
	assert_string_equal(paper->authors[1], "Team");
	assert_string_equal(paper->authors[2], "J. van der Berg");
	assert_int_equal(paper->published_at_ms, NOVEMBER_24);
	assert_int_equal(paper->updated_at_ms, NOVEMBER_24);
}

/* The highest version in either order, with the date of the first. */
static void test_versions_are_one_record(void **state)
{
	static const char *const PAGES[] = {
		ITEM("10.1101/012345", "1", "2026-11-22",
	             "First") "," ITEM("10.1101/012345", "\"2\"", "2026-11-24", "Second"),
		ITEM("10.1101/012345", "2", "2026-11-24",
	             "Second") "," ITEM("10.1101/012345", "\"1\"", "2026-11-22", "First"),
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(PAGES); i++) {
		struct source_page page = read_page(page_of("{\"status\": \"ok\"}", PAGES[i]));
		const struct source_record *record = STAILQ_FIRST(&page.records);
		assert_int_equal(page.count, 2);
		assert_null(STAILQ_NEXT(record, entry));
		assert_string_equal(record->paper.title, "Second");
		assert_int_equal(record->paper.published_at_ms, NOVEMBER_24 - 2 * DAY_MS);
		assert_int_equal(record->paper.updated_at_ms, NOVEMBER_24);
	}
}

/* A later version alone does not say when the paper was published. */
static void test_a_later_version_has_no_first_date(void **state)
{
	(void)state;
	struct source_page page =
		read_page(page_of("{\"status\": \"ok\"}",
	                          ITEM("10.1101/012345", "3", "2026-11-24", "Third")));
	assert_int_equal(STAILQ_FIRST(&page.records)->paper.published_at_ms, 0);
}

static void test_an_empty_day(void **state)
{
	static const char *const PAGES[] = {
		"{\"messages\": [{\"status\": \"no posts found\"}]}",
		"{\"messages\": [{\"status\": \"no posts found\"}], \"collection\": []}",
		"{\"messages\": [{\"status\": \"ok\", \"total\": null}], \"collection\": null}",
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(PAGES); i++) {
		struct source_page page = read_page(PAGES[i]);
		assert_int_equal(page.count, 0);
		assert_null(page.token);
		assert_null(page.refusal);
	}
}

/* The server tells of a fault in place of a list. */
static void test_a_fault_is_a_refusal(void **state)
{
	(void)state;
	struct source_page page =
		read_page("{\"messages\": [{\"status\": \"Error: no connection\"}]}");
	assert_string_equal(page.refusal, "Error: no connection");
	page = read_page("{\"messages\": [{\"status\": \"No Posts Found\"}], \"collection\": []}");
	assert_null(page.refusal);
}

/* Behind a full page, and behind a shorter one while `total` promises more. */
static void test_the_next_page_is_an_offset(void **state)
{
	(void)state;
	const char *item = ITEM("10.1101/012345", "1", "2026-11-24", "T");
	struct buf full = {.arena = arena};
	buf_puts(&full, item);
	for (int i = 1; i < 100; i++)
		buf_printf(&full, ",%s", item);
	const struct {
		const char *message, *items, *token;
	} ROWS[] = {
		{"{\"cursor\": 200}", full.data, "300"},
		{"{\"cursor\": \"200\", \"total\": \"300\"}", full.data, "300"},
		{"{\"cursor\": 30, \"total\": 62}", item, "31"},
		{"{\"cursor\": 61, \"total\": 62}", item, NULL},
		{"{\"cursor\": 61, \"total\": 90}", "", NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		struct source_page page = read_page(page_of(ROWS[i].message, ROWS[i].items));
		if (ROWS[i].token)
			assert_string_equal(page.token, ROWS[i].token);
		else
			assert_null(page.token);
	}
}

static void test_items_that_cannot_be_read(void **state)
{
	(void)state;
	struct source_page page = read_page(page_of(
		"{\"status\": \"ok\"}",
		"{}, 7, {\"doi\": \"10.1101/012345\", \"abstract\": \" \"}, "
		"{\"doi\": 5, \"abstract\": []}, {\"doi\": \"10.1101/1\", \"abstract\": \"a\"}"));
	const struct source_record *record;
	size_t faults = 0;
	STAILQ_FOREACH (record, &page.records, entry)
		faults += record->fault != NULL;
	assert_int_equal(page.count, 5);
	assert_int_equal(faults, 4);
}

static enum err_code parse_page(const char *message, const char *items)
{
	struct source_page page;
	const char *why, *json = page_of(message, items);
	return biorxiv_parse(arena, "biorxiv", json, strlen(json), &page, &why);
}

/* The next page would be at a number that no integer holds, or before this one. */
static void test_cursors_beyond_any_list_are_refused(void **state)
{
	static const char *const CURSORS[] = {"-1", "\"-1\"", "9223372036854775807",
	                                      "\"99999999999999999999\"", "2147483648"};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(CURSORS); i++)
		assert_int_equal(parse_page(arena_printf(arena, "{\"cursor\": %s, \"total\": 9}",
		                                         CURSORS[i]),
		                            "{}"),
		                 ERR_MALFORMED);
	assert_int_equal(parse_page("{\"cursor\": 2147483647}", "{}"), ERR_NONE);
}

static void test_a_page_of_too_many_items_is_refused(void **state)
{
	struct buf items = {.arena = arena};
	(void)state;
	buf_puts(&items, "{}");
	for (int i = 1; i < 5000; i++)
		buf_puts(&items, ",{}");
	assert_int_equal(parse_page("{}", items.data), ERR_NONE);
	buf_puts(&items, ",{}");
	assert_int_equal(parse_page("{}", items.data), ERR_MALFORMED);
}

static void test_other_texts_are_refused(void **state)
{
	static const char *const TEXTS[] = {"", "<html>", "[]", "{\"messages\": []}",
	                                    "{\"messages\": [{\"status\": \"ok\"}"};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(TEXTS); i++) {
		struct source_page page;
		const char *why;
		assert_int_equal(biorxiv_parse(arena, "biorxiv", TEXTS[i], strlen(TEXTS[i]), &page,
		                               &why),
		                 ERR_MALFORMED);
		assert_non_null(why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(test_members_of_an_item),
		ARENA_TEST(test_versions_are_one_record),
		ARENA_TEST(test_a_later_version_has_no_first_date),
		ARENA_TEST(test_an_empty_day),
		ARENA_TEST(test_a_fault_is_a_refusal),
		ARENA_TEST(test_the_next_page_is_an_offset),
		ARENA_TEST(test_items_that_cannot_be_read),
		ARENA_TEST(test_cursors_beyond_any_list_are_refused),
		ARENA_TEST(test_a_page_of_too_many_items_is_refused),
		ARENA_TEST(test_other_texts_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
