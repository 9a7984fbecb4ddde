/** Growing plain memory outside arenas: the index is built from arrays that live as long as it
 * does. A process that is out of memory ends (require()). */
#pragma once

#include "base/base.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/** `count` zeroed elements of `size` bytes, never NULL. Free with free(). */
static inline void *mem_array(size_t count, size_t size)
{
	void *ptr = calloc(count ? count : 1, size ? size : 1);
	require(ptr);
	return ptr;
}

/** `ptr` resized to `count` elements of `size` bytes; what is added is not zeroed. */
static inline void *mem_resize(void *ptr, size_t count, size_t size)
{
	require(size == 0 || count <= SIZE_MAX / size);
	ptr = realloc(ptr, count * size + (count * size == 0));
	require(ptr);
	return ptr;
}

/** The capacity, in elements, that holds `needed` when `capacity` elements do not: at least
 * doubled. */
static inline size_t mem_capacity(size_t capacity, size_t needed)
{
	size_t doubled = MAX_OF(capacity * 2, (size_t)16);
	return MAX_OF(doubled, needed);
}

/** free() through a pointer's address, for attr_cleanup. */
static inline void mem_free_at(void *address)
{
	free(*(void **)address);
}

#define mem_auto_free attr_cleanup(mem_free_at)
