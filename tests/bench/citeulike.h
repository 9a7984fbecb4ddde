/** A CiteULike collection as vectors, and how well a model finds the rest of a user's library.
 *
 * Protocol: each user has `known` of their papers, or half, taken at random with a fixed seed; a
 * model is fitted to those, with BACKGROUND papers that are not among them; it ranks all other
 * papers. AUC and Recall@50 of the user's other papers, means over users. */
#pragma once

#include "preference/preference.h"

struct collection {
	struct arena *arena;
	struct frequency_table *frequencies;
	const struct features **papers;
	size_t paper_count;
	struct library *libraries;
	size_t library_count;
};

/** A user's papers, as places in `papers`. */
struct library {
	uint32_t *papers;
	size_t count;
};

struct quality {
	double auc;
	double recall_at_50;
	size_t users;
};

/** Load `directory` (corpus.jsonl.gz and users.jsonl or users.jsonl.gz); NULL when it is not there.
 * `dense_path` NULL, or a file of embeddings: the papers' vectors in the order of the corpus, as
 * 32-bit floats of this machine and nothing else. */
struct collection *collection_load(const char *directory, const char *dense_path);

void collection_free(struct collection *collection);

/** Known papers a user; KNOWN_HALF is half of the library. */
#define KNOWN_HALF 0

/** Measure over every `stride`-th user. */
struct quality collection_quality(const struct collection *collection, size_t known, size_t stride);
