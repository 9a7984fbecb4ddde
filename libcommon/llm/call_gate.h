/** Limits the calls of a server that all threads of a process share: how many run at once, how many
 * of them for one account, and none during a pause after a failure. Nobody queues: who is not let
 * in goes on without the server. Thread-safe.
 *
 * An account may have a quarter of the calls, at least one, so that one account cannot keep the
 * others from the server. */
#pragma once

#include "crypto/uuid.h"
#include "pacing/failure_pause.h"

#include <pthread.h>
#include <stddef.h>

#define CALL_GATE_MAX 64 /* most calls at once */

struct call_gate {
	pthread_mutex_t lock;
	size_t limit;                        /* of calls at once, 1 to CALL_GATE_MAX */
	size_t running;                      /* calls */
	struct uuid accounts[CALL_GATE_MAX]; /* of the running calls; nil: for no account */
	struct failure_pause pause;
};

enum call_gate_entry { GATE_ENTERED, GATE_FULL, GATE_PAUSED };

/** Enter for one call. GATE_ENTERED must be followed by call_gate_leave(). */
enum call_gate_entry call_gate_enter(struct call_gate *gate, const struct uuid *account);

/** What a call showed of the server. */
enum call_gate_sign { GATE_NO_SIGN, GATE_SERVER_WORKS, GATE_SERVER_FAILED };

/** Leave after the call. `retry_after_ms` is the time that the failed server named; 0: none. */
void call_gate_leave(struct call_gate *gate, const struct uuid *account, enum call_gate_sign sign,
                     uint64_t retry_after_ms);
