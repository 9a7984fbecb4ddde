/** The inner loops of a lexical search over many values at once.
 *
 * Each function has a plain C version and one for AVX2, which is selected at run time on processors
 * that have it. Both give the same bits: they do the same operations in the same order.
 */
#pragma once

#include "engine/lexical/bm25.h"
#include "engine/lexical/postings.h"

#include <stddef.h>
#include <stdint.h>

/** Greatest sum of the scaled weights times the greatest impact. */
#define SCORE_MAX 4194304.0f

/** The score of one term in one document: a whole number up to SCORE_MAX. In the sum below a
 * unit in the last place is 1, which rounds to the nearest. */
static inline float score_posting(float weight, float frequency, float norm)
{
	return weight * bm25_impact(frequency, norm) + 3 * SCORE_MAX - 3 * SCORE_MAX;
}

/** score_posting() of each posting of a block. All arrays have room for POSTINGS_BLOCK; those past
 * `count` are not used. */
void score_postings(float weight, const uint8_t *frequencies, const float *norms, size_t count,
                    float *scores);

/** Bit i: whether scores[i] + `rest` is above `threshold`, for 64 scores. */
uint64_t scores_above(const float *scores, float rest, float threshold);
