/** A recommendation put into words: why this paper, and what to try with it.
 *
 *     Matches "retrieval", "reranking" in the title; published 3 days ago; has a runnable
 *     container; similar to papers this team liked.
 *
 *     Run the container of "Dense Passage Reranking" on a small sample of your data for "Search",
 *     and compare the result with what you use today for retrieval and reranking.
 *
 * Every word comes from facts that are passed in; nothing is claimed about the paper that they do
 * not say.
 */
#pragma once

#include "arena.h"
#include "words.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	REASONING_TERMS_MAX = 4,     /* matched terms that are named */
	REASONING_RECENT_DAYS = 60,  /* an older paper's age is no reason */
	REASONING_TITLE_BYTES = 160, /* of a title; more is cut at a word */
	REASONING_TERM_BYTES = 60,   /* of a matched term */
};

/** Preference from which on a paper is called similar to liked ones. */
#define REASONING_LIKED_MIN 0.6

/** What is known about a recommendation. Text may hold anything; quotes and line breaks in it are
 * made harmless. */
struct reasoning_facts {
	const char *title;
	const char *interest_name;
	const char *const *terms; /* matched words as people write them, the most telling first */
	size_t term_count;
	double age_days; /* since publication; NaN: not known */
	bool has_container;
	double liked; /* 0..1, of a model fitted to feedback; NaN: there is none */
};

/** One sentence on what brought the paper, in `arena`. */
char *reasoning_sentence(struct arena *arena, struct word_splitter *splitter,
                         const struct reasoning_facts *facts);

/** One sentence that proposes an experiment, in `arena`. */
char *reasoning_experiment(struct arena *arena, struct word_splitter *splitter,
                           const struct reasoning_facts *facts);
