/** libcommon/cache/: a cache of immutable blocks of memory, each with a text as its key. Of more
 * bytes than it may have, the blocks that were not used for the longest go. One that is held stays
 * until it is released.
 *
 * One thread at a time may call these functions, and free an arena with blocks that are held: a
 * worker's loop has a cache of its own, or a lock is around each call. A thread that computes may
 * read the blocks that are held. */
#pragma once

#include "base/arena.h"

#include <stddef.h>

struct block_cache;

/** Make a cache of at most `max_bytes`. */
struct block_cache *block_cache_new(size_t max_bytes);

/** Blocks that are held stay until they are released. Accepts NULL. */
void block_cache_free(struct block_cache *cache);

/** The block with this key, until another function of the cache is called. NULL: there is none. */
const void *block_cache_find(const struct block_cache *cache, const char *key);

/** Note that a block is used which block_cache_find() or block_cache_add() has returned. */
void block_cache_use(struct block_cache *cache, const void *block);

/** The same, and hold it until `arena` is freed. */
void block_cache_hold(struct block_cache *cache, struct arena *arena, const void *block);

/** Add a block of `bytes`, aligned for any type, in place of another with this key. The caller
 * fills it at once. Copies the key. */
void *block_cache_add(struct block_cache *cache, const char *key, size_t bytes);

/** Drop all blocks. */
void block_cache_empty(struct block_cache *cache);

/** Drop the blocks that have not been used since the call before the last one, so that a process
 * that is at rest keeps none. */
void block_cache_age(struct block_cache *cache);

/** Bytes of the blocks, with what the cache needs for each. */
size_t block_cache_bytes(const struct block_cache *cache);
