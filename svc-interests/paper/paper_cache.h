/** Papers that are kept in memory with their bags and features while refreshes use them. The pools
 * of interests have many papers in common, so a paper is read, split into terms and weighed once,
 * and not for each interest.
 *
 * A cache belongs to one worker, whose loop alone may call these functions. The papers are
 * immutable: a thread that computes may read those that are held. */
#pragma once

#include "base/arena.h"
#include "paper/paper.h"

#include <stddef.h>
#include <stdint.h>

struct paper_cache;

/** Make a cache of at most `max_bytes`, of which papers that are held do not go. */
struct paper_cache *paper_cache_new(size_t max_bytes);

/** Papers that are held stay until they are released. Accepts NULL. */
void paper_cache_free(struct paper_cache *cache);

/** The paper with this id, in this version or a later one, with its vector of `embedder` (NULL:
 * none). It is held until `arena` is freed. NULL: the cache does not have it. */
const struct paper *paper_cache_hold(struct paper_cache *cache, struct arena *arena,
                                     const char *arxiv_id, const char *embedder, int64_t version);

/** Add a paper, which has a bag, in place of another version. Copies what is the paper's own: not
 * its relevance to an interest and signal. Those not used for the longest go. The caller empties
 * the cache before the frequencies go that features were made with. */
void paper_cache_add(struct paper_cache *cache, const struct paper *paper, const char *embedder);

/** Drop all papers. */
void paper_cache_empty(struct paper_cache *cache);

/** Drop the papers that have not been used since the call before the last one, so that a process
 * that is at rest keeps none. */
void paper_cache_age(struct paper_cache *cache);

/** Bytes of the papers that the cache has. */
size_t paper_cache_bytes(const struct paper_cache *cache);
