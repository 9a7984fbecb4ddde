/** Session tickets (RFC 5077, RFC 8446 section 4.6.1): the state of a session, sealed by a key that
 * only this process has, which the client keeps and returns to save half of a handshake.
 *
 * The keys are a chain: the key of each period of TICKET_PERIOD_MS is derived from that before it,
 * which is then wiped. All workers begin with the same first link and go by the same clock, so
 * they have the same keys and share nothing that changes. Who reads the memory of the process
 * learns the keys of this period and the last, and none of earlier ones. A ticket is taken in the
 * period in which it was made and in the next.
 */
#pragma once

#include "base/error.h"
#include "crypto/crypto.h"

#define TICKET_PERIOD_MS (UINT64_C(12) * 3600 * 1000)
#define TICKET_OVERHEAD  (4 + GCM_OVERHEAD) /* the number of its period before what is sealed */

/** The first link, of a process. */
struct ticket_seed {
	uint8_t link[SHA256_LEN];
	uint64_t started_ms; /* time_monotonic_ms() */
};

void ticket_seed_init(struct ticket_seed *seed, uint64_t now_ms);

/** The keys, of a worker. */
struct ticket_keys {
	uint64_t started_ms;
	uint32_t period; /* the latest that the keys are of */
	uint8_t link[SHA256_LEN];
	uint8_t now[GCM_KEY_LEN], before[GCM_KEY_LEN];
};

void ticket_keys_init(struct ticket_keys *keys, const struct ticket_seed *seed);
void ticket_keys_wipe(struct ticket_keys *keys);

/** Seal a session; `out` holds length + TICKET_OVERHEAD bytes. */
void ticket_seal(struct ticket_keys *keys, uint64_t now_ms, const void *session, size_t length,
                 uint8_t *out);

/** Open a ticket; `out` holds length - TICKET_OVERHEAD bytes. ERR_INVALID: it is none of these
 * keys', or too old. */
enum err_code ticket_open(struct ticket_keys *keys, uint64_t now_ms, const uint8_t *ticket,
                          size_t length, uint8_t *out) attr_must_use;
