/** Lists, which the service gives in pages. */
#pragma once

#include "call/call.h"

#define LIST_ITEMS_MAX 100000

/** Where an operation has its list: the field for the number of items of a page, beside which it
 * has a field `offset`, and a JSON pointer to the list in its answer. */
struct paging {
	const char *limit;
	const char *items;
};

/** Send a request for a list again and again, for page after page, until there are `wanted` items
 * or, before that, all of them. Returns the first answer with the items of all pages and the total
 * of the last one. `wanted` is at least 1. Fails as call(). */
struct answer *pages_call(struct query *query, const struct paging *paging, size_t wanted);

/** The same for a number that a person wrote; NULL: as many as the service gives. Of anything else
 * than a number from 1 on the service says what is wrong. */
struct answer *pages_call_text(struct query *query, const struct paging *paging,
                               const char *wanted);
