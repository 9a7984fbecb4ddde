/** Reading what an OpenAI-compatible embeddings endpoint answers:
 *
 *     {"data": [{"index": 0, "embedding": [0.01, -0.2, ...]}, ...], ...}
 */
#pragma once

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

/** Most elements of a vector; see simd_dot_rows(). */
#define EMBEDDING_MAX_DIMENSION 4096

struct embedding_answer {
	float *vectors;     /* one after another in the order of the texts, each of length 1 */
	uint32_t dimension; /* elements of each */
};

/** Read the answer to `count` (> 0) texts; `body` of `length` bytes. It has to hold one vector for
 * each text, all of one length, none of them zero. An entry without "index" is that of its place.
 * Returns NULL, or why it is not taken, a clause in the arena. Any thread. */
const char *embedding_answer_read(struct arena *arena, const char *body, size_t length,
                                  size_t count, struct embedding_answer *ret_answer);
