/** Explains a recommendation: why this paper was recommended. The text is the member `reasoning` of
 * the API.
 *
 *     Matches "retrieval", "reranking" in the title; published 3 days ago; has a runnable
 *     container; similar to papers this team liked.
 *
 * For a paper of an author whom the interest names it begins with `By Kaiming He`. For others it
 * begins with "Loosely related" below RELEVANCE_RELATED (calibration.h), and ends with "nothing
 * closer was found" below RELEVANCE_LOOSE. It states only the facts that are passed in. */
#pragma once

#include "base/arena.h"
#include "paper/words.h"
#include "ranking/matched_phrases.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	EXPLANATION_RECENT_DAYS = 60,  /* the age of an older paper is not mentioned */
	EXPLANATION_TITLE_BYTES = 160, /* of a title; a longer one is cut at a word */
	EXPLANATION_URL_BYTES = 200,   /* of the address of the code */
};

/** Preference score from which a paper is called similar to liked ones. */
#define EXPLANATION_LIKED_MIN 0.6

/** What is known about a recommendation. Texts may contain anything: double quotes and line breaks
 * are replaced. */
struct explanation_facts {
	const char *title;
	const char *abstract;
	const char *interest_name;
	const char *const *terms; /* matched query words, highest weight first */
	size_t term_count;
	const char *author; /* of a candidate (final_score.h), as the interest writes the name */
	double relevance;   /* 0..1, calibrated; NaN: unknown */
	double age_days;    /* since publication; NaN: unknown */
	bool has_container;
	const char *code_url; /* of the authors' code; NULL: unknown */
	double liked;         /* 0..1, from a model fitted to feedback; NaN: no such model */
};

/** The matched words as the paper has them, in `arena`. */
struct phrases explanation_phrases(struct arena *arena, struct word_splitter *splitter,
                                   const struct explanation_facts *facts);

/** One sentence on why the paper was recommended, which quotes its `phrases`. In `arena`. */
char *explain_match(struct arena *arena, const struct explanation_facts *facts,
                    const struct phrases *phrases);
