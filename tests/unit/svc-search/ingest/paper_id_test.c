#include "ingest/paper_id.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_each_form_has_its_canonical_form(void **state)
{
	static const char *const ROWS[][2] = {
		{"2401.01234", "2401.01234"},
		{"2401.01234v1", "2401.01234"},
		{"2401.01234v123", "2401.01234"},
		{"0704.0001", "0704.0001"},
		{"0704.0001v2", "0704.0001"},
		{"arXiv:2401.01234v3", "2401.01234"},
		{"ARXIV:hep-th/9901001", "hep-th/9901001"},
		{"hep-th/9901001v2", "hep-th/9901001"},
		{"math.GT/0309136", "math/0309136"},
		{"math.GT/0309136v1", "math/0309136"},
		{"cond-mat/0703470", "cond-mat/0703470"},
		{"q-bio/0309136", "q-bio/0309136"},
		{"abcdefghijklmnop/0309136", "abcdefghijklmnop/0309136"},
		{"biorxiv:10.1101/2026.11.20.123456", "biorxiv:10.1101/2026.11.20.123456"},
		{"bioRxiv:10.1101/012345v2", "biorxiv:10.1101/012345"},
		{"medRxiv:10.64898/2026.01.02.26312345", "medrxiv:10.64898/2026.01.02.26312345"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		char id[PAPER_ID_MAX + 1];
		assert_true(paper_id_parse(ROWS[i][0], id));
		assert_string_equal(id, ROWS[i][1]);
	}
}

static void test_other_texts_are_refused(void **state)
{
	static const char *const ROWS[] = {
		"",
		"v1",
		"arXiv:",
		"2401",
		"2401.",
		"2401.123",
		"2401.123456",
		"240.01234",
		"24011.0123",
		"2401,01234",
		"2401.01234v",
		"2401.01234v0",
		"2401.01234v01",
		"2401.01234v1234",
		"2401.01234 ",
		" 2401.01234",
		"2401.01234v1x",
		"2401.01234/1",
		"hep-th",
		"hep-th/",
		"hep-th/990100",
		"hep-th/99010011",
		"hep-th/9901001v",
		"/9901001",
		"-/9901001",
		"-hep/9901001",
		"HEP-TH/9901001",
		"hep th/9901001",
		"math./0309136",
		"math.G/0309136",
		"math.gt/0309136",
		"math.GTT/0309136",
		"math.G\001/0309136",
		"abcdefghijklmnopq/0309136",
		"../../etc",
		"a/b/0309136",
		"arXiv:arXiv:2401.01234",
		"\303\251/0309136",
		"biorxiv:",
		"biorxiv:2401.01234",
		"biorxiv:10.1101",
		"biorxiv:10.1101/",
		"biorxiv:10.110/012345",
		"biorxiv:10.1101/a12345",
		"biorxiv:10.1101/2026.",
		"biorxiv:10.1101/2026..11",
		"biorxiv:10.1101/012345v0",
		"biorxiv:10.1101/012345/full",
		"biorxiv:10.123456789/1111111111111111111111111111111111111111111111",
		"chemrxiv:10.1101/012345",
		"10.1101/2026.11.20.123456",
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		char id[PAPER_ID_MAX + 1];
		if (paper_id_parse(ROWS[i], id))
			fail_msg("\"%s\" was read as %s", ROWS[i], id);
	}
}

static void test_the_longest_id(void **state)
{
	char text[PAPER_ID_MAX + 2] = "biorxiv:10.1101/", id[PAPER_ID_MAX + 1];
	(void)state;
	memset(text + strlen(text), '1', PAPER_ID_MAX - strlen(text));
	assert_true(paper_id_parse(text, id));
	assert_string_equal(id, text);
	text[PAPER_ID_MAX] = '1';
	assert_false(paper_id_parse(text, id));
}

static void test_category_form(void **state)
{
	static const char *const ROWS[] = {"cs.LG", "hep-th", "q-bio.QM", "cond-mat.stat-mech",
	                                   "cs"};
	static const char *const OTHERS[] = {"", "cs LG", "cs.LG;", "\303\251"};
	char longest[CATEGORY_MAX + 2] = {0};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++)
		assert_true(category_is(ROWS[i]));
	for (size_t i = 0; i < ARRAY_LEN(OTHERS); i++)
		assert_false(category_is(OTHERS[i]));
	memset(longest, 'c', CATEGORY_MAX);
	assert_true(category_is(longest));
	longest[CATEGORY_MAX] = 'c';
	assert_false(category_is(longest));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_form_has_its_canonical_form),
		cmocka_unit_test(test_other_texts_are_refused),
		cmocka_unit_test(test_the_longest_id),
		cmocka_unit_test(test_category_form),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
