/** UUIDs (RFC 9562). New ones are version 7: milliseconds of Unix time, then random bits, ascending
 * within a thread, so that ids sort by the time they were made. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uuid {
	uint8_t bytes[16];
};

#define UUID_TEXT_LEN 36

/** A new version 7 UUID. Thread-safe. */
struct uuid uuid_new(void);

/** Read the 36-character form, either case. Any version is taken, as Postgres does. `length` of
 * text. */
bool uuid_parse(const char *text, size_t length, struct uuid *ret_uuid);

/** Write lower-case text with a NUL into `out`. */
void uuid_format(const struct uuid *uuid, char out[UUID_TEXT_LEN + 1]);

bool uuid_equal(const struct uuid *a, const struct uuid *b);
bool uuid_is_nil(const struct uuid *uuid);
