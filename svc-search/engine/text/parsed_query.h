/** A parsed query: its distinct terms, and the order of its main tokens (token.h). */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Maximum terms that a search uses; query_keep_best() reduces a longer query to them. */
#define QUERY_MAX_TERMS 64

/** How much an extra token adds to the count of its term; a main token adds 1. */
#define QUERY_EXTRA_COUNT 0.5f

/** In the sequence: the term at this position was removed. */
#define QUERY_NO_TERM UINT32_MAX

struct query_term {
	const char *text;   /* the term */
	size_t length;      /* bytes of `text` */
	const char *word;   /* the word of its first token, as written in the query */
	float count;        /* occurrences in the query; an extra token adds QUERY_EXTRA_COUNT */
	float idf;          /* 0 after query_parse(); the caller sets it; see bm25.h */
	float smoothed_idf; /* the same for relevance */
	bool is_extra;      /* has no main token in the query */
	bool is_name;       /* a term of authors' names (name.h) */
};

struct parsed_query {
	struct query_term *terms; /* each text once, in order of first occurrence */
	size_t term_count;
	uint32_t *sequence; /* index into `terms` for each main token in order, or QUERY_NO_TERM */
	size_t sequence_count;
	bool is_stop_words; /* has no other words, and finds titles that have none (token.h) */
	bool has_names;     /* probably names an author; other words are then of the title */
};

/** Parse a query. The result is in `arena`. A text without terms gives `term_count` 0. */
struct parsed_query *query_parse(struct arena *arena, const char *text, size_t length);

/** Parse a query of nothing but stop words, which query_parse() gives no terms. */
struct parsed_query *query_parse_stop_words(struct arena *arena, const char *text, size_t length);

/** The term `text`, or NULL if the query does not have it. */
struct query_term *query_find_term(const struct parsed_query *query, const char *text);

/** Append a term of a name that the query contains as `word`, with this count. Copies both texts;
 * the terms move. */
void query_add_name(struct parsed_query *query, const char *text, const char *word, float count,
                    struct arena *arena);

/** Keep the `count` terms with the greatest count * idf, in their order. First reduces each count
 * above 1 to 1 + ln(count), because a long text repeats the words of its topic. Does nothing if the
 * query has at most `count` terms. */
void query_keep_best(struct parsed_query *query, size_t count, struct arena *arena);

/** The part of the weight of the query's main terms that those in the set `matched`, by bits, have:
 * 0 to 1. */
float query_coverage(const struct parsed_query *query, uint64_t matched);

/** The main words of the query whose terms are in the set, each once, by descending weight, at most
 * `max`. Those of a full name have no weight of their own. In `arena`. */
const char *const *query_words(const struct parsed_query *query, uint64_t matched, size_t max,
                               struct arena *arena, size_t *ret_count);
