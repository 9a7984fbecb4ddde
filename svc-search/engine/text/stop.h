/** Cancellation of long work: the work reads a flag from time to time and stops when it is set. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/** Whether the work should stop; false if `stop` is NULL. May be called from any thread. */
static inline bool stop_is_set(const atomic_bool *stop)
{
	return stop && atomic_load_explicit(stop, memory_order_relaxed);
}
