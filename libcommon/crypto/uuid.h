/** UUIDs (RFC 9562). New ones have version 7: Unix time in milliseconds, then random bits. They
 * ascend within a thread, so that ids sort by creation time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uuid {
	uint8_t bytes[16];
};

#define UUID_TEXT_LEN 36

/** Make a version 7 UUID. Thread-safe. */
struct uuid uuid_new(void);

/** Make a version 8 UUID from the SHA-256 of `length` bytes: of equal bytes it is equal. */
struct uuid uuid_of_hash(const void *data, size_t length);

/** Parse the form of 36 characters, in either case and of any version, as Postgres does. */
bool uuid_parse(const char *text, size_t length, struct uuid *ret_uuid);

/** Write lower-case text and a NUL. */
void uuid_format(const struct uuid *uuid, char out[UUID_TEXT_LEN + 1]);

bool uuid_equal(const struct uuid *a, const struct uuid *b);
bool uuid_is_nil(const struct uuid *uuid);
