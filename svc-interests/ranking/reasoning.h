/** A recommendation put into words: why this paper, and what to try with it.
 *
 *     Matches "retrieval", "reranking" in the title; published 3 days ago; has a runnable
 *     container; similar to papers this team liked.
 *
 *     Run the container of "Dense Passage Reranking" on a small sample of your data for "Search",
 *     and compare the result with what you use today; begin with what it says of "reranking".
 *
 * A paper that has little to do with the interest is said to be so, and to be read before anything
 * is tried. Every word comes from facts that are passed in; nothing is claimed about the paper that
 * they do not say.
 */
#pragma once

#include "base/arena.h"
#include "preference/words.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	REASONING_RECENT_DAYS = 60,  /* an older paper's age is no reason */
	REASONING_TITLE_BYTES = 160, /* of a title; more is cut at a word */
	REASONING_URL_BYTES = 200,   /* of the address of code */
	REASONING_WEAK_NAMES = 2,    /* a weak match shares no more than so many words */
};

/** Preference from which on a paper is called similar to liked ones. */
#define REASONING_LIKED_MIN 0.6

/** Retrieval below which a paper that shares few words is called loosely related. Of texts on a
 * subject that arXiv's computer science lacks, the best papers have 0.3 to 0.45 and share one or
 * two words; those for a page on a subject that it has get no more, but share at least four. */
#define REASONING_WEAK_BELOW 0.45

/** What is known about a recommendation. Text may hold anything; quotes and line breaks in it are
 * made harmless. */
struct reasoning_facts {
	const char *title;
	const char *abstract;
	const char *interest_name;
	const char *const *terms; /* matched words as people write them, the most telling first */
	size_t term_count;
	double retrieval; /* 0..1, as search told; NaN: not known */
	double age_days;  /* since publication; NaN: not known */
	bool has_container;
	const char *code_url; /* of the authors' code; NULL: not known */
	double liked;         /* 0..1, of a model fitted to feedback; NaN: there is none */
};

/** One sentence on what brought the paper, in `arena`. */
char *reasoning_sentence(struct arena *arena, struct word_splitter *splitter,
                         const struct reasoning_facts *facts);

/** One sentence that proposes an experiment, in `arena`. */
char *reasoning_experiment(struct arena *arena, struct word_splitter *splitter,
                           const struct reasoning_facts *facts);
