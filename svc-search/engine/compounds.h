/** Splits words of a query that no document contains into parts that documents do contain:
 * "crosslingual" into "cross lingual", "Bildsegmentierung" into "Bild segmentierung".
 *
 * A part has COMPOUND_PART_LETTERS letters or more, and its term occurs in COMPOUND_MIN_DF
 * documents or more. Of the ways to split a word the one with the fewest parts is taken, and of
 * those the one whose rarest part is the most frequent (after Koehn and Knight, "Empirical Methods
 * for Compound Splitting", EACL 2003, who take the greatest mean frequency). The "s" that joins
 * German words is part of the word before it, where the stemmer drops it.
 */
#pragma once

#include "base/arena.h"
#include "engine/view.h"

/** Letters of the shortest part: shorter ones are found in nearly every word by accident. */
#define COMPOUND_PART_LETTERS 4

/** Parts of a word, at most. */
#define COMPOUND_PARTS 4

/** Documents that must contain a part. */
#define COMPOUND_MIN_DF 3

/** Words of the longest query that is split. In a longer one other words say what is meant:
 * splitting its words too lowers nDCG@10 on CISI, of whose queries it concerns one, by .001. */
#define COMPOUND_QUERY_WORDS 8

/** Replace the out-of-vocabulary words of `text` that can be split by their parts. Returns `text`
 * when there are none, or a new text in `arena`. */
const char *compounds_split(const struct engine_view *view, const char *text, size_t length,
                            struct arena *arena);
