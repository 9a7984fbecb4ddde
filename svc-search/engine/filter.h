/** Search filters: turns the conditions of a query into a bitmap of the allowed documents. */
#pragma once

#include "base/arena.h"
#include "engine/lexical/lexical.h"
#include "engine/lexical/segment.h"

enum filter_container { CONTAINER_ANY, CONTAINER_WITH, CONTAINER_WITHOUT };

/** The conditions of a query. Zero-initialised, it allows everything. Borrows. */
struct filter {
	/* The document has one of these; an archive such as "cs" includes all its categories.
	 * Empty: any category. */
	const char *const *categories;
	size_t category_count;
	/* The document is from one of these: "biorxiv", "medrxiv" if it is in a category of that
	 * name or below it, "arxiv" if it is in none of those. Empty: any source. */
	const char *const *sources;
	size_t source_count;
	enum filter_container container;
	bool has_published_since;
	int32_t published_since;     /* days since 1970-01-01, inclusive */
	const char *const *excluded; /* ids of documents to leave out */
	size_t excluded_count;
};

/** Evaluate the conditions for `segment`. `alive` is the bitmap of its current documents; NULL:
 * all. The result may borrow `alive`; other memory is in `arena`. */
struct doc_filter filter_resolve(const struct filter *filter, const struct segment *segment,
                                 const uint64_t *alive, struct arena *arena);

/** Of the documents that `allowed` lets pass, those whose last change is after this number. Adds
 * how many they are to `count`; none has `below` 0. The rest is as of filter_resolve(). */
struct doc_filter filter_changed(const struct doc_filter *allowed, const struct segment *segment,
                                 uint64_t change, struct arena *arena, size_t *count);
