/** Per-worker cache of the signed identities of callers, by the id of their key.
 *
 * Signing is the most expensive computation of a proxied request (a fifth of the proxy's own
 * instructions, measured with callgrind). A signature depends on the caller and not on the request,
 * and is valid for IDENTITY_TTL_MS. So it is reused for SIGNATURE_REUSE_MS, unless the caller's
 * identity has changed.
 */
#pragma once

#include "base/arena.h"
#include "base/identity.h"

#include <stdint.h>

#define SIGNATURE_REUSE_MS 1000

struct signature_cache;

/** Borrows the signer. */
struct signature_cache *signature_cache_new(const struct identity_signer *signer);

/** Wipe and free. Accepts NULL. */
void signature_cache_free(struct signature_cache *cache);

/** The value of IDENTITY_HEADER for the caller. Valid until the next call; a value too long for the
 * cache is in the arena. */
const char *signature_cache_get(struct signature_cache *cache, struct arena *arena,
                                const struct identity *caller, int64_t now_ms);
