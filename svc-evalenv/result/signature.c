#include "result/signature.h"

#include "crypto/crypto.h"

#include <stdlib.h>
#include <string.h>

#define VERSION           "v1,"
#define TIMESTAMP_MAX_LEN 15

static bool is_recent(const char *timestamp, int64_t now_s)
{
	size_t length = strlen(timestamp);
	if (length == 0 || length > TIMESTAMP_MAX_LEN || timestamp[strspn(timestamp, "0123456789")])
		return false;
	return llabs((long long)now_s - strtoll(timestamp, NULL, 10)) <= SIGNATURE_AGE_MAX_S;
}

static void compute(struct arena *arena, const struct webhook_key *key, const char *id,
                    const char *timestamp, const char *content, size_t length,
                    uint8_t out[SHA256_LEN])
{
	struct buf text = {.arena = arena};
	buf_printf(&text, "%s.%s.", id, timestamp);
	buf_add(&text, content, length);
	hmac_sha256(key->bytes, key->length, text.data, text.length, out);
}

const char *signature_make(struct arena *arena, const struct webhook_key *key, const char *id,
                           const char *timestamp, const char *content, size_t length)
{
	uint8_t made[SHA256_LEN];
	compute(arena, key, id, timestamp, content, length, made);
	return arena_printf(arena, VERSION "%s", base64_encode(arena, made, sizeof(made)));
}

/* Whether one of the signatures, separated by spaces, is `right`. All of them are compared. */
static bool is_among(struct arena *arena, const char *signatures, const uint8_t right[SHA256_LEN])
{
	bool is_found = false;
	for (const char *at = signatures; *at; at += strspn(at, " ")) {
		size_t end = strcspn(at, " "), length;
		if (strncmp(at, VERSION, strlen(VERSION)) == 0) {
			const char *text = at + strlen(VERSION);
			const void *given =
				base64_decode(arena, text, end - strlen(VERSION), &length);
			if (given && length == SHA256_LEN &&
			    equal_constant_time(given, right, SHA256_LEN))
				is_found = true;
		}
		at += end;
	}
	return is_found;
}

bool signature_is_valid(const struct webhook_key *key, const struct signed_fields *fields,
                        const char *content, size_t length, int64_t now_s)
{
	uint8_t right[SHA256_LEN];
	if (!fields->id || !fields->timestamp || !fields->signatures ||
	    !is_recent(fields->timestamp, now_s))
		return false;
	struct arena *arena = arena_new_wiped();
	compute(arena, key, fields->id, fields->timestamp, content, length, right);
	bool is_valid = is_among(arena, fields->signatures, right);
	arena_free(arena);
	return is_valid;
}
