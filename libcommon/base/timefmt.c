#include "base/timefmt.h"

#include "base/base.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define DAY_MS      INT64_C(86400000)
#define TIME_MIN_MS INT64_C(-62167219200000) /* 0000-01-01T00:00:00.000Z */
#define TIME_MAX_MS INT64_C(253402300799999) /* 9999-12-31T23:59:59.999Z */

struct civil_date {
	int year, month, day; /* month and day from 1 */
};

static uint64_t clock_read_us(clockid_t clock)
{
	struct timespec now;
	require(clock_gettime(clock, &now) == 0);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

int64_t time_now_ms(void)
{
	return (int64_t)(clock_read_us(CLOCK_REALTIME) / 1000);
}

uint64_t time_monotonic_ms(void)
{
	return time_monotonic_us() / 1000;
}

uint64_t time_monotonic_us(void)
{
	return clock_read_us(CLOCK_MONOTONIC);
}

struct timespec time_monotonic_in(uint64_t ms)
{
	uint64_t us = time_monotonic_us() + ms * 1000;
	return (struct timespec){.tv_sec = (time_t)(us / 1000000),
	                         .tv_nsec = (long)(us % 1000000) * 1000};
}

/* Conversion between days since 1970-01-01 and dates of the proleptic Gregorian calendar, from year
 * 0 on. Internally a year starts in March, so that the leap day is its last day: H. Hinnant,
 * "chrono-Compatible Low-Level Date Algorithms", days_from_civil and civil_from_days. */
#define DAYS_TO_EPOCH 719468 /* from 0000-03-01 */
#define DAYS_IN_ERA   146097 /* 400 years */

static int64_t days_of_date(struct civil_date date)
{
	int64_t year = date.year - (date.month <= 2);
	int64_t era = (year >= 0 ? year : year - 399) / 400;
	int64_t year_of_era = year - era * 400;
	int64_t day_of_year =
		(153 * (date.month + (date.month > 2 ? -3 : 9)) + 2) / 5 + date.day - 1;
	int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
	return era * DAYS_IN_ERA + day_of_era - DAYS_TO_EPOCH;
}

static struct civil_date date_of_days(int64_t days)
{
	days += DAYS_TO_EPOCH;
	int64_t era = (days >= 0 ? days : days - DAYS_IN_ERA + 1) / DAYS_IN_ERA;
	int64_t day_of_era = days - era * DAYS_IN_ERA;
	int64_t year_of_era =
		(day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
	int64_t day_of_year =
		day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	int64_t month = (5 * day_of_year + 2) / 153;
	struct civil_date date = {
		.day = (int)(day_of_year - (153 * month + 2) / 5 + 1),
		.month = (int)(month < 10 ? month + 3 : month - 9),
	};
	date.year = (int)(year_of_era + era * 400 + (date.month <= 2));
	return date;
}

static int days_in_month(int year, int month)
{
	static const int DAYS[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	return DAYS[month - 1] + (month == 2 && is_leap);
}

/* Write `value` with `digits` decimal digits; returns the position after them. */
static char *put_number(char *out, int64_t value, int digits)
{
	for (int i = digits - 1; i >= 0; i--, value /= 10)
		out[i] = (char)('0' + value % 10);
	return out + digits;
}

static char *put_date(char *out, int64_t days)
{
	struct civil_date date = date_of_days(days);
	out = put_number(out, date.year, 4);
	*out++ = '-';
	out = put_number(out, date.month, 2);
	*out++ = '-';
	return put_number(out, date.day, 2);
}

/* Clamp the time to years of four digits and split it into days since the epoch, which are
 * returned, and the milliseconds of the day. */
static int64_t split_time(int64_t *time_ms)
{
	*time_ms = MAX_OF(TIME_MIN_MS, MIN_OF(*time_ms, TIME_MAX_MS));
	int64_t days = *time_ms / DAY_MS - (*time_ms % DAY_MS < 0);
	*time_ms -= days * DAY_MS;
	return days;
}

void time_format(int64_t time_ms, char out[TIME_TEXT_LEN + 1])
{
	int64_t days = split_time(&time_ms);
	out = put_date(out, days);
	*out++ = 'T';
	out = put_number(out, time_ms / 3600000, 2);
	*out++ = ':';
	out = put_number(out, time_ms / 60000 % 60, 2);
	*out++ = ':';
	out = put_number(out, time_ms / 1000 % 60, 2);
	*out++ = '.';
	out = put_number(out, time_ms % 1000, 3);
	*out++ = 'Z';
	*out = '\0';
}

void date_format(int64_t time_ms, char out[DATE_TEXT_LEN + 1])
{
	*put_date(out, split_time(&time_ms)) = '\0';
}

/* The text that is left to parse. */
struct cursor {
	const char *at, *end;
};

static bool take_char(struct cursor *in, char expected)
{
	if (in->at == in->end || *in->at != expected)
		return false;
	in->at++;
	return true;
}

static bool take_number(struct cursor *in, int digits, int min, int max, int *ret_value)
{
	if (in->end - in->at < digits)
		return false;
	int value = 0;
	for (int i = 0; i < digits; i++, in->at++) {
		if (*in->at < '0' || *in->at > '9')
			return false;
		value = 10 * value + (*in->at - '0');
	}
	*ret_value = value;
	return value >= min && value <= max;
}

static bool take_date(struct cursor *in, int64_t *ret_days)
{
	struct civil_date date;
	if (!take_number(in, 4, 1970, 9999, &date.year) || !take_char(in, '-') ||
	    !take_number(in, 2, 1, 12, &date.month) || !take_char(in, '-') ||
	    !take_number(in, 2, 1, days_in_month(date.year, date.month), &date.day))
		return false;
	*ret_days = days_of_date(date);
	return true;
}

/* `.123456789`, in milliseconds rounded down; 0 if absent. */
static bool take_fraction(struct cursor *in, int *ret_ms)
{
	*ret_ms = 0;
	if (!take_char(in, '.'))
		return true;
	int digits = 0;
	for (int scale = 100; in->at < in->end && *in->at >= '0' && *in->at <= '9';
	     in->at++, digits++, scale /= 10)
		*ret_ms += scale * (*in->at - '0');
	return digits >= 1 && digits <= 9;
}

/* `Z`, `+01:00`, `-08:30`. */
static bool take_offset(struct cursor *in, int *ret_minutes)
{
	*ret_minutes = 0;
	if (take_char(in, 'Z') || take_char(in, 'z'))
		return true;
	int sign = take_char(in, '-') ? -1 : 1;
	int hours, minutes;
	if ((sign > 0 && !take_char(in, '+')) || !take_number(in, 2, 0, 23, &hours) ||
	    !take_char(in, ':') || !take_number(in, 2, 0, 59, &minutes))
		return false;
	*ret_minutes = sign * (60 * hours + minutes);
	return true;
}

bool time_parse(const char *text, size_t length, int64_t *ret_time_ms)
{
	struct cursor in = {text, text + length};
	int64_t days;
	int hour, minute, second, ms, offset;
	if (!take_date(&in, &days) || !(take_char(&in, 'T') || take_char(&in, 't')) ||
	    !take_number(&in, 2, 0, 23, &hour) || !take_char(&in, ':') ||
	    !take_number(&in, 2, 0, 59, &minute) || !take_char(&in, ':') ||
	    !take_number(&in, 2, 0, 59, &second) || !take_fraction(&in, &ms) ||
	    !take_offset(&in, &offset) || in.at != in.end)
		return false;
	int64_t time_ms = days * DAY_MS + (60 * hour + minute - offset) * INT64_C(60000) +
	                  INT64_C(1000) * second + ms;
	if (time_ms < 0 || time_ms > TIME_MAX_MS)
		return false;
	*ret_time_ms = time_ms;
	return true;
}

bool date_parse(const char *text, size_t length, int64_t *ret_time_ms)
{
	struct cursor in = {text, text + length};
	int64_t days;
	if (!take_date(&in, &days) || in.at != in.end)
		return false;
	*ret_time_ms = days * DAY_MS;
	return true;
}

struct time_of_day time_of_day_split(const char *text)
{
	struct time_of_day at = {.zone = text + strcspn(text, " ")};
	snprintf(at.time, sizeof(at.time), "%.*s", (int)(at.zone - text), text);
	at.zone += strspn(at.zone, " ");
	if (!*at.zone)
		at.zone = "UTC";
	return at;
}

bool time_of_day_is_valid(const struct time_of_day *at)
{
	struct cursor in = {at->time, at->time + strlen(at->time)};
	int hour, minute;
	return take_number(&in, 2, 0, 23, &hour) && take_char(&in, ':') &&
	       take_number(&in, 2, 0, 59, &minute) && in.at == in.end;
}
