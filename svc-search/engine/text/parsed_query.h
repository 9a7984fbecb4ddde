/** A parsed query: its terms, and the order of its main tokens. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Most terms that a query keeps; of a longer text the most telling (query_keep_best()). */
#define QUERY_MAX_TERMS 64

/** What an extra token (token.h) counts beside a main one. */
#define QUERY_EXTRA_COUNT 0.5f

/** A place in the sequence whose term was not kept. */
#define QUERY_NO_TERM UINT32_MAX

struct query_term {
	const char *text; /* the term */
	size_t length;    /* bytes of `text` */
	const char *word; /* the word that it came from, as it was written first */
	float count;      /* how often it stands in the query; extra tokens count less */
	float idf;        /* set by who searches; see bm25.h */
	bool is_extra;    /* only ever an extra token */
};

struct parsed_query {
	struct query_term *terms; /* no two with the same text */
	size_t term_count;
	uint32_t *sequence; /* the main tokens in order, as numbers of terms */
	size_t sequence_count;
};

/** Read a query. Everything lives in `arena`. A text without any term gives `term_count` 0. */
struct parsed_query *query_parse(struct arena *arena, const char *text, size_t length);

/** Keep the `count` terms with the greatest count x idf, in their order; counts are damped to 1 +
 * ln(count), for a long text repeats what it is about. Does nothing to a query that has no more. */
void query_keep_best(struct parsed_query *query, size_t count, struct arena *arena);
