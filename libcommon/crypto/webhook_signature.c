#include "crypto/webhook_signature.h"

#include "crypto/crypto.h"

#include <stdlib.h>
#include <string.h>

#define PREFIX            "whsec_"
#define NEW_BYTES         32
#define BYTES_MIN         24
#define BYTES_MAX         64
#define VERSION           "v1,"
#define TIMESTAMP_MAX_LEN 15

const char *webhook_secret_new(struct arena *arena)
{
	uint8_t key[NEW_BYTES];
	random_bytes(key, sizeof(key));
	const char *text = arena_printf(arena, PREFIX "%s", base64_encode(arena, key, sizeof(key)));
	memset(key, 0, sizeof(key));
	return text;
}

bool webhook_secret_decode(struct arena *arena, const char *text, struct webhook_key *ret_key)
{
	size_t length;
	if (strncmp(text, PREFIX, strlen(PREFIX)) != 0)
		return false;
	text += strlen(PREFIX);
	void *bytes = base64_decode(arena, text, strlen(text), &length);
	if (!bytes || length < BYTES_MIN || length > BYTES_MAX)
		return false;
	*ret_key = (struct webhook_key){bytes, length};
	return true;
}

bool webhook_secret_check(const char *text, size_t length, const char **ret_message)
{
	struct arena *arena = arena_new_wiped();
	struct webhook_key key;
	bool is_secret = webhook_secret_decode(arena, arena_strndup(arena, text, length), &key);
	arena_free(arena);
	*ret_message = "must be whsec_ and the base64 of 24 to 64 bytes";
	return is_secret;
}

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

void webhook_signature_add(struct buf *signatures, const struct webhook_key *key,
                           const struct signed_fields *fields, const char *content, size_t length)
{
	uint8_t made[SHA256_LEN];
	compute(signatures->arena, key, fields->id, fields->timestamp, content, length, made);
	buf_printf(signatures, "%s" VERSION "%s", signatures->length ? " " : "",
	           base64_encode(signatures->arena, made, sizeof(made)));
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

bool webhook_signature_is_valid(const struct webhook_key *key, const struct signed_fields *fields,
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
