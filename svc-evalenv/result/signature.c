#include "result/signature.h"

#include "base/crypto.h"

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
	struct buf text = {.arena = arena};
	buf_printf(&text, "%s.%s.", fields->id, fields->timestamp);
	buf_add(&text, content, length);
	hmac_sha256(key->bytes, key->length, text.data, text.length, right);
	bool is_valid = is_among(arena, fields->signatures, right);
	arena_free(arena);
	return is_valid;
}
