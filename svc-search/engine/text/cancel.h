/** The cancel flag of long work, which the work polls. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/** Whether the flag is set; never when `cancel` is NULL. Safe from any thread. */
static inline bool is_cancelled(const atomic_bool *cancel)
{
	return cancel && atomic_load_explicit(cancel, memory_order_relaxed);
}
