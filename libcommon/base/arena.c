#include "base/arena.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif

#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define poison(ptr, size)   ASAN_POISON_MEMORY_REGION((ptr), (size))
#define unpoison(ptr, size) ASAN_UNPOISON_MEMORY_REGION((ptr), (size))
#define GUARD_BYTES         16       /* poisoned, after each allocation, to detect overruns */
#define MAPPED_BLOCK_BYTES  SIZE_MAX /* the leak checker finds no pointers in mapped memory */
#else
#define poison(ptr, size)   ((void)0)
#define unpoison(ptr, size) ((void)0)
#define GUARD_BYTES         0
/* Blocks of at least this size are mapped: their pages are zero, those that are not touched cost
 * nothing, and unmapping destroys what they held. */
#define MAPPED_BLOCK_BYTES  ((size_t)1 << 20)
#endif

#define ALIGNMENT       alignof(max_align_t)
#define BLOCK_MIN_BYTES ((size_t)4096)
#define BLOCK_MAX_BYTES ((size_t)65536)

/* Allocations of at least this size get their own block, so that the rest of the current block is
 * not wasted. */
#define OWN_BLOCK_BYTES (BLOCK_MAX_BYTES / 4)

/* One piece of memory: this header, then the space for allocations. */
struct block {
	struct block *next;
	size_t size;    /* of the whole */
	size_t used;    /* from the start of the header */
	bool is_zeroed; /* the unused space is zero */
};

struct on_free {
	struct on_free *next;
	arena_free_cb *free_cb;
	void *ptr;
};

/* The arena itself is the first allocation of its first block. */
struct arena {
	struct block *current; /* serves small allocations; head of the list of blocks */
	struct on_free *callbacks;
	char *newest; /* the last allocation, which can grow in place, and its block */
	struct block *newest_block;
	size_t size_bytes;
	size_t next_block_bytes;
	bool is_wiped;
};

static size_t aligned(size_t size)
{
	return (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
}

static struct block *block_map(size_t size)
{
	void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return pages == MAP_FAILED ? NULL : pages;
}

/* Larger blocks come from calloc(), or are mapped: fresh pages of the system are zero already. */
static struct block *block_new(size_t size, bool is_zeroed)
{
	struct block *block = size >= MAPPED_BLOCK_BYTES ? block_map(size)
	                      : is_zeroed                ? calloc(1, size)
	                                                 : malloc(size);
	require(block);
	*block = (struct block){.size = size,
	                        .used = aligned(sizeof(*block)),
	                        .is_zeroed = is_zeroed};
	poison((char *)block + block->used, size - block->used);
	return block;
}

static void block_free(struct block *block, bool is_wiped)
{
	unpoison(block, block->size);
	if (block->size >= MAPPED_BLOCK_BYTES) {
		require(munmap(block, block->size) == 0);
		return;
	}
	if (is_wiped)
		explicit_bzero(block, block->used); /* the rest was never used */
	free(block);
}

/* Allocate `size` zeroed bytes in the block, which must have room. */
static void *block_take(struct block *block, size_t size)
{
	char *ptr = (char *)block + block->used;
	block->used += aligned(size + GUARD_BYTES);
	unpoison(ptr, size);
	if (!block->is_zeroed)
		memset(ptr, 0, size);
	return ptr;
}

struct arena *arena_new(void)
{
	struct block *block = block_new(BLOCK_MIN_BYTES, false);
	struct arena *arena = block_take(block, sizeof(*arena));
	arena->current = block;
	arena->size_bytes = block->size;
	arena->next_block_bytes = 2 * BLOCK_MIN_BYTES;
	return arena;
}

struct arena *arena_new_wiped(void)
{
	struct arena *arena = arena_new();
	arena_wipe_on_free(arena);
	return arena;
}

void arena_wipe_on_free(struct arena *arena)
{
	arena->is_wiped = true;
}

void arena_free(struct arena *arena)
{
	if (!arena)
		return;
	while (arena->callbacks) {
		struct on_free *callback = arena->callbacks;
		arena->callbacks = callback->next;
		callback->free_cb(callback->ptr);
	}
	/* The arena itself is in one of the blocks. */
	bool is_wiped = arena->is_wiped;
	for (struct block *block = arena->current, *next; block; block = next) {
		next = block->next;
		block_free(block, is_wiped);
	}
}

/* A block with room for `size`: the current block; a new current block; or, for a large allocation,
 * its own block, which is inserted after the current one. */
static struct block *arena_block_for(struct arena *arena, size_t size)
{
	size_t needed = aligned(size + GUARD_BYTES);
	if (needed <= arena->current->size - arena->current->used)
		return arena->current;
	needed += aligned(sizeof(struct block));

	struct block *block;
	if (size >= OWN_BLOCK_BYTES) {
		block = block_new(needed, true);
		block->next = arena->current->next;
		arena->current->next = block;
	} else {
		while (arena->next_block_bytes < needed)
			arena->next_block_bytes *= 2;
		block = block_new(arena->next_block_bytes, false);
		block->next = arena->current;
		arena->current = block;
		arena->next_block_bytes = MIN_OF(2 * arena->next_block_bytes, BLOCK_MAX_BYTES);
	}
	arena->size_bytes += block->size;
	return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	require(size < SIZE_MAX / 2);
	struct block *block = arena_block_for(arena, MAX_OF(size, 1));
	char *ptr = block_take(block, MAX_OF(size, 1));
	arena->newest = ptr;
	arena->newest_block = block;
	return ptr;
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
	size_t total;
	require(!__builtin_mul_overflow(count, size, &total));
	return arena_alloc(arena, total);
}

/* Extend the newest allocation into the unused space of its block. */
static bool arena_grow_in_place(struct arena *arena, char *ptr, size_t size, size_t new_size)
{
	struct block *block = arena->newest_block;
	if (!ptr || ptr != arena->newest)
		return false;
	size_t start = (size_t)(ptr - (char *)block);
	size_t end = start + aligned(new_size + GUARD_BYTES);
	if (end > block->size)
		return false;
	block->used = MAX_OF(block->used, end);
	unpoison(ptr, new_size);
	memset(ptr + size, 0, new_size - size);
	return true;
}

void *arena_grow(struct arena *arena, void *ptr, size_t size, size_t new_size)
{
	require(new_size >= size && new_size < SIZE_MAX / 2);
	if (arena_grow_in_place(arena, ptr, size, new_size))
		return ptr;
	void *copy = arena_alloc(arena, new_size);
	if (size > 0)
		memcpy(copy, ptr, size);
	return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
	return text ? arena_strndup(arena, text, strlen(text)) : NULL;
}

char *arena_lower(struct arena *arena, const char *text)
{
	char *lower = arena_strdup(arena, text);
	for (char *at = lower; *at; at++)
		*at = (char)(*at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : *at);
	return lower;
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
	return arena_memdup(arena, text, length == 0 ? 0 : strnlen(text, length));
}

void *arena_memdup(struct arena *arena, const void *data, size_t length)
{
	char *copy = arena_alloc(arena, length + 1);
	if (length > 0)
		memcpy(copy, data, length);
	return copy;
}

void arena_on_free(struct arena *arena, arena_free_cb *free_cb, void *ptr)
{
	struct on_free *callback = arena_new_of(arena, struct on_free);
	*callback = (struct on_free){.next = arena->callbacks, .free_cb = free_cb, .ptr = ptr};
	arena->callbacks = callback;
}

void arena_cancel_on_free(struct arena *arena, arena_free_cb *free_cb, void *ptr)
{
	for (struct on_free **link = &arena->callbacks; *link; link = &(*link)->next) {
		if ((*link)->free_cb == free_cb && (*link)->ptr == ptr) {
			*link = (*link)->next;
			return;
		}
	}
}

static void free_adopted(void *child)
{
	arena_free(child);
}

void arena_adopt(struct arena *arena, struct arena *child)
{
	arena_on_free(arena, free_adopted, child);
}

size_t arena_size_bytes(const struct arena *arena)
{
	return arena->size_bytes;
}

/* Includes room for a NUL. */
void buf_reserve(struct buf *buf, size_t length)
{
	size_t needed;
	require(!__builtin_add_overflow(buf->length, length + 1, &needed) && length < SIZE_MAX / 4);
	if (needed <= buf->capacity)
		return;
	size_t capacity = MAX_OF(needed, MAX_OF(2 * buf->capacity, 64));
	buf->data = arena_grow(buf->arena, buf->data, buf->length, capacity);
	buf->capacity = capacity;
}

void buf_add(struct buf *buf, const void *data, size_t length)
{
	buf_reserve(buf, length);
	if (length > 0)
		memcpy(buf->data + buf->length, data, length);
	buf->length += length;
	buf->data[buf->length] = '\0';
}

void buf_puts(struct buf *buf, const char *text)
{
	buf_add(buf, text, strlen(text));
}

void buf_add_int(struct buf *buf, int64_t value)
{
	char digits[20]; /* of the least value, with its sign */
	char *at = digits + sizeof(digits);
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
	do {
		*--at = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest > 0);
	if (value < 0)
		*--at = '-';
	buf_add(buf, at, (size_t)(digits + sizeof(digits) - at));
}

static void attr_printf(2, 0) buf_vprintf(struct buf *buf, const char *format, va_list args)
{
	va_list again;
	va_copy(again, args);
	buf_reserve(buf, 0);
	size_t room = buf->capacity - buf->length;
	int length = vsnprintf(buf->data + buf->length, room, format, args);
	require(length >= 0);
	if ((size_t)length >= room) {
		buf_reserve(buf, (size_t)length);
		vsnprintf(buf->data + buf->length, (size_t)length + 1, format, again);
	}
	buf->length += (size_t)length;
	va_end(again);
}

void buf_printf(struct buf *buf, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	buf_vprintf(buf, format, args);
	va_end(args);
}

char *arena_vprintf(struct arena *arena, const char *format, va_list args)
{
	struct buf buf = {.arena = arena};
	buf_vprintf(&buf, format, args);
	return buf.data;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *text = arena_vprintf(arena, format, args);
	va_end(args);
	return text;
}
