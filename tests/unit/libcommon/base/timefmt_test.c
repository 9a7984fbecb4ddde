#include "base/timefmt.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct {
	int64_t time_ms;
	const char *text;
} TIMES[] = {
	{0, "1970-01-01T00:00:00.000Z"},
	{1, "1970-01-01T00:00:00.001Z"},
	{86399999, "1970-01-01T23:59:59.999Z"},
	{951782400000, "2000-02-29T00:00:00.000Z"}, /* divisible by 400: a leap year */
	{951868800000, "2000-03-01T00:00:00.000Z"},
	{1709210096789, "2024-02-29T12:34:56.789Z"},
	{1769851800000, "2026-01-31T09:30:00.000Z"},
	{4107542400000, "2100-03-01T00:00:00.000Z"}, /* not a leap year */
	{4107542399999, "2100-02-28T23:59:59.999Z"},
	{253402300799999, "9999-12-31T23:59:59.999Z"},
};

static void times_round_trip(void **state attr_unused)
{
	for (size_t i = 0; i < ARRAY_LEN(TIMES); i++) {
		char text[TIME_TEXT_LEN + 1];
		int64_t time_ms;
		time_format(TIMES[i].time_ms, text);
		assert_string_equal(text, TIMES[i].text);
		assert_true(time_parse(text, TIME_TEXT_LEN, &time_ms));
		assert_int_equal(time_ms, TIMES[i].time_ms);
	}
}

static void every_day_round_trips(void **state attr_unused)
{
	char last[DATE_TEXT_LEN + 1] = "";
	for (int64_t day = 0; day < 2932897; day++) { /* to the end of 9999 */
		char text[DATE_TEXT_LEN + 1];
		int64_t time_ms;
		date_format(day * 86400000 + 43200000, text);
		assert_true(strcmp(last, text) < 0);
		assert_true(date_parse(text, DATE_TEXT_LEN, &time_ms));
		assert_int_equal(time_ms, day * 86400000);
		memcpy(last, text, sizeof(last));
	}
	assert_string_equal(last, "9999-12-31");
}

static void times_out_of_range_are_clamped(void **state attr_unused)
{
	static const struct {
		int64_t time_ms;
		const char *text;
	} ROWS[] = {
		{-1, "1969-12-31T23:59:59.999Z"},        {-86400000, "1969-12-31T00:00:00.000Z"},
		{-86400001, "1969-12-30T23:59:59.999Z"}, {INT64_MIN, "0000-01-01T00:00:00.000Z"},
		{INT64_MAX, "9999-12-31T23:59:59.999Z"},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		char text[TIME_TEXT_LEN + 1], date[DATE_TEXT_LEN + 1];
		time_format(ROWS[i].time_ms, text);
		assert_string_equal(text, ROWS[i].text);
		date_format(ROWS[i].time_ms, date);
		assert_memory_equal(date, text, DATE_TEXT_LEN);
	}
}

static void other_forms_are_read(void **state attr_unused)
{
	static const struct {
		const char *text;
		int64_t time_ms;
	} ROWS[] = {
		{"1985-04-12T23:20:50.52Z", 482196050520}, /* RFC 3339, section 5.8 */
		{"1996-12-19T16:39:57-08:00", 851042397000},
		{"1990-12-31T15:59:50-08:00", 662687990000},
		{"1970-01-01T00:00:00Z", 0},
		{"1970-01-01t00:00:00z", 0},
		{"1970-01-01T00:00:00.9Z", 900},
		{"1970-01-01T00:00:00.123456789Z", 123},
		{"1970-01-01T00:00:00.000999999Z", 0},
		{"1970-01-01T01:00:00+01:00", 0},
		{"1970-01-01T00:00:00-00:00", 0},
		{"1970-01-01T00:00:00-23:59", 86340000},
		{"2026-01-31T15:15:00.000+05:45", 1769851800000},
		{"9999-12-31T23:59:59.999+00:00", 253402300799999},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		int64_t time_ms = -1;
		assert_true(time_parse(ROWS[i].text, strlen(ROWS[i].text), &time_ms));
		assert_int_equal(time_ms, ROWS[i].time_ms);
	}
}

static void bad_times_are_refused(void **state attr_unused)
{
	static const char *const TEXTS[] = {
		"",
		"2026",
		"2026-01-31",
		"2026-01-31T09:30:00",
		"2026-01-31T09:30Z",
		"2026-01-31 09:30:00Z",
		"2026-01-31T09:30:00.Z",
		"2026-01-31T09:30:00,5Z",
		"2026-01-31T09:30:00.1234567890Z",
		"2026-01-31T09:30:60Z",
		"2026-01-31T09:60:00Z",
		"2026-01-31T24:00:00Z",
		"2026-02-29T09:30:00Z",
		"2026-00-10T09:30:00Z",
		"2026-13-10T09:30:00Z",
		"2026-01-00T09:30:00Z",
		"2026-04-31T09:30:00Z",
		"1969-12-31T23:59:59Z",
		"1970-01-01T00:00:00+00:01",
		"9999-12-31T23:59:59-00:01",
		"10000-01-01T00:00:00Z",
		"2026-01-31T09:30:00+0100",
		"2026-01-31T09:30:00+01",
		"2026-01-31T09:30:00+24:00",
		"2026-01-31T09:30:00+01:60",
		"2026-01-31T09:30:00ZZ",
		"2026-01-31T09:30:00Z ",
		" 2026-01-31T09:30:00Z",
		"2026-1-31T09:30:00Z",
		"+026-01-31T09:30:00Z",
		"2026-01-31T09:30:-1Z",
		"2026-01-31T09:30:0aZ",
	};
	int64_t time_ms = 42;
	for (size_t i = 0; i < ARRAY_LEN(TEXTS); i++)
		assert_false(time_parse(TEXTS[i], strlen(TEXTS[i]), &time_ms));
	/* Bytes after the length are not read. */
	for (size_t length = 0; length < TIME_TEXT_LEN; length++)
		assert_false(time_parse("2026-01-31T09:30:00.000Z", length, &time_ms));
	assert_int_equal(time_ms, 42);
}

static void bad_dates_are_refused(void **state attr_unused)
{
	static const char *const TEXTS[] = {
		"",           "2026-01-3",  "2026-01-311", "2026-02-29", "2100-02-29",
		"2026-1-01",  "2026/01/01", "20260101",    "1969-12-31", "2026-01-01T00:00:00Z",
		"2026-01-1x", "yesterday",  "2026-06-31",  "2026-01-00",
	};
	int64_t time_ms = 42;
	for (size_t i = 0; i < ARRAY_LEN(TEXTS); i++)
		assert_false(date_parse(TEXTS[i], strlen(TEXTS[i]), &time_ms));
	assert_int_equal(time_ms, 42);
	assert_true(date_parse("2024-02-29", 10, &time_ms));
	assert_int_equal(time_ms, 1709164800000);
}

static void clocks(void **state attr_unused)
{
	int64_t now = time_now_ms();
	int64_t written;
	assert_true(time_parse("2025-01-01T00:00:00Z", 20, &written));
	assert_true(now > written);
	uint64_t first_us = time_monotonic_us();
	uint64_t then_ms = time_monotonic_ms();
	uint64_t last_us = time_monotonic_us();
	assert_true(first_us <= last_us);
	assert_in_range(then_ms, first_us / 1000, last_us / 1000);
}

static void times_of_day_are_split(void **state attr_unused)
{
	struct time_of_day at = time_of_day_split("22:30 America/New_York");
	assert_string_equal(at.time, "22:30");
	assert_string_equal(at.zone, "America/New_York");
	at = time_of_day_split("06:00");
	assert_string_equal(at.zone, "UTC");
	assert_true(time_of_day_is_valid(&at));
	static const char *const BAD[] = {"",      "24:00",    "6:00",     "06:00x",
	                                  "06:60", "0600 UTC", "06:000000"};
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		at = time_of_day_split(BAD[i]);
		assert_false(time_of_day_is_valid(&at));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_round_trip),
		cmocka_unit_test(every_day_round_trips),
		cmocka_unit_test(times_out_of_range_are_clamped),
		cmocka_unit_test(other_forms_are_read),
		cmocka_unit_test(bad_times_are_refused),
		cmocka_unit_test(bad_dates_are_refused),
		cmocka_unit_test(times_of_day_are_split),
		cmocka_unit_test(clocks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
