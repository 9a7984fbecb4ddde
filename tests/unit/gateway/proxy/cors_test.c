#include "proxy/cors.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct http_head request(const char *method, struct http_field *fields, size_t count)
{
	return (struct http_head){.method = method, .fields = fields, .field_count = count};
}

static void only_listed_origins_are_allowed(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	const struct cors *cors;
	assert_int_equal(cors_parse(arena, "https://a.example, http://localhost:3000", &cors), 0);
	static const struct {
		const char *origin;
		size_t count;
	} CASES[] = {{"https://a.example", 3},
	             {"http://localhost:3000", 3},
	             {"http://a.example", 0},
	             {"https://a.example:8443", 0},
	             {"https://a.example.evil", 0},
	             {"null", 0},
	             {"*", 0}};
	struct http_field fields[CORS_FIELDS_MAX];
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		struct http_field origin = http_field_of("Origin", CASES[i].origin);
		struct http_head head = request("GET", &origin, 1);
		assert_int_equal(cors_fields(cors, &head, fields), CASES[i].count);
		if (CASES[i].count)
			assert_string_equal(fields[0].value, CASES[i].origin);
	}
	struct http_head without = request("GET", NULL, 0);
	assert_int_equal(cors_fields(cors, &without, fields), 0);
	arena_free(arena);
}

static void any_origin_can_be_allowed(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	const struct cors *cors;
	struct http_field fields[CORS_FIELDS_MAX], origin = http_field_of("Origin", "https://b");
	struct http_head head = request("GET", &origin, 1);
	assert_int_equal(cors_parse(arena, "*", &cors), 0);
	assert_int_equal(cors_fields(cors, &head, fields), 3);
	assert_string_equal(fields[0].value, "*");
	arena_free(arena);
}

static void a_preflight_names_the_method(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	const struct cors *cors;
	struct http_field fields[2] = {http_field_of("Origin", "https://a.example"),
	                               http_field_of("Access-Control-Request-Method", "PUT")};
	assert_int_equal(cors_parse(arena, "https://a.example", &cors), 0);
	struct http_head head = request("OPTIONS", fields, 2);
	assert_true(cors_is_preflight(cors, &head));
	head.method = "GET";
	assert_false(cors_is_preflight(cors, &head));
	head = request("OPTIONS", fields, 1);
	assert_false(cors_is_preflight(cors, &head));
	fields[0].value = "https://b.example";
	head = request("OPTIONS", fields, 2);
	assert_false(cors_is_preflight(cors, &head));
	arena_free(arena);
}

static void lists_are_checked(void **state)
{
	static const char *const BAD[] = {"a.example",         "https://",     "https://a/b",
	                                  "https://A.example", "ftp://a",      "null",
	                                  "https://user@a",    "https://*.a.b"};
	(void)state;
	struct arena *arena = arena_new();
	const struct cors *cors;
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++)
		assert_int_equal(cors_parse(arena, BAD[i], &cors), ERR_INVALID);
	assert_int_equal(cors_parse(arena, " , ", &cors), ERR_NONE);
	assert_null(cors);
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_listed_origins_are_allowed),
		cmocka_unit_test(any_origin_can_be_allowed),
		cmocka_unit_test(a_preflight_names_the_method),
		cmocka_unit_test(lists_are_checked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
