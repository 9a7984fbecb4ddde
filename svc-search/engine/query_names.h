/** Finds names of authors in a short query, and adds their terms to it.
 *
 * Whether a word means an author is estimated from how often it is one: of a word that is in the
 * names of a papers and in the text of t, with probability a / (a + QUERY_NAME_PRIOR t) (the
 * mapping probability of Kim, Xue and Croft, "A Probabilistic Retrieval Model for Semistructured
 * Data", ECIR 2009; the prior says that words of queries are more often topics). The term of the
 * text then counts less by that probability, and the term of the name is added with
 * QUERY_NAME_WEIGHT times it. A word without a capital that some texts have is no name by itself:
 * most names are also words, such as "song".
 *
 * Two words that are the whole name of an author ("Kaiming He", "He, K.", "K. He") become one term,
 * and count as names only, if one is probably a name and the other looks like part of one (an
 * initial, a capital, a stop word, or possibly a name), if both begin with a capital where that
 * means something, or if one is a stop word and the other is sometimes a name.
 *
 * Who names an author has a paper in mind: the other words of such a query are mostly of its title,
 * and are scored so (struct parsed_query), and vectors, which know nothing of names, are not used.
 * Of 2,000 queries of a first author's family name and the rarest word of the title, over 40,000
 * papers, this finds the paper itself first for .92, with vectors .89
 * (tests/bench/search/author_search.c).
 *
 * A query *is* a name when all its words have the form of one and at least one is of a name. If no
 * author bears it, and no paper has authors of all its words, it has no answer: papers with similar
 * words would not be one.
 */
#pragma once

#include "engine/text/parsed_query.h"
#include "engine/view.h"

/** Words of the longest query in which names are looked for. */
#define QUERY_NAME_WORDS 12

/** See above. */
#define QUERY_NAME_PRIOR  10.0f
#define QUERY_NAME_WEIGHT 2.0f

/** The prior of a word with a capital where others have none, or in a query of few words. */
#define QUERY_NAME_PRIOR_CAPITAL 2.0f

/** Factor of the weight of a name whose order is reversed: "Li Yu" for Yu Li. */
#define QUERY_NAME_REVERSED 0.5f

/** Factor of the weight of a name in its other spelling: "Schroedinger" for "Schrödinger". */
#define QUERY_NAME_SPELLED 0.5f

enum query_names {
	QUERY_NAMES_NONE,
	QUERY_NAMES_FOUND, /* some, and perhaps other words */
	QUERY_NAMES_ALL,   /* the query consists of names, and has an answer if a paper has all */
	/* All words begin with capitals and occur in no paper: a name, or misspelled. */
	QUERY_NAMES_UNSEEN,
	QUERY_NAMES_UNKNOWN, /* the query is a name, which no author bears */
};

/** Add the terms of the names in `text` to `parsed`, which was made from it. */
enum query_names query_names_add(const struct engine_view *view, const char *text, size_t length,
                                 struct parsed_query *parsed, struct arena *arena);

/** Add the terms of the authors whom `text`, which describes a topic, mentions by their whole
 * names: "Kaiming He", both words with capitals. Each mention counts, instead of its words. Single
 * words are never names here. Of the titles of 40,000 papers, in which most words have capitals,
 * none has such a name by accident. */
void query_names_add_mentioned(const struct engine_view *view, const char *text, size_t length,
                               struct parsed_query *parsed, struct arena *arena);
