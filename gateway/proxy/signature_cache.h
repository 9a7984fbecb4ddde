/** Per-worker cache of signed identities (crypto/identity.h), by receiver and caller.
 *
 * A signed identity depends on the caller and the receiver and not on the request, so it is used
 * for SIGNATURE_REUSE_MS, unless the caller's identity has changed. Of a proxied request's
 * instructions a tenth are then spent on signing it; without the cache it would be half (measured
 * with callgrind). Those of callers who are gone are freed as others come.
 */
#pragma once

#include "base/arena.h"
#include "crypto/identity.h"

#include <stdint.h>

/** A small part of IDENTITY_LIFETIME_MS: the rest is for requests on their way and for clocks that
 * differ. */
#define SIGNATURE_REUSE_MS 10000

struct signature_cache;
struct signature_cache *signature_cache_new(void);

/** Wipe and free. Accepts NULL. */
void signature_cache_free(struct signature_cache *cache);

/** The value of IDENTITY_HEADER for a request of the caller, in the arena. The signer must outlive
 * the cache. */
const char *signature_cache_sign(struct signature_cache *cache,
                                 const struct identity_signer *signer,
                                 const struct identity *caller, struct arena *arena,
                                 const struct identity_request *request, int64_t now_ms);
