/** How much a paper is about what the interest refuses.
 *
 * An item that is refused ("video generation", interest/exclusion.h) occurs where its words stand
 * together in the title or the abstract. Where the paper itself denies them it does not: "without
 * labels", "label-free". An item whose words all describe the interest's topic is ignored. */
#pragma once

#include "preference/scorer.h"

struct refusal;

/** What the interest refuses, in `arena`; borrows the splitter. NULL: nothing. */
struct refusal *refusal_new(struct arena *arena, struct word_splitter *splitter,
                            const struct interest *interest);

/** A thing that is refused, and how much a paper is about it, 0 to 1. */
struct refused_item {
	const char *text; /* as the interest says it */
	double value;
};

/** Number of the items; 0 for NULL. */
size_t refusal_count(const struct refusal *refusal);

/** Item number `at` in a paper, which has a bag. */
struct refused_item refusal_item(const struct refusal *refusal, size_t at,
                                 const struct paper *paper);

/** The greatest value of an item, 0 to 1: 1 when an item occurs in the title or several times in
 * the abstract. 0 for NULL. */
double refusal_of(const struct refusal *refusal, const struct paper *paper);
