/** The words of a provider, made fit for logs, answers and rows. */
#pragma once

#include "base/arena.h"

/** A copy of `text` in the arena: at most 300 bytes of valid UTF-8, with spaces in place of control
 * characters, and with `***` in place of each of `secrets` (ends with NULL), because some providers
 * quote what they were sent; of those under 8 bytes only where they are words of their own. NULL:
 * `text` is NULL or empty. */
const char *reason_clean(struct arena *arena, const char *text, const char *const *secrets);
