/** Counts the terms of a paper.
 *
 * Term  a stemmed word, or a pair of adjacent words, identified by a 32-bit hash.
 * Bag   the terms of a paper with their occurrences; words of the title count more than once.
 *
 * A bag is immutable.
 */
#pragma once

#include "base/arena.h"
#include "paper/words.h"

#include <stddef.h>
#include <stdint.h>

/** This bit is set in the id of a pair of words and clear in the id of a word. */
#define TERM_IS_PAIR 0x80000000u

/** The content of a paper. Any text may be NULL. */
struct paper_text {
	const char *title;
	const char *abstract;
	const char *const *categories; /* such as "cs.IR" */
	size_t category_count;
	const float *dense;    /* NULL: no embedding */
	uint32_t dense_length; /* 0: no embedding */
	uint64_t dense_space;  /* identifies the embedder: only vectors of one space are compared */
};

struct bag_term {
	uint32_t id;
	float occurrences; /* > 0 */
};

/** Terms in ascending order of id, each once. Borrows the paper's dense vector. */
struct bag {
	const struct bag_term *terms;
	size_t count;
	const float *dense;
	uint32_t dense_length;
	uint64_t dense_space;
};

/** Count the terms of a paper. The bag is in `arena`. */
struct bag *bag_new(struct arena *arena, struct word_splitter *splitter,
                    const struct paper_text *paper);

/** The id of a stemmed word. */
uint32_t term_id(const char *stem, size_t length);

/** Ascending order of ids, for qsort() and bsearch(): of term ids, and of structs that begin with
 * one. */
int term_id_compare(const void *a, const void *b);
