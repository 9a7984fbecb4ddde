/** The papers that an embedder is trained on.
 *
 * A sample depends only on which papers there are and on their texts: of a corpus of more than
 * SAMPLE_MAX_DOCS papers it has those whose ids have the smallest hashes, papers are in the order
 * of these hashes, and terms are numbered by descending document frequency, then by text. (As in
 * segments, the frequency counts extra tokens, too.) So the same corpus gives the same sample,
 * whatever parts its index has and in which order the papers came.
 *
 *     sample = sample_new(max, corpus_count)
 *     sample_add(sample, segment, map, doc)      for each paper, in order
 *     sample_finish(sample)
 */
#pragma once

#include "engine/lexical/segment.h"
#include "engine/text/intern.h"

#include <stddef.h>
#include <stdint.h>

/** Maximum papers of a sample. */
#define SAMPLE_MAX_DOCS 100000

/** Maximum vocabulary: the terms with the highest document frequency. */
#define SAMPLE_MAX_TERMS 50000

/** Tokens of a paper that are in the sample; later ones are ignored. */
#define SAMPLE_DOC_TOKENS 1024

/** Bytes of a fingerprint: SHA-256. */
#define SAMPLE_FINGERPRINT_BYTES 32

struct sample_count {
	uint32_t df;
	uint32_t last; /* number + 1 of the last paper that contains it */
};

struct sample {
	uint32_t corpus_count; /* papers of the corpus that it was taken from */
	uint32_t doc_count;
	uint32_t term_count;    /* terms of two or more papers, at most SAMPLE_MAX_TERMS */
	size_t *starts;         /* doc_count + 1: where the tokens of each paper start */
	uint32_t *title_counts; /* by paper: how many tokens are of the title; they come first */
	uint32_t *tokens;    /* term numbers in the order of the text; other terms are left out */
	uint32_t *df;        /* by term: papers of the sample that contain it */
	uint32_t *names;     /* by term: its number in `texts` */
	struct intern texts; /* of the terms, and of others */
	/* Until it is finished: */
	uint32_t doc_capacity;
	size_t token_capacity;
	struct sample_count *counts; /* by number in `texts` */
	size_t count_capacity;
};

/** An empty sample for at most `doc_capacity` papers of a corpus of `corpus_count`. */
struct sample *sample_new(uint32_t doc_capacity, uint32_t corpus_count);

/** Accepts NULL. */
void sample_free(struct sample *sample);

/** Add paper `doc` of `segment`. `map` has an element for each term of the segment, zero at first;
 * pass the same one with each paper of the segment. */
void sample_add(struct sample *sample, const struct segment *segment, uint32_t *map, uint32_t doc);

/** Number the terms. Nothing can be added afterwards. */
void sample_finish(struct sample *sample);

/** The text of a term. Borrowed. */
const char *sample_term_text(const struct sample *sample, uint32_t term);

/** Write a digest of everything that training can depend on. */
void sample_fingerprint(const struct sample *sample, uint8_t out[SAMPLE_FINGERPRINT_BYTES]);

/** How often token `i` of paper `doc` counts: those of the title BM25_TITLE_WEIGHT times. */
uint32_t sample_weight(const struct sample *sample, uint32_t doc, size_t i);

/** Where the papers of a corpus stand in the order of samples; equal ones by id. */
uint32_t sample_order(const char *id);
