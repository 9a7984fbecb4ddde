#include "harvest/oai.h"

#include "arena_fixture.h"
#include "base/base.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static struct oai_page read_page(const char *xml)
{
	struct oai_page page;
	const char *why;
	assert_int_equal(oai_parse(arena, xml, strlen(xml), &page, &why), ERR_NONE);
	return page;
}

static void test_members_of_a_record(void **state)
{
	(void)state;
	struct oai_page page = read_page(
		"<OAI-PMH><ListRecords><record><header><identifier>oai:arXiv.org:2401.01234</"
		"identifier>"
		"</header><metadata><arXiv><id>2401.01234</id><created>2024-01-02</created>"
		"<authors><author><keyname>Byron</keyname><forenames> Ada </forenames></author>"
		"<author><keyname>Team</keyname></author><author/></authors>"
		"<title> A\n  title </title><categories>cs.LG stat.ML</categories>"
		"<abstract>&lt;b&gt; &amp;<![CDATA[ <c>]]></abstract></arXiv></metadata></record>"
		"<resumptionToken completeListSize=\"12\"> a|b "
		"</resumptionToken></ListRecords></OAI-PMH>");
	const struct metadata *paper = &STAILQ_FIRST(&page.list.records)->paper;
	assert_int_equal(page.list.count, 1);
	assert_int_equal(page.list.complete, 12);
	assert_string_equal(page.list.token, "a|b");
	assert_null(page.error);
	assert_string_equal(paper->id, "2401.01234");
	assert_string_equal(paper->title, "A title");
	assert_string_equal(paper->abstract, "<b> & <c>");
	assert_string_equal(paper->categories, "cs.LG stat.ML");
	assert_int_equal(paper->author_count, 3);
	assert_string_equal(paper->authors[0], "Ada Byron");
	assert_string_equal(paper->authors[1], "Team");
	assert_int_equal(paper->published_at_ms, 1704153600000);
	assert_int_equal(paper->updated_at_ms, paper->published_at_ms);
	assert_null(paper->license);
	assert_false(STAILQ_FIRST(&page.list.records)->is_deleted);
}

/* Members of one record do not leak into the next. */
static void test_records_are_independent(void **state)
{
	(void)state;
	struct oai_page page = read_page(
		"<OAI-PMH><record><id>1</id><title>T</title><author><keyname>A</keyname><suffix>Jr"
		"</suffix></author></record><record><header status=\"deleted\"><identifier>x:y:2"
		"</identifier></header></record><record><id>3</id><author><forenames>B</forenames>"
		"</author></record></OAI-PMH>");
	const struct source_record *first = STAILQ_FIRST(&page.list.records);
	const struct source_record *second = STAILQ_NEXT(first, entry);
	const struct source_record *third = STAILQ_NEXT(second, entry);
	assert_int_equal(page.list.count, 3);
	assert_null(STAILQ_NEXT(third, entry));
	assert_string_equal(first->paper.authors[0], "A Jr");
	assert_true(second->is_deleted);
	assert_string_equal(second->paper.id, "2");
	assert_null(second->paper.title);
	assert_int_equal(second->paper.author_count, 0);
	assert_false(third->is_deleted);
	assert_string_equal(third->paper.authors[0], "B");
}

static void test_authors_are_limited(void **state)
{
	(void)state;
	struct buf xml = {.arena = arena};
	buf_puts(&xml, "<OAI-PMH><record>");
	for (int i = 0; i < 5100; i++)
		buf_printf(&xml, "<author><keyname>A%d</keyname></author>", i);
	buf_puts(&xml, "</record></OAI-PMH>");
	struct oai_page page = read_page(xml.data);
	const struct metadata *paper = &STAILQ_FIRST(&page.list.records)->paper;
	assert_int_equal(paper->author_count, 5000);
	assert_string_equal(paper->authors[4999], "A4999");
}

static void test_error_elements(void **state)
{
	(void)state;
	struct oai_page page =
		read_page("<OAI-PMH><error code=\"badResumptionToken\">expired</error></OAI-PMH>");
	assert_string_equal(page.error, "badResumptionToken");
	assert_string_equal(page.error_text, "expired");
	page = read_page("<OAI-PMH><error/></OAI-PMH>");
	assert_string_equal(page.error, "error");
	assert_string_equal(page.error_text, "");
}

static void test_the_last_page_has_no_token(void **state)
{
	(void)state;
	assert_null(read_page("<OAI-PMH><resumptionToken/></OAI-PMH>").list.token);
	assert_null(
		read_page("<OAI-PMH><resumptionToken> </resumptionToken></OAI-PMH>").list.token);
	assert_null(read_page("<OAI-PMH/>").list.token);
}

static void test_namespace_prefixes_are_ignored(void **state)
{
	(void)state;
	struct oai_page page =
		read_page("<o:OAI-PMH xmlns:o=\"u\"><o:record><o:id>5</o:id></o:record>"
	                  "</o:OAI-PMH>");
	assert_string_equal(STAILQ_FIRST(&page.list.records)->paper.id, "5");
}

static void test_other_documents_are_refused(void **state)
{
	static const char *const ROWS[][2] = {
		{"", "no element"},
		{"<html/>", "not an OAI-PMH answer"},
		{"<OAI-PMH>", "no element"},
		{"<OAI-PMH></OAI>", "mismatched"},
		{"<OAI-PMH/><OAI-PMH/>", "junk"},
		{"<OAI-PMH>&unknown;</OAI-PMH>", "undefined entity"},
		{"<!DOCTYPE OAI-PMH><OAI-PMH/>", "document type"},
		{"<!DOCTYPE OAI-PMH SYSTEM \"file:///etc/passwd\"><OAI-PMH/>", "document type"},
		{"<!DOCTYPE a [<!ENTITY x \"y\">]><OAI-PMH>&x;</OAI-PMH>", "document type"},
		{"<?xml version=\"1.0\" encoding=\"none\"?><OAI-PMH/>", "encoding"},
		{"<OAI-PMH>\xff</OAI-PMH>", "not well-formed"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		struct oai_page page;
		const char *why = NULL;
		assert_int_equal(oai_parse(arena, ROWS[i][0], strlen(ROWS[i][0]), &page, &why),
		                 ERR_MALFORMED);
		assert_non_null(why);
		if (!strstr(why, ROWS[i][1]))
			fail_msg("%s: %s", ROWS[i][0], why);
	}
}

/* The page is well-formed but for what is in the records. */
static void test_records_are_repaired_or_skipped(void **state)
{
	static const char *const RECORDS[][3] = {
		/* a record, its title, its fault */
		{"<record><id>2</id><title>A\x03\xff&#x3;</title></record>", "A\uFFFD\uFFFD\uFFFD",
	         NULL},
		{"<record><id>2</id><title>AT&T &eacute; &#65</title></record>",
	         "AT&T &eacute; &#65", NULL},
		{"<record><header><identifier>a:b:2</identifier></header><title></record>", NULL,
	         "mismatched"},
		{"<record><identifier>a:b:2</identifier>", NULL, "mismatched"},
		{"<x:record a=\"1\"><identifier>a:b:2</identifier></y:record>", NULL, "mismatched"},
		{"<record><identifier>a:b:2</identifier></record", NULL, "not well-formed"},
		{"<record><identifier>a:b:2</identifier><", NULL, "not well-formed"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(RECORDS); i++) {
		struct oai_page page = read_page(
			arena_printf(arena,
		                     "<OAI-PMH><ListRecords><record><id>1</id></record>%s<record>"
		                     "<id>3</id></record><resumptionToken>t</resumptionToken>"
		                     "</ListRecords></OAI-PMH>",
		                     RECORDS[i][0]));
		const struct source_record *one = STAILQ_FIRST(&page.list.records);
		const struct source_record *two = STAILQ_NEXT(one, entry);
		const struct source_record *three = STAILQ_NEXT(two, entry);
		assert_string_equal(page.list.token, "t");
		assert_int_equal(page.list.count, 3);
		assert_string_equal(two->paper.id, "2");
		assert_string_equal(three->paper.id, "3");
		assert_null(three->fault);
		if (!RECORDS[i][2]) {
			assert_string_equal(two->paper.title, RECORDS[i][1]);
			assert_null(two->fault);
		} else if (!two->fault || !strstr(two->fault, RECORDS[i][2])) {
			fail_msg("%s: %s", RECORDS[i][0], two->fault ? two->fault : "no fault");
		}
	}
}

/* Whether there is a `>` behind them is not asked for each `<`: that would take hours. */
static void test_a_page_of_tags_without_an_end(void **state)
{
	static const char *const TAGS[] = {"<", "<record", "<records>", "</"};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(TAGS); i++) {
		struct buf xml = {.arena = arena};
		struct oai_page page;
		const char *why = NULL;
		buf_puts(&xml, "<OAI-PMH><record>");
		while (xml.length < (size_t)8 << 20)
			buf_puts(&xml, TAGS[i]);
		oai_parse(arena, xml.data, xml.length, &page, &why);
		assert_non_null(why);
	}
}

static void test_records_are_limited(void **state)
{
	static const char *const RECORDS[] = {"<record></record>", "<record><a></record>"};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(RECORDS); i++) {
		struct buf xml = {.arena = arena};
		struct oai_page page;
		const char *why = NULL;
		buf_puts(&xml, "<OAI-PMH>");
		for (int count = 0; count < 100001; count++)
			buf_puts(&xml, RECORDS[i]);
		buf_puts(&xml, "</OAI-PMH>");
		assert_int_equal(oai_parse(arena, xml.data, xml.length, &page, &why),
		                 ERR_MALFORMED);
		assert_string_equal(why, "it has more than 100000 records");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(test_members_of_a_record),
		ARENA_TEST(test_records_are_independent),
		ARENA_TEST(test_authors_are_limited),
		ARENA_TEST(test_error_elements),
		ARENA_TEST(test_the_last_page_has_no_token),
		ARENA_TEST(test_namespace_prefixes_are_ignored),
		ARENA_TEST(test_other_documents_are_refused),
		ARENA_TEST(test_records_are_repaired_or_skipped),
		ARENA_TEST(test_a_page_of_tags_without_an_end),
		ARENA_TEST(test_records_are_limited),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
