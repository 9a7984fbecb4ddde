/** The end of a growing text, in memory of a fixed size. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAIL_SIZE ((size_t)16 << 10)

/** Initialise to zero. */
struct tail {
	char bytes[TAIL_SIZE]; /* byte n of the text is at n % TAIL_SIZE */
	uint64_t length;       /* of the whole text */
	uint64_t taken;        /* of which tail_take() has given this much */
};

void tail_add(struct tail *tail, const char *data, size_t length);

/** What was added since the last call, as valid UTF-8 without NUL; where that was more than there
 * is room for, a line that says how much is missing, and the end. A sequence that is not complete
 * waits for its rest, unless `is_last`. NULL: nothing. */
const char *tail_take(struct arena *arena, struct tail *tail, bool is_last);
