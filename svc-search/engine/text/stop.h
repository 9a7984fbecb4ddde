/** Work that takes long looks now and then whether it is still wanted. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/** Whether the work is to be given up; `stop` may be NULL: it is not. Any thread. */
static inline bool stop_is_set(const atomic_bool *stop)
{
	return stop && atomic_load_explicit(stop, memory_order_relaxed);
}
