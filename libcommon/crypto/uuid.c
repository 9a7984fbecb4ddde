#include "crypto/uuid.h"

#include "base/timefmt.h"
#include "crypto/crypto.h"

#include <string.h>

#define RANDOM_BYTES   8  /* after the time and the counter */
#define RANDOM_IN_POOL 64 /* random parts per getrandom(2) */
#define COUNTER_BITS   12
/* a millisecond starts in the lower half, to leave room for counting */
#define COUNTER_START 0x7ff

/* State per thread. `last` is the time and the counter of the last id as one number, so that a
 * counter that overflows carries into the time (RFC 9562 section 6.2, method 1). */
static _Thread_local struct {
	uint64_t last;
	size_t left; /* unused parts of the pool; taken from its end */
	uint8_t pool[RANDOM_IN_POOL][RANDOM_BYTES];
} state;

static const uint8_t *random_take(void)
{
	if (state.left == 0) {
		random_bytes(state.pool, sizeof(state.pool));
		state.left = RANDOM_IN_POOL;
	}
	return state.pool[--state.left];
}

/* Write the low `bytes` bytes of `value`, highest first. */
static void put_big_endian(uint8_t *out, uint64_t value, int bytes)
{
	for (int i = bytes - 1; i >= 0; i--, value >>= 8)
		out[i] = (uint8_t)value;
}

struct uuid uuid_new(void)
{
	uint64_t now = (uint64_t)time_now_ms() << COUNTER_BITS;
	if (now >> COUNTER_BITS > state.last >> COUNTER_BITS) {
		uint16_t start;
		memcpy(&start, random_take(), sizeof(start));
		state.last = now | (start & COUNTER_START);
	} else {
		state.last++;
	}

	struct uuid uuid;
	put_big_endian(uuid.bytes, state.last >> COUNTER_BITS, 6);
	put_big_endian(uuid.bytes + 6, 0x7000 | (state.last & 0xfff), 2);
	memcpy(uuid.bytes + 8, random_take(), RANDOM_BYTES);
	uuid.bytes[8] = 0x80 | (uuid.bytes[8] & 0x3f);
	return uuid;
}

struct uuid uuid_of_hash(const void *data, size_t length)
{
	uint8_t hash[SHA256_LEN];
	struct uuid uuid;
	sha256(data, length, hash);
	memcpy(uuid.bytes, hash, sizeof(uuid.bytes));
	uuid.bytes[6] = 0x80 | (uuid.bytes[6] & 0x0f); /* RFC 9562 section 5.8 */
	uuid.bytes[8] = 0x80 | (uuid.bytes[8] & 0x3f);
	return uuid;
}

static bool is_dash_at(size_t position)
{
	return position == 8 || position == 13 || position == 18 || position == 23;
}

bool uuid_parse(const char *text, size_t length, struct uuid *ret_uuid)
{
	if (length != UUID_TEXT_LEN)
		return false;
	char hex[2 * sizeof(ret_uuid->bytes)];
	size_t count = 0;
	for (size_t i = 0; i < length; i++) {
		if (!is_dash_at(i))
			hex[count++] = text[i];
		else if (text[i] != '-')
			return false;
	}
	struct uuid uuid;
	if (!hex_decode(hex, count, uuid.bytes, sizeof(uuid.bytes)))
		return false;
	*ret_uuid = uuid;
	return true;
}

void uuid_format(const struct uuid *uuid, char out[UUID_TEXT_LEN + 1])
{
	char hex[2 * sizeof(uuid->bytes) + 1];
	hex_encode(uuid->bytes, sizeof(uuid->bytes), hex);
	size_t count = 0;
	for (size_t i = 0; i < UUID_TEXT_LEN; i++)
		out[i] = is_dash_at(i) ? '-' : hex[count++];
	out[UUID_TEXT_LEN] = '\0';
}

bool uuid_equal(const struct uuid *a, const struct uuid *b)
{
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

bool uuid_is_nil(const struct uuid *uuid)
{
	static const struct uuid NIL;
	return uuid_equal(uuid, &NIL);
}
