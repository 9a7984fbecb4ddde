/** Memory that lives and dies together.
 *
 * An arena hands out zeroed memory and gives all of it back at once. A request, a job and an event
 * each own one; what they allocate needs no free of its own. Allocation never returns NULL: sizes
 * are bounded before they get here, and a process that is out of memory ends (require()).
 *
 * Not safe for use from two threads at once.
 */
#pragma once

#include "base/base.h"

#include <stdarg.h>
#include <stddef.h>

struct arena;

/** Called when the arena is freed, newest registration first. */
typedef void arena_free_cb(void *ptr);

/** Make an arena. The first block comes with it, small arenas cost one malloc. */
struct arena *arena_new(void);

/** As arena_new(), and its memory is wiped when freed: for keys, tokens and passwords. */
struct arena *arena_new_wiped(void);

/** Run the callbacks and give back all memory. NULL is fine. */
void arena_free(struct arena *arena);

/** `size` zeroed bytes, aligned for any type; size 0 gives a unique pointer. */
void *arena_alloc(struct arena *arena, size_t size);

/** `count` zeroed elements of `size` bytes; require()s that the product does not overflow. */
void *arena_array(struct arena *arena, size_t count, size_t size);

#define arena_new_of(arena, type) ((type *)arena_alloc((arena), sizeof(type)))

/** `size` bytes at `ptr`, which stays valid for reading, grown to `new_size` zero-filled; in place
 * where `ptr` is the newest allocation. */
void *arena_grow(struct arena *arena, void *ptr, size_t size, size_t new_size);

/** Copies, NUL-terminated. arena_strdup(NULL) is NULL; arena_strndup() stops at a NUL,
 * arena_memdup() does not. */
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t length);
void *arena_memdup(struct arena *arena, const void *data, size_t length);

/** sprintf into the arena. */
char *arena_printf(struct arena *arena, const char *format, ...) attr_printf(2, 3);
char *arena_vprintf(struct arena *arena, const char *format, va_list args) attr_printf(2, 0);

/** Call `free_cb(ptr)` when the arena is freed: how foreign resources join it. */
void arena_on_free(struct arena *arena, arena_free_cb *free_cb, void *ptr);

/** Forget the newest registration of (`free_cb`, `ptr`); for a resource handed on to another
 * owner. */
void arena_forget(struct arena *arena, arena_free_cb *free_cb, void *ptr);

/** Takes `child`: it is freed with `arena`, in its turn among the callbacks. */
void arena_adopt(struct arena *arena, struct arena *child);

/** Bytes that the arena holds from the system, without those of adopted ones. */
size_t arena_size_bytes(const struct arena *arena);

/** A growing byte string in an arena; zero-initialise with `arena` set. `data` is always
 * NUL-terminated once anything was added. */
struct buf {
	struct arena *arena;
	char *data;
	size_t length;
	size_t capacity;
};

/** Make room for `length` more bytes at once, for those that are known to come. */
void buf_reserve(struct buf *buf, size_t length);

void buf_add(struct buf *buf, const void *data, size_t length);
void buf_puts(struct buf *buf, const char *text);
void buf_printf(struct buf *buf, const char *format, ...) attr_printf(2, 3);
