/** How much a paper is about what the interest refuses.
 *
 * An item that is refused ("video generation", preference/exclusion.h) occurs where its words stand
 * together in the title or the abstract. Where the paper itself denies them it does not: "without
 * labels", "label-free". An item whose words all describe the interest's topic is ignored. */
#pragma once

#include "preference/scorer.h"

struct refusal;

/** What the interest refuses, in `arena`; borrows the splitter. NULL: nothing. */
struct refusal *refusal_new(struct arena *arena, struct word_splitter *splitter,
                            const struct interest *interest);

/** 0 to 1: 1 when an item occurs in the title or several times in the abstract. 0 for NULL. */
double refusal_of(const struct refusal *refusal, const struct paper_text *paper);
