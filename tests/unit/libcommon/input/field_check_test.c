#include "input/field_check.h"

#include "input/input.h"
#include "json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const COLOURS[] = {"red", "green", NULL};

static bool is_even_length(const char *text, size_t length, const char **ret_message)
{
	(void)text;
	*ret_message = "must have an even length";
	return length % 2 == 0;
}

/* Indexes of ROWS. */
enum row {
	TEXT,
	TRIM,
	UUID,
	INT,
	ANY_INT,
	FLOAT,
	BOOL,
	ENUM,
	DATE,
	TIME,
	URL,
	OBJECT,
	ARRAY,
	STRINGS,
	LIMIT,
	OFFSET,
	EVEN
};

static const struct field ROWS[] = {
	[TEXT] = {IN_BODY, FIELD_TEXT, "f", FIELD_NOWHERE, 0, 1, 3},
	[TRIM] = {IN_BODY, FIELD_TEXT, "f", FIELD_NOWHERE, TRIMMED | NULLABLE, 1, 3},
	[UUID] = {IN_BODY, FIELD_UUID, "f", FIELD_NOWHERE},
	[INT] = {IN_BODY, FIELD_INT, "f", FIELD_NOWHERE, 0, 1, 50},
	[ANY_INT] = {IN_BODY, FIELD_INT, "f", FIELD_NOWHERE},
	[FLOAT] = {IN_BODY, FIELD_FLOAT, "f", FIELD_NOWHERE},
	[BOOL] = {IN_BODY, FIELD_BOOL, "f", FIELD_NOWHERE},
	[ENUM] = {IN_BODY, FIELD_ENUM, "f", FIELD_NOWHERE, .values = COLOURS},
	[DATE] = {IN_BODY, FIELD_DATE, "f", FIELD_NOWHERE},
	[TIME] = {IN_BODY, FIELD_TIME, "f", FIELD_NOWHERE},
	[URL] = {IN_BODY, FIELD_URL, "f", FIELD_NOWHERE, 0, 1, 2048},
	[OBJECT] = {IN_BODY, FIELD_OBJECT, "f", FIELD_NOWHERE},
	[ARRAY] = {IN_BODY, FIELD_ARRAY, "f", FIELD_NOWHERE, 0, 0, 2},
	[STRINGS] = {IN_BODY, FIELD_STRINGS, "f", FIELD_NOWHERE, 0, 1, 2, .item_max = 3},
	[LIMIT] = {IN_QUERY, FIELD_LIMIT, "f", FIELD_NOWHERE, 0, 1, 100},
	[OFFSET] = {IN_QUERY, FIELD_OFFSET, "f", FIELD_NOWHERE},
	[EVEN] = {IN_BODY, FIELD_TEXT, "f", FIELD_NOWHERE, .check = is_even_length},
};

struct check_case {
	enum row row;
	const char *input;
	const char *fault; /* part of the message; NULL: the input is valid */
	const char *text;  /* the checked value of a text; NULL: not compared */
};

static void expect(const struct check_case *one, const char *fault, const struct field_value *value)
{
	if (!one->fault) {
		if (fault)
			fail_msg("%s: %s", one->input, fault);
		if (one->text)
			assert_string_equal(value->text, one->text);
		return;
	}
	assert_non_null(fault);
	if (!strstr(fault, one->fault))
		fail_msg("%s: \"%s\" is not in \"%s\"", one->input, one->fault, fault);
}

static void test_json_values(void **state)
{
	static const struct check_case CASES[] = {
		{TEXT, "\"abc\"", NULL, "abc"},
		{TEXT, "\"\xC3\xA9\xC3\xA9\xC3\xA9\"", NULL, NULL},
		{TEXT, "\"abcd\"", "1 to 3 characters", NULL},
		{TEXT, "\"\"", "must not be empty", NULL},
		{TEXT, "7", "must be a string", NULL},
		{TEXT, "null", "must not be null", NULL},
		{TRIM, "\" \\t\xC2\xA0 ab\\n\xE3\x80\x80\"", NULL, "ab"},
		{TRIM, "\"   \"", "must not be empty", NULL},
		{TRIM, "null", NULL, NULL},
		{UUID, "\"0197A0B1-C2D3-7E4F-8a5b-6c7d8e9f0a1b\"", NULL,
	         "0197a0b1-c2d3-7e4f-8a5b-6c7d8e9f0a1b"},
		{UUID, "\"0197a0b1\"", "must be a UUID", NULL},
		{INT, "50", NULL, NULL},
		{INT, "3.0", NULL, NULL},
		{INT, "51", "between 1 and 50", NULL},
		{INT, "3.5", "must be an integer", NULL},
		{INT, "1e300", "must be an integer", NULL},
		{INT, "\"3\"", "must be an integer", NULL},
		{INT, "true", "must be an integer", NULL},
		{INT, "18446744073709551615", "between 1 and 50", NULL},
		{ANY_INT, "-9223372036854775808", NULL, NULL},
		{FLOAT, "-0.25", NULL, NULL},
		{FLOAT, "7", NULL, NULL},
		{FLOAT, "\"7\"", "must be a number", NULL},
		{BOOL, "false", NULL, NULL},
		{BOOL, "0", "must be true or false", NULL},
		{ENUM, "\"green\"", NULL, "green"},
		{ENUM, "\"Green\"", "red, green", NULL},
		{DATE, "\"2024-02-29\"", NULL, "2024-02-29"},
		{DATE, "\"2023-02-29\"", "YYYY-MM-DD", NULL},
		{DATE, "\"1969-12-31\"", "not before 1970-01-01", NULL},
		{TIME, "\"1969-12-31T23:59:59Z\"", "not before 1970", NULL},
		{TIME, "\"2026-01-31T10:30:00+01:00\"", NULL, "2026-01-31T09:30:00.000Z"},
		{URL, "\"https://example.org/a?b#c\"", NULL, "https://example.org/a?b#c"},
		{URL, "\"ftp://example.org\"", "http or https URL", NULL},
		{URL, "\"https:///path\"", "http or https URL", NULL},
		{URL, "\"https://a b\"", "http or https URL", NULL},
		{URL, "\"javascript:alert(1)\"", "http or https URL", NULL},
		{OBJECT, "{\"a\":[1]}", NULL, "{\"a\":[1]}"},
		{OBJECT, "[1]", "must be an object", NULL},
		{ARRAY, "[1,{}]", NULL, "[1,{}]"},
		{ARRAY, "[1,2,3]", "must have 0 to 2 items", NULL},
		{ARRAY, "{}", "must be an array", NULL},
		{STRINGS, "[\"a\",\"bcd\"]", NULL, "[\"a\",\"bcd\"]"},
		{STRINGS, "[\"a\",7]", "item 1 must be a string", NULL},
		{STRINGS, "[\"\"]", "item 0 must not be empty", NULL},
		{STRINGS, "[\"abcd\"]", "item 0", NULL},
		{STRINGS, "[]", "must have 1 to 2 items", NULL},
		{EVEN, "\"ab\"", NULL, "ab"},
		{EVEN, "\"abc\"", "must have an even length", NULL},
	};
	(void)state;
	struct arena *arena = arena_new();
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		yyjson_val *json;
		struct field_value value = {0};
		assert_int_equal(json_parse(arena, CASES[i].input, strlen(CASES[i].input), &json,
		                            NULL),
		                 ERR_NONE);
		expect(&CASES[i], field_check_json(arena, &ROWS[CASES[i].row], json, &value),
		       &value);
	}
	arena_free(arena);
}

static void test_query_values(void **state)
{
	static const struct check_case CASES[] = {
		{LIMIT, "20", NULL, NULL},
		{LIMIT, "0", "at least 1", NULL},
		{LIMIT, "-1", "at least 1", NULL},
		{LIMIT, "ten", "at least 1", NULL},
		{LIMIT, "1.5", "at least 1", NULL},
		{LIMIT, "", "at least 1", NULL},
		{LIMIT, " 5", "at least 1", NULL},
		{LIMIT, "99999999999999999999", NULL, NULL},
		{OFFSET, "0", NULL, NULL},
		{OFFSET, "-1", "at least 0", NULL},
		{INT, "7", NULL, NULL},
		{INT, "77", "between 1 and 50", NULL},
		{FLOAT, "1e3", NULL, NULL},
		{FLOAT, "nan", "finite", NULL},
		{FLOAT, "x", "must be a number", NULL},
		{BOOL, "true", NULL, NULL},
		{BOOL, "yes", "must be true or false", NULL},
		{TEXT, "abcd", "1 to 3 characters", NULL},
		{ENUM, "blue", "red, green", NULL},
	};
	(void)state;
	struct arena *arena = arena_new();
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		struct field_value value = {0};
		expect(&CASES[i],
		       field_check_text(arena, &ROWS[CASES[i].row], CASES[i].input, &value),
		       &value);
	}
	arena_free(arena);
}

static void test_limit_is_clamped(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct field_value value = {0};
	assert_null(field_check_text(arena, &ROWS[LIMIT], "1000", &value));
	assert_int_equal(value.integer, 100);
	arena_free(arena);
}

static const struct field STEP[] = {
	{IN_BODY, FIELD_TEXT, "word", FIELD_NOWHERE, REQUIRED, 1, 3},
	FIELD_END,
};

static const struct field PLACE[] = {
	{IN_BODY, FIELD_URL, "url", FIELD_NOWHERE, NULLABLE, 1, 2048},
	{IN_BODY, FIELD_ARRAY, "steps", FIELD_NOWHERE, NULLABLE, 0, 2, .members = STEP},
	FIELD_END,
};

static const struct field NESTED[] = {
	{IN_BODY, FIELD_OBJECT, "place", FIELD_NOWHERE, NULLABLE, .members = PLACE},
	FIELD_END,
};

/* The faults of a body: the names of the fields, separated by spaces. */
static char *faults_of(struct arena *arena, const char *text)
{
	struct problem problem = {0};
	struct buf out = {.arena = arena};
	yyjson_val *root;
	assert_int_equal(json_parse(arena, text, strlen(text), &root, NULL), ERR_NONE);
	field_check_members(arena, &problem, root, NESTED);
	for (struct problem_field *fault = problem.fields; fault; fault = fault->next)
		buf_printf(&out, "%s%s", out.length ? " " : "", fault->field);
	return out.length ? out.data : arena_strdup(arena, "");
}

static void test_faults_of_nested_members_are_named_by_path(void **state)
{
	(void)state;
	static const char *const CASES[][2] = {
		{"{}", ""},
		{"{\"place\": null, \"other\": 7}", ""},
		{"{\"place\": {\"url\": null, \"steps\": null, \"other\": [1]}}", ""},
		{"{\"place\": {\"steps\": [{\"word\": \"a\", \"other\": 1}, {\"word\": \"b\"}]}}",
	         ""},
		{"{\"place\": []}", "place"},
		{"{\"place\": {\"url\": 7}}", "place.url"},
		{"{\"place\": {\"steps\": {}}}", "place.steps"},
		{"{\"place\": {\"steps\": [1, 2, 3]}}", "place.steps"},
		{"{\"place\": {\"url\": \"x\", \"steps\": [7, {\"word\": \"\"}]}}",
	         "place.url place.steps[0] place.steps[1].word"},
		{"{\"place\": {\"steps\": [{}]}}", "place.steps[0].word"},
	};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		struct arena *arena = arena_new();
		assert_string_equal(faults_of(arena, CASES[i][0]), CASES[i][1]);
		arena_free(arena);
	}
}

static void test_many_faults_are_counted_and_the_first_are_named(void **state)
{
	(void)state;
	static const struct field LONG[] = {
		{IN_BODY, FIELD_ARRAY, "steps", FIELD_NOWHERE, NULLABLE, .members = STEP},
		FIELD_END,
	};
	struct arena *arena = arena_new();
	struct buf text = {.arena = arena};
	for (int i = 0; i < 3 * PROBLEM_FIELDS_MAX; i++)
		buf_puts(&text, i == 0 ? "{\"steps\": [7" : ", {}");
	buf_puts(&text, "]}");
	struct problem problem = {0}, copy = {0};
	yyjson_val *root;
	assert_int_equal(json_parse(arena, text.data, text.length, &root, NULL), ERR_NONE);
	field_check_members(arena, &problem, root, LONG);
	problem_copy(arena, &copy, &problem);
	const struct problem_field *fault = copy.fields;
	size_t named = 0;
	for (; fault; fault = fault->next)
		assert_string_equal(fault->field,
		                    named++ == 0
		                            ? "steps[0]"
		                            : arena_printf(arena, "steps[%zu].word", named - 1));
	assert_int_equal(named, PROBLEM_FIELDS_MAX);
	assert_int_equal(copy.field_count, 3 * PROBLEM_FIELDS_MAX);
	assert_non_null(strstr(problem_body(arena, &copy, NULL, NULL), "300 fields are invalid"));
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_values),
		cmocka_unit_test(test_query_values),
		cmocka_unit_test(test_limit_is_clamped),
		cmocka_unit_test(test_faults_of_nested_members_are_named_by_path),
		cmocka_unit_test(test_many_faults_are_counted_and_the_first_are_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
