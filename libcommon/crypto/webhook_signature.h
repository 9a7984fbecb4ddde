/** Signatures of Standard Webhooks 1.0.0 (https://github.com/standard-webhooks/standard-webhooks,
 * spec, "Signature scheme"):
 *
 *     webhook-id: msg_p5jXN8AQM9LWM0D4loKWxJek
 *     webhook-timestamp: 1614265330
 *     webhook-signature: v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4= v1,…
 *
 * A signature is the base64 of the HMAC-SHA-256 of `id.timestamp.content`. A sender that replaces
 * its secret signs with both, so one of several is enough. Others than v1 are ignored. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The key that a secret stands for: `whsec_` and the base64 of 24 to 64 bytes. */
struct webhook_key {
	const void *bytes;
	size_t length;
};

/** A new secret of 32 random bytes; in the arena, which should be wiped when it is freed. */
const char *webhook_secret_new(struct arena *arena);

/** Decode a secret, in the arena. False: it is none. */
bool webhook_secret_decode(struct arena *arena, const char *text, struct webhook_key *ret_key);

/** For the `check` of a field. */
bool webhook_secret_check(const char *text, size_t length, const char **ret_message);

/** What a delivery has besides its content; NULL: it lacks it. */
struct signed_fields {
	const char *id, *timestamp, *signatures;
};

#define SIGNATURE_AGE_MAX_S 300

/** Append a key's signature of a delivery to a value of `webhook-signature`, whose arena should be
 * wiped when it is freed. `fields->signatures` is not read. */
void webhook_signature_add(struct buf *signatures, const struct webhook_key *key,
                           const struct signed_fields *fields, const char *content, size_t length);

/** Whether one of the signatures is the key's, and the time is within five minutes of `now_s`, a
 * Unix time. The comparison takes a time that does not depend on the key. Takes about 3 ms for a
 * megabyte: for the thread pool, when the content is large. */
bool webhook_signature_is_valid(const struct webhook_key *key, const struct signed_fields *fields,
                                const char *content, size_t length, int64_t now_s);
