#include "json/json_canonical.h"

#include "arena_fixture.h"
#include "json/json.h"

#include <math.h>
#include <string.h>

static const char *canonical(const char *text)
{
	size_t length;
	const char *json = json_canonical(arena, json_parse_own(arena, text), &length);
	assert_int_equal(length, strlen(json));
	return json;
}

static const char *canonical_power(int exponent)
{
	return canonical(arena_printf(arena, "%.17g", ldexp(1, exponent)));
}

/* RFC 8785 section 3.2.2 */
static void the_example_of_the_rfc(void **state attr_unused)
{
	assert_string_equal(
		canonical("{ \"numbers\": [333333333.33333329, 1E30, 4.50, 2e-3, "
	                  "0.000000000000000000000000001], \"string\": "
	                  "\"\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\\"\\/\", "
	                  "\"literals\": [null, true, false] }"),
		"{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-"
		"27],\"string\":\"\xe2\x82\xac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
}

/* Section 3.2.3: characters beyond the basic plane come before U+FB33. */
static void names_are_sorted_as_utf16(void **state attr_unused)
{
	assert_string_equal(canonical("{\"\\u20ac\":1,\"\\r\":2,\"\\ufb33\":3,\"1\":4,"
	                              "\"\\ud83d\\ude00\":5,\"\\u0080\":6,\"\\u00f6\":7,\"\":8}"),
	                    "{\"\":8,\"\\r\":2,\"1\":4,\"\xc2\x80\":6,\"\xc3\xb6\":7,"
	                    "\"\xe2\x82\xac\":1,\"\xf0\x9f\x98\x80\":5,\"\xef\xac\xb3\":3}");
	assert_string_equal(canonical("{\"ab\":1,\"a\":{\"c\":1,\"b\":[]}}"),
	                    "{\"a\":{\"b\":[],\"c\":1},\"ab\":1}");
}

/* Appendix B, and the borders of the forms. */
static void numbers_are_written_as_ecmascript_does(void **state attr_unused)
{
	static const char *const ROWS[][2] = {
		{"-0", "0"},
		{"0.0", "0"},
		{"5e-324", "5e-324"},
		{"-5e-324", "-5e-324"},
		{"1.7976931348623157e308", "1.7976931348623157e+308"},
		{"9007199254740992", "9007199254740992"},
		{"9007199254740993", "9007199254740992"},
		{"-9007199254740992", "-9007199254740992"},
		{"295147905179352830000", "295147905179352830000"},
		{"9.999999999999997e22", "9.999999999999997e+22"},
		{"1e23", "1e+23"},
		{"999999999999999700000", "999999999999999700000"},
		{"999999999999999900000", "999999999999999900000"},
		{"1e21", "1e+21"},
		{"333333333.3333332", "333333333.3333332"},
		{"-0.0000033333333333333333", "-0.0000033333333333333333"},
		{"0.000001", "0.000001"},
		{"9.999999999999997e-7", "9.999999999999997e-7"},
		{"1424953923781206.2", "1424953923781206.2"},
		{"18446744073709551615", "18446744073709552000"},
		{"1.50", "1.5"},
		{"12", "12"},
		{"-3.0", "-3"},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++)
		assert_string_equal(canonical(ROWS[i][0]), ROWS[i][1]);
}

/* Where numbers become half as dense, the nearest with the fewest digits is not the number. */
static void powers_of_two_are_as_short_as_can_be(void **state attr_unused)
{
	static const struct {
		int exponent;
		const char *text;
	} ROWS[] = {
		{-1017, "7.120236347223045e-307"}, {-140, "7.174648137343064e-43"},
		{-44, "5.684341886080802e-14"},    {-24, "5.960464477539063e-8"},
		{89, "6.189700196426902e+26"},     {976, "6.386688990511104e+293"},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++)
		assert_string_equal(canonical_power(ROWS[i].exponent), ROWS[i].text);
}

/* All of them, a line each, as Python's repr() has their digits: their FNV-1a hash. */
static void all_powers_of_two_are_as_others_write_them(void **state attr_unused)
{
	uint64_t hash = 0xcbf29ce484222325;
	for (int exponent = -1074; exponent < 1024; exponent++) {
		const char *line = arena_printf(arena, "%s\n", canonical_power(exponent));
		for (const char *c = line; *c; c++)
			hash = (hash ^ (unsigned char)*c) * 0x100000001b3;
	}
	assert_true(hash == 0x5115e8c46ea2a06d);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		ARENA_TEST(the_example_of_the_rfc),
		ARENA_TEST(names_are_sorted_as_utf16),
		ARENA_TEST(numbers_are_written_as_ecmascript_does),
		ARENA_TEST(powers_of_two_are_as_short_as_can_be),
		ARENA_TEST(all_powers_of_two_are_as_others_write_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
