/** Reads the answer of an OpenAI-compatible embeddings endpoint:
 *
 *     {"data": [{"index": 0, "embedding": [0.01, -0.2, ...]}, ...], ...}
 */
#pragma once

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

/** Maximum elements of a vector; see simd_dot_rows(). */
#define EMBEDDING_MAX_DIMENSION 4096

struct embedding_response {
	float *vectors;     /* one after another, in the order of the texts; each has length 1 */
	uint32_t dimension; /* elements of each vector */
};

/** Read `body` (`length` bytes), the answer to `count` (> 0) texts. It must have one vector for
 * each text, all of the same dimension and none zero. An entry without "index" belongs to the text
 * at the same position. Returns NULL, or the reason for refusing it: a clause such as "it is not
 * JSON", in the arena. Any thread. */
const char *embedding_response_read(struct arena *arena, const char *body, size_t length,
                                    size_t count, struct embedding_response *ret_answer);
