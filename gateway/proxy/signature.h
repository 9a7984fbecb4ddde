/** Signed identities of the callers seen last.
 *
 * Signing is the dearest computation of a request that is passed on (a fifth of the proxy's own
 * instructions, by callgrind). A caller's signature says who it is, not what it asks, and lives
 * IDENTITY_TTL_MS: so one is used again for SIGNATURE_REUSE_MS, by one worker, as long as nothing
 * about the caller has changed. */
#pragma once

#include "base/arena.h"
#include "base/identity.h"

#include <stdint.h>

#define SIGNATURE_REUSE_MS 1000

struct signatures;

/** Borrows the signer. */
struct signatures *signatures_new(const struct identity_signer *signer);

/** Wipes them. NULL is fine. */
void signatures_free(struct signatures *signatures);

/** The value of IDENTITY_HEADER for the caller; valid until the next call, or as long as the arena
 * when it could not be kept. */
const char *signature_of(struct signatures *signatures, struct arena *arena,
                         const struct identity *caller, int64_t now_ms);
