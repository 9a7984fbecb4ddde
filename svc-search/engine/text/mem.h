/** malloc() memory for arrays that live as long as the index, not in an arena. Running out of
 * memory ends the process (require()). */
#pragma once

#include "base/base.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/** Allocate `count` zeroed elements of `size` bytes; never NULL. The caller calls free(). */
static inline void *mem_array(size_t count, size_t size)
{
	void *ptr = calloc(count ? count : 1, size ? size : 1);
	require(ptr);
	return ptr;
}

/** Resize `ptr` to `count` elements of `size` bytes. New elements are not zeroed. */
static inline void *mem_resize(void *ptr, size_t count, size_t size)
{
	require(size == 0 || count <= SIZE_MAX / size);
	ptr = realloc(ptr, count * size + (count * size == 0));
	require(ptr);
	return ptr;
}

/** The new capacity of an array that must hold `needed` elements: at least twice the old one. */
static inline size_t mem_capacity(size_t capacity, size_t needed)
{
	size_t doubled = MAX_OF(capacity * 2, (size_t)16);
	return MAX_OF(doubled, needed);
}

/** Free the pointer at `address`; for attr_cleanup. */
static inline void mem_free_at(void *address)
{
	free(*(void **)address);
}

/** Free the pointer at `address` and set it to NULL. */
static inline void mem_clear(void *address)
{
	mem_free_at(address);
	*(void **)address = NULL;
}

#define mem_auto_free attr_cleanup(mem_free_at)
