/** How long to wait before the next try. */
#pragma once

#include <stdint.h>

/** `base_ms` doubled with each failure after the first, `max_ms` at most; half of that and, by
 * chance, up to as much again, so that those who failed together do not come back together. */
uint64_t backoff_ms(unsigned failures, uint64_t base_ms, uint64_t max_ms);

/** A pause of `ms`, a fifth more or less by chance. */
uint64_t spread_ms(uint64_t ms);
