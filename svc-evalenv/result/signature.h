/** Signatures of Standard Webhooks (https://github.com/standard-webhooks/standard-webhooks, spec,
 * "Signature scheme"):
 *
 *     webhook-id: msg_p5jXN8AQM9LWM0D4loKWxJek
 *     webhook-timestamp: 1614265330
 *     webhook-signature: v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4= v1,…
 *
 * A signature is the base64 of the HMAC-SHA-256 of `id.timestamp.content`. A sender that replaces
 * its secret signs with both, so one of several is enough. Others than v1 are ignored. */
#pragma once

#include "template/webhook_secret.h"

/** What a delivery has besides its content; NULL: it lacks it. */
struct signed_fields {
	const char *id, *timestamp, *signatures;
};

#define SIGNATURE_AGE_MAX_S 300

/** The signature of a delivery, `v1,` and base64; in the arena, which should be wiped when it is
 * freed. */
const char *signature_make(struct arena *arena, const struct webhook_key *key, const char *id,
                           const char *timestamp, const char *content, size_t length);

/** Whether one of the signatures is the key's, and the time is within five minutes of `now_s`, a
 * Unix time. The comparison takes a time that does not depend on the key. Takes about 3 ms for a
 * megabyte: for the thread pool, when the content is large. */
bool signature_is_valid(const struct webhook_key *key, const struct signed_fields *fields,
                        const char *content, size_t length, int64_t now_s);
