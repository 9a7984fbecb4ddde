/** Papers that are kept in memory with their bags and features while refreshes use them. The pools
 * of interests have many papers in common, so a paper is read, split into terms and weighed once,
 * and not for each interest. Each is a block of a cache (block_cache.h), by its id. */
#pragma once

#include "base/arena.h"
#include "cache/block_cache.h"
#include "paper/paper.h"

#include <stdint.h>

/** The paper with this id, in this version or a later one, with its vector of `embedder` (NULL:
 * none). It is held until `arena` is freed. NULL: the cache does not have it. */
const struct paper *paper_cache_hold(struct block_cache *cache, struct arena *arena,
                                     const char *arxiv_id, const char *embedder, int64_t version);

/** Add a paper, which has a bag, in place of another version. Copies what is the paper's own: not
 * its relevance to an interest and signal. The caller empties the cache before the frequencies go
 * that features were made with. */
void paper_cache_add(struct block_cache *cache, const struct paper *paper, const char *embedder);
