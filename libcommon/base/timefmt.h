/** Times as the API writes them: RFC 3339, UTC, `Z`, milliseconds (`2026-01-31T09:30:00.000Z`), and
 * dates as `YYYY-MM-DD`. A time is milliseconds since the Unix epoch. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIME_TEXT_LEN 24
#define DATE_TEXT_LEN 10

/** Now, by the wall clock. */
int64_t time_now_ms(void);

/** A clock that never goes back, for deadlines and durations; its zero means nothing. */
uint64_t time_monotonic_ms(void);
uint64_t time_monotonic_us(void);

/** A time outside the years 0000 to 9999 is written as the nearest that is inside. */
void time_format(int64_t time_ms, char out[TIME_TEXT_LEN + 1]);
void date_format(int64_t time_ms, char out[DATE_TEXT_LEN + 1]);

/** Strict RFC 3339 with any offset and 0 to 9 fraction digits; years 1970 to 9999, leap second 60
 * is refused. */
bool time_parse(const char *text, size_t length, int64_t *ret_time_ms);

/** `YYYY-MM-DD`, a day that exists; midnight UTC. */
bool date_parse(const char *text, size_t length, int64_t *ret_time_ms);
