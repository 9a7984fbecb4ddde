/** Scores papers with the preference model of one interest: a paper that its readers would like
 * gets a high score.
 *
 * The scorer uses the model that was fitted to feedback. Without one, or when its bytes are
 * damaged, the scorer builds the prior from the interest's text and the background papers.
 *
 * Everything is allocated in the arena that was passed. Nothing here uses HTTP or SQL. All
 * functions may run on any thread, one thread per arena. */
#pragma once

#include "paper/paper.h"
#include "paper/words.h"
#include "preference/preference.h"

#include <stdbool.h>
#include <stddef.h>

/** What scoring and fitting need to know about an interest. */
struct interest {
	const char *name;
	const char *context;
	const void *model; /* bytes from preference_save(); NULL: no model was fitted */
	size_t model_length;
	/* of the corpus; NULL: as `frequencies` has them */
	const struct frequency_table *frequency_table;
	const void *frequencies; /* from frequency_write(); NULL: unknown */
	size_t frequencies_length;
};

struct scorer {
	struct arena *arena;
	struct word_splitter *splitter;
	const struct preference_model *model;
	bool is_stored; /* `model` was fitted to feedback; false: it is the prior */
};

/** Create a scorer and compute the features of the `background` papers. Borrows the interest's
 * texts. */
struct scorer *scorer_new(struct arena *arena, const struct interest *interest,
                          struct paper_list background);

/** Compute the features of the papers, as this scorer's model needs them. Returns the features in
 * the order of the papers. */
const struct features **scorer_prepare(const struct scorer *scorer, struct paper_list papers);

/** Preference score of a paper, 0 to 1. The features of the paper must have been computed. */
double scorer_score(const struct scorer *scorer, const struct paper *paper);

/** The document frequencies to compute features with: those of the corpus or, while they are
 * unknown, of `papers`, which have bags. In `arena`. */
const struct frequency_table *interest_frequencies(struct arena *arena,
                                                   const struct interest *interest,
                                                   struct paper_list papers);

/** Bag of words of the interest's name and context, in `arena`. */
const struct bag *interest_bag(struct arena *arena, struct word_splitter *splitter,
                               const struct interest *interest);

struct score_input {
	struct interest interest;
	int64_t model_version;
	const char *pool_json; /* the interest's candidate pool, in the form of paper.h */
	/* Papers to score, in the same form; NULL: score the pool. Papers that are in no index have
	 * `index` instead of an id. */
	const char *candidates_json;
	size_t limit; /* papers in the answer at most */
};

/** Score candidates. Returns JSON in `arena`, best first; of equal scores the earlier paper comes
 * first:
 *
 *     [{"arxiv_id":"2205.14135","title":"…","score":0.87,"model_version":2},
 *      {"index":1,"title":"…","score":0.62,"model_version":2}]
 *
 * `model_version` is 0 when the prior was used. */
const char *score_candidates(struct arena *arena, const struct score_input *input);
