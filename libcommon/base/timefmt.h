/** Clocks, and times as text. A time is a number of milliseconds since the Unix epoch. The API
 * writes times by RFC 3339, in UTC with `Z` and milliseconds (`2026-01-31T09:30:00.000Z`), and
 * dates as `YYYY-MM-DD`. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define TIME_TEXT_LEN 24
#define DATE_TEXT_LEN 10

/** The current time, by the wall clock. */
int64_t time_now_ms(void);

/** A clock that never goes back, for deadlines and durations; its origin is arbitrary. */
uint64_t time_monotonic_ms(void);
uint64_t time_monotonic_us(void);

/** The monotonic time in `ms` milliseconds, for pthread_cond_timedwait(). */
struct timespec time_monotonic_in(uint64_t ms);

/** A time of day in a time zone, which Postgres knows. */
struct time_of_day {
	char time[8]; /* `HH:MM`, or the beginning of something else */
	const char *zone;
};

/** Split `22:30 America/New_York`; without a zone it is UTC. The zone borrows. */
struct time_of_day time_of_day_split(const char *text);

/** Whether the time is one from 00:00 to 23:59; says nothing about the zone. */
bool time_of_day_is_valid(const struct time_of_day *at);

/** Format a time. A time outside the years 0000 to 9999 is replaced by the nearest one inside. */
void time_format(int64_t time_ms, char out[TIME_TEXT_LEN + 1]);
void date_format(int64_t time_ms, char out[DATE_TEXT_LEN + 1]);

/** Parse RFC 3339 with any offset and 0 to 9 fraction digits; digits after milliseconds are
 * dropped. False: other text, a year outside 1970 to 9999, or the leap second 60. */
bool time_parse(const char *text, size_t length, int64_t *ret_time_ms);

/** Parse `YYYY-MM-DD`, a day that exists, as midnight UTC. */
bool date_parse(const char *text, size_t length, int64_t *ret_time_ms);
