/** A worker's cache of query vectors, so that a repeated query, for example with
 * another filter, needs no call. Holds the most recently stored queries. Not thread-safe. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** Queries in the cache; a new one replaces the oldest. */
#define QUERY_CACHE_ENTRIES 64

/** Bytes; a longer query is not stored. */
#define QUERY_CACHE_TEXT_MAX 4096

struct query_cache;

struct query_cache *query_cache_new(void);

/** Accepts NULL. */
void query_cache_free(struct query_cache *cache);

/** The vector of `text`; NULL when it is not in the cache. Borrowed: valid until the next put. */
const float *query_cache_get(const struct query_cache *cache, const char *text,
                             uint32_t *ret_dimension);

/** Store the vector of `text`, `dimension` elements. Copies. */
void query_cache_put(struct query_cache *cache, const char *text, const float *vector,
                     uint32_t dimension);
