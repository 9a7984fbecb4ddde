/** Arenas: memory that is allocated piece by piece and freed all at once.
 *
 * Each request, job and event owns an arena, so its allocations need no individual free.
 * Allocations are zeroed and never NULL: callers limit sizes before they allocate, and a process
 * that is out of memory aborts (require()).
 *
 * An arena must not be used by two threads at the same time.
 */
#pragma once

#include "base/base.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/** Called when the arena is freed, newest registration first. */
typedef void arena_free_cb(void *ptr);

/** Make an arena. It is part of its first block, so a small arena costs one malloc. */
struct arena *arena_new(void);

/** As arena_new(), but its memory is overwritten when freed: for keys, tokens and passwords. */
struct arena *arena_new_wiped(void);

/** Overwrite the arena's memory when it is freed, also what was allocated before. */
void arena_wipe_on_free(struct arena *arena);

/** Run the callbacks and free all memory. NULL is fine. */
void arena_free(struct arena *arena);

/** Allocate `size` zeroed bytes, aligned for any type; size 0 gives a unique pointer. */
void *arena_alloc(struct arena *arena, size_t size);

/** Allocate `count` zeroed elements of `size` bytes; require()s that the product does not
 * overflow. */
void *arena_array(struct arena *arena, size_t count, size_t size);

#define arena_new_of(arena, type) ((type *)arena_alloc((arena), sizeof(type)))

/** Grow the `size` bytes at `ptr` to `new_size`; the new bytes are zero. Grows in place if `ptr` is
 * the newest allocation and its block has room, else copies; `ptr` stays readable. */
void *arena_grow(struct arena *arena, void *ptr, size_t size, size_t new_size);

/** Copies, NUL-terminated. arena_strdup(NULL) is NULL; arena_strndup() stops at a NUL,
 * arena_memdup() does not. */
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t length);
void *arena_memdup(struct arena *arena, const void *data, size_t length);

/** A copy with ASCII letters in lower case. */
char *arena_lower(struct arena *arena, const char *text);

/** Print into the arena. */
char *arena_printf(struct arena *arena, const char *format, ...) attr_printf(2, 3);
char *arena_vprintf(struct arena *arena, const char *format, va_list args) attr_printf(2, 0);

/** Call `free_cb(ptr)` when the arena is freed, to release a resource that is not its memory. */
void arena_on_free(struct arena *arena, arena_free_cb *free_cb, void *ptr);

/** Remove the newest registration of (`free_cb`, `ptr`): the resource has another owner now. */
void arena_cancel_on_free(struct arena *arena, arena_free_cb *free_cb, void *ptr);

/** Takes `child`: it is freed with `arena`, in the order of the callbacks. */
void arena_adopt(struct arena *arena, struct arena *child);

/** Bytes of the memory that the arena has taken, without that of adopted arenas. */
size_t arena_size_bytes(const struct arena *arena);

/** A growing byte string in an arena. Initialise it to zero and set `arena`. `data` is NULL at
 * first, and NUL-terminated after the first addition. */
struct buf {
	struct arena *arena;
	char *data;
	size_t length;
	size_t capacity;
};

/** Make room for `length` more bytes, to avoid growing several times. */
void buf_reserve(struct buf *buf, size_t length);

void buf_add(struct buf *buf, const void *data, size_t length);
void buf_puts(struct buf *buf, const char *text);
void buf_add_int(struct buf *buf, int64_t value); /**< decimal digits, as by printf("%lld") */
void buf_printf(struct buf *buf, const char *format, ...) attr_printf(2, 3);
