#include "key/key_text.h"

#include <string.h>

#define RANDOM_LEN   32
#define CHECKSUM_LEN 6

#define SESSION_BYTES 32
#define SESSION_LEN   43 /* in base64url */

static const char BASE62[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

static const char BASE64URL[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static const char *const PREFIXES[] = {[KEY_PERSONAL] = "usr_", [KEY_AUTOMATION] = "auto_"};

/* Six digits are enough for any CRC-32: 62^6 > 2^32. */
static void checksum(const char *text, size_t length, char out[CHECKSUM_LEN])
{
	uint32_t crc = crc32_of(text, length);
	for (int i = CHECKSUM_LEN - 1; i >= 0; i--) {
		out[i] = BASE62[crc % 62];
		crc /= 62;
	}
}

void key_text_make(enum key_kind kind, char out[KEY_TEXT_MAX + 1])
{
	require(kind == KEY_PERSONAL || kind == KEY_AUTOMATION);
	size_t prefix = strlen(PREFIXES[kind]);
	memcpy(out, PREFIXES[kind], prefix);
	random_base62(out + prefix, RANDOM_LEN);
	checksum(out, prefix + RANDOM_LEN, out + prefix + RANDOM_LEN);
	out[prefix + RANDOM_LEN + CHECKSUM_LEN] = '\0';
}

bool key_text_is_valid(const char *text)
{
	size_t length = strlen(text);
	for (size_t i = 0; i < ARRAY_LEN(PREFIXES); i++) {
		size_t prefix = strlen(PREFIXES[i]);
		if (length != prefix + RANDOM_LEN + CHECKSUM_LEN ||
		    strncmp(text, PREFIXES[i], prefix) != 0)
			continue;
		char expected[CHECKSUM_LEN];
		if (strspn(text + prefix, BASE62) != RANDOM_LEN + CHECKSUM_LEN)
			return false;
		checksum(text, length - CHECKSUM_LEN, expected);
		return memcmp(expected, text + length - CHECKSUM_LEN, CHECKSUM_LEN) == 0;
	}
	return false;
}

char *session_text_new(struct arena *arena)
{
	uint8_t bytes[SESSION_BYTES];
	random_bytes(bytes, sizeof(bytes));
	return base64url_encode(arena, bytes, sizeof(bytes));
}

bool session_text_is_valid(const char *text)
{
	return strlen(text) == SESSION_LEN && strspn(text, BASE64URL) == SESSION_LEN;
}

void key_text_hash(const char *text, uint8_t out[SHA256_LEN])
{
	sha256(text, strlen(text), out);
}
