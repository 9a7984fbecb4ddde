/** libcommon/pacing/: when to try again (failure_pause.h) and how much memory requests may occupy
 * (budget.h). This header has waiting times before retries. */
#pragma once

#include <stdint.h>

/** Exponential backoff with jitter: `base_ms`, doubled with each failure after the first, at most
 * `max_ms`; then a random time between half of that and all of it, so that clients that failed
 * together do not retry together. */
uint64_t backoff_ms(unsigned failures, uint64_t base_ms, uint64_t max_ms);

/** `ms` plus or minus a random part of up to a fifth. */
uint64_t jitter_ms(uint64_t ms);
