/** How much a term's occurrences in a document say: BM25 (Robertson and Zaragoza, "The
 * Probabilistic Relevance Framework: BM25 and Beyond", 2009), over title and abstract in the simple
 * BM25F manner: an occurrence in the title counts as BM25_TITLE_WEIGHT, and the sum saturates as
 * one frequency (there, section 3.6).
 *
 * score(query, document) = sum over terms: weight x impact
 * weight = query frequency x idf,  idf = ln(1 + (N - df + 0.5) / (df + 0.5))
 * impact = f (k1 + 1) / (f + k1 (1 - b + b length / average length))
 *
 * The constants are the same for every collection. tests/bench/search_left_out compiles the engine
 * with others in their place, which is what the #ifndef are for, here and in proximity.h and fusion.h:
 * it measures how well constants serve a collection that had no say in them.
 */
#pragma once

#include <math.h>
#include <stdint.h>

#ifndef BM25_K1
#define BM25_K1 1.2f
#endif
#ifndef BM25_B
#define BM25_B 0.65f
#endif

/** What an occurrence in the title counts as, in a frequency and in a length. */
#define BM25_TITLE_WEIGHT 2

/** Weighted frequencies are kept up to here. */
#define BM25_MAX_FREQUENCY 255

/** Inverse document frequency of a term in `df` of `doc_count` documents. */
static inline float bm25_idf(uint32_t df, uint32_t doc_count)
{
	float n = (float)(df > doc_count ? df : doc_count);
	return logf(1.0f + (n - (float)df + 0.5f) / ((float)df + 0.5f));
}

/** The part of the denominator that depends on the document's weighted length alone. */
static inline float bm25_norm(float length, float average_length)
{
	return BM25_K1 * (1.0f - BM25_B + BM25_B * length / average_length);
}

/** `frequency` is the weighted one, `norm` from bm25_norm(). */
static inline float bm25_impact(float frequency, float norm)
{
	return frequency * (BM25_K1 + 1.0f) / (frequency + norm);
}
