/** The BM25 formula (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and
 * Beyond", 2009). Title and abstract are combined as in simple BM25F (section 3.6): an occurrence
 * in the title counts BM25_TITLE_WEIGHT times, and the formula is applied to the sum.
 *
 *     score(query, document) = sum over terms: weight x impact
 *     weight = query frequency x idf,  idf = ln(1 + (N - df + 0.5) / (df + 0.5))
 *     impact = f (k1 + 1) / (f + k1 (1 - b + b length / average length))
 *
 * The constants are the same for every collection. The #ifndef here, in proximity.h and in fusion.h
 * let tests/bench/search_left_out compile the engine with other values: it measures how well
 * constants work on a collection that they were not tuned on.
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

/** Weight of an occurrence in the title, in frequencies and in lengths; 1 in the abstract. */
#define BM25_TITLE_WEIGHT 2

/** Weight of a term of an author's name, in frequencies only: names do not add to the length. */
#define BM25_AUTHOR_WEIGHT 2

/** How often the terms of the first author's name count. */
#define BM25_FIRST_AUTHOR_COUNT 3

/** Weighted frequencies are capped at this value. */
#define BM25_MAX_FREQUENCY 255

/** Relevance is computed with a *smoothed* idf, that of a corpus with this many documents more, of
 * which this many have the term. A few documents do not show which words are rare, and words
 * that none has would weigh most. Ranking does without it, because nDCG@10 is higher so. */
#define BM25_SMOOTHING_DOCS 1000
#define BM25_SMOOTHING_DF   10

/** Inverse document frequency of a term that occurs in `df` of `doc_count` documents. */
static inline float bm25_idf(uint32_t df, uint32_t doc_count)
{
	float n = (float)(df > doc_count ? df : doc_count);
	return logf(1.0f + (n - (float)df + 0.5f) / ((float)df + 0.5f));
}

/** The same, smoothed. */
static inline float bm25_smoothed_idf(uint32_t df, uint32_t doc_count)
{
	return bm25_idf(df + BM25_SMOOTHING_DF, doc_count + BM25_SMOOTHING_DOCS);
}

/** The length part of the denominator: k1 (1 - b + b length / average length). `length` is
 * weighted. */
static inline float bm25_norm(float length, float average_length)
{
	return BM25_K1 * (1.0f - BM25_B + BM25_B * length / average_length);
}

/** The impact of a weighted frequency in a document with this bm25_norm(). */
static inline float bm25_impact(float frequency, float norm)
{
	return frequency * (BM25_K1 + 1.0f) / (frequency + norm);
}
