/** Which documents of a segment a query may find: conditions to a bit a document. */
#pragma once

#include "base/arena.h"
#include "engine/lexical/lexical.h"
#include "engine/lexical/segment.h"

enum filter_container { CONTAINER_ANY, CONTAINER_WITH, CONTAINER_WITHOUT };

/** What a query is narrowed to. Zero-initialised it allows everything. Borrows. */
struct filter {
	/** Any of these; a bare archive such as "cs" stands for all below it. None: all
	 * categories. */
	const char *const *categories;
	size_t category_count;
	enum filter_container container;
	bool has_published_since;
	int32_t published_since;     /* days since 1970-01-01, that day too */
	const char *const *excluded; /* ids that are not to be found */
	size_t excluded_count;
};

/** Work the conditions out for `segment`. `alive` has a bit for each document that still counts,
 * NULL when all do; it may be borrowed by the answer, whose memory is else in `arena`. */
struct doc_filter filter_resolve(const struct filter *filter, const struct segment *segment,
                                 const uint64_t *alive, struct arena *arena);
