/** The vectors of the queries asked last, so that one asked again (with another filter, for another
 * page of it) costs no call. Of one worker; not safe for use from two threads at once. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** Queries that are remembered; the oldest is forgotten. */
#define QUERY_CACHE_ENTRIES 64

/** A longer text is not remembered. */
#define QUERY_CACHE_TEXT_MAX 4096

struct query_cache;

struct query_cache *query_cache_new(void);

/** NULL is fine. */
void query_cache_free(struct query_cache *cache);

/** The vector of `text`, NULL when it is not known. Borrowed: good until the next put. */
const float *query_cache_get(const struct query_cache *cache, const char *text,
                             uint32_t *ret_dimension);

/** Remember it. Copies. */
void query_cache_put(struct query_cache *cache, const char *text, const float *vector,
                     uint32_t dimension);
