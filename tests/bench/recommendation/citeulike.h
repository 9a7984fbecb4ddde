/** A CiteULike collection as feature vectors, and the quality of the preference model on it.
 *
 * Protocol: `known` papers of each user's library, or half of it, are chosen pseudorandomly with a
 * fixed seed. The first of them is the interest's text. The prior knows only that; a model is
 * fitted to all of them as likes and to BACKGROUND other papers. Both rank all papers except the
 * known ones. The measures are AUC and Recall@50 of the rest of the library, averaged over users.
 * preference_api.py measures the same through the API. */
#pragma once

#include "preference/preference.h"

struct collection {
	struct arena *arena;
	struct frequency_table *frequencies;
	const struct features **papers;
	const struct features *
		*texts; /* of the papers as texts of interests: without dense vectors */
	size_t paper_count;
	struct library *libraries;
	size_t library_count;
};

/** The papers of a user, as indexes into `papers` of the collection. */
struct library {
	uint32_t *papers;
	size_t count;
};

/** Means over users. */
struct measures {
	double auc;
	double recall_at_50;
};

struct quality {
	struct measures prior; /* before feedback */
	struct measures fitted;
	size_t users;
};

/** Load `directory` (corpus.jsonl.gz and users.jsonl or users.jsonl.gz). NULL when it is missing.
 * `dense_path` is NULL or a file of embeddings: the vectors of the papers in the order of the
 * corpus, as 32-bit floats in the byte order of the machine. */
struct collection *collection_load(const char *directory, const char *dense_path);

void collection_free(struct collection *collection);

/** Value of `known` for half of the library. */
#define KNOWN_HALF 0

/** Measure every `stride`-th user. */
struct quality collection_quality(const struct collection *collection, size_t known, size_t stride);

/** Papers of a library that its user also tried, and how their outcomes count. */
struct trials {
	size_t count;
	/* enum preference_signal, whose weight is known; TRIAL_UNUSED: no example */
	int worked, failed;
	/* What works depends on the subject: the half of the library that is nearer to one of its
	 * papers works, and only that is to be found. Otherwise half of the trials work by chance,
	 * and the rest of the library is to be found. */
	bool has_subject;
};

#define TRIAL_UNUSED (-1)

/** As collection_quality(), with outcomes beside the likes; only of users with enough papers. NULL:
 * without any. */
struct quality collection_quality_tried(const struct collection *collection, size_t known,
                                        const struct trials *trials, size_t stride);
