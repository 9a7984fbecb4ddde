/** Per-worker cache of signed identities, by key.
 *
 * Signing is the most expensive computation of a proxied request (a fifth of the proxy's own
 * instructions, measured with callgrind). A signature depends on the caller and not on the request,
 * and is valid for IDENTITY_TTL_MS. So it is reused for SIGNATURE_REUSE_MS, unless something about
 * the caller has changed.
 */
#pragma once

#include "base/arena.h"
#include "base/identity.h"

#include <stdint.h>

#define SIGNATURE_REUSE_MS 1000

struct signatures;

/** Borrows the signer. */
struct signatures *signatures_new(const struct identity_signer *signer);

/** Wipe and free. Accepts NULL. */
void signatures_free(struct signatures *signatures);

/** The value of IDENTITY_HEADER for the caller. Valid until the next call; a value too long for the
 * cache is in the arena. */
const char *signature_of(struct signatures *signatures, struct arena *arena,
                         const struct identity *caller, int64_t now_ms);
