#include "base/arena.h"

#include "arena_fixture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool is_zero(const char *data, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (data[i] != 0)
			return false;
	}
	return true;
}

static void allocations_are_zeroed_aligned_and_distinct(void **state attr_unused)
{
	static const size_t SIZES[] = {1,    7,     8,     16,    100,   1000, 4000,   4096,
	                               5000, 16383, 16384, 65536, 70000, 3,    1 << 20};
	char *made[ARRAY_LEN(SIZES)];
	for (size_t i = 0; i < ARRAY_LEN(SIZES); i++) {
		made[i] = arena_alloc(arena, SIZES[i]);
		assert_int_equal((uintptr_t)made[i] % alignof(max_align_t), 0);
		assert_true(is_zero(made[i], SIZES[i]));
		memset(made[i], (int)i + 1, SIZES[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(SIZES); i++) {
		assert_int_equal(made[i][0], i + 1);
		assert_int_equal(made[i][SIZES[i] - 1], i + 1);
	}
}

static void size_zero_gives_a_unique_pointer(void **state attr_unused)
{
	void *one = arena_alloc(arena, 0);
	void *other = arena_alloc(arena, 0);
	assert_non_null(one);
	assert_ptr_not_equal(one, other);
	assert_non_null(arena_array(arena, 0, 8));
}

static void blocks_grow(void **state attr_unused)
{
	size_t start = arena_size_bytes(arena);
	assert_in_range(start, 1024, 8192);
	arena_alloc(arena, 64);
	assert_int_equal(arena_size_bytes(arena), start);

	/* A large allocation gets its own block; the rest of the first stays in use. */
	arena_alloc(arena, 100000);
	size_t with_large = arena_size_bytes(arena);
	assert_in_range(with_large, start + 100000, start + 100200);
	arena_alloc(arena, 64);
	assert_int_equal(arena_size_bytes(arena), with_large);

	for (int i = 0; i < 1000; i++)
		arena_alloc(arena, 1000);
	assert_in_range(arena_size_bytes(arena), with_large + 1000000, with_large + 1200000);
}

static void the_newest_allocation_grows_in_place(void **state attr_unused)
{
	char *text = arena_strdup(arena, "abc");
	char *grown = arena_grow(arena, text, 4, 200);
	assert_ptr_equal(grown, text);
	assert_string_equal(grown, "abc");
	assert_true(is_zero(grown + 4, 196));

	char *next = arena_strdup(arena, "next");
	char *moved = arena_grow(arena, grown, 200, 400);
	assert_ptr_not_equal(moved, grown);
	assert_string_equal(moved, "abc");
	assert_string_equal(grown, "abc");
	assert_string_equal(next, "next");
	assert_true(is_zero(moved + 4, 396));

	/* Past the block's end. */
	char *large = arena_grow(arena, moved, 400, 90000);
	assert_string_equal(large, "abc");
	assert_true(is_zero(large + 4, 89996));
	assert_ptr_equal(arena_grow(arena, large, 90000, 90000), large);
	assert_non_null(arena_grow(arena, NULL, 0, 10));
}

static void growth_clears_the_new_bytes(void **state attr_unused)
{
	char *data = arena_alloc(arena, 16);
	memset(data, 'x', 16);
	data = arena_grow(arena, data, 4, 32);
	assert_memory_equal(data, "xxxx", 4);
	assert_true(is_zero(data + 4, 28));
}

static void copies_are_terminated(void **state attr_unused)
{
	assert_null(arena_strdup(arena, NULL));
	assert_string_equal(arena_strdup(arena, ""), "");
	assert_string_equal(arena_strndup(arena, "abcdef", 3), "abc");
	assert_string_equal(arena_strndup(arena, "ab", 100), "ab");
	assert_string_equal(arena_strndup(arena, NULL, 0), "");
	assert_memory_equal(arena_memdup(arena, "a\0b", 3), "a\0b", 4);
	assert_string_equal(arena_memdup(arena, NULL, 0), "");
}

static void texts_are_formatted(void **state attr_unused)
{
	assert_string_equal(arena_printf(arena, "%s-%d", "x", 7), "x-7");
	assert_string_equal(arena_printf(arena, "%s", ""), "");
	for (int width = 60; width < 70; width++) {
		char *text = arena_printf(arena, "%0*d|", width, 5);
		assert_int_equal(strlen(text), width + 1);
		assert_string_equal(text + width - 1, "5|");
	}
	char *wide = arena_printf(arena, "%*s|", 100000, "end");
	assert_int_equal(strlen(wide), 100001);
	assert_string_equal(wide + 99997, "end|");
}

static void buffers_grow(void **state attr_unused)
{
	struct buf buf = {.arena = arena};
	buf_add(&buf, NULL, 0);
	assert_string_equal(buf.data, "");
	buf_puts(&buf, "one");
	buf_add(&buf, "\0two", 4);
	assert_int_equal(buf.length, 7);
	assert_memory_equal(buf.data, "one\0two", 8);
	for (int i = 0; i < 20000; i++)
		buf_printf(&buf, "%d,", i);
	assert_int_equal(strlen(buf.data + 4), buf.length - 4);
	assert_memory_equal(buf.data + 4, "two0,1,2,3,", 11);
	assert_string_equal(buf.data + buf.length - 6, "19999,");
}

static void integers_are_written_as_by_printf(void **state attr_unused)
{
	static const int64_t VALUES[] = {0, 7, -7, 10, 1234567890123, INT64_MAX, INT64_MIN};
	for (size_t i = 0; i < ARRAY_LEN(VALUES); i++) {
		struct buf buf = {.arena = arena};
		buf_add_int(&buf, VALUES[i]);
		assert_string_equal(buf.data, arena_printf(arena, "%" PRId64, VALUES[i]));
	}
}

static char trace[16];

static void note(void *ptr)
{
	size_t length = strlen(trace);
	assert_in_range(length, 0, sizeof(trace) - 2);
	trace[length] = *(const char *)ptr;
	trace[length + 1] = '\0';
}

static void note_again(void *ptr)
{
	note(ptr);
	note(ptr);
}

static void callbacks_run_newest_first(void **state attr_unused)
{
	trace[0] = '\0';
	struct arena *own = arena_new_wiped();
	arena_on_free(own, note, "a");
	arena_on_free(own, note_again, "b");
	arena_on_free(own, note, arena_strdup(own, "c"));
	arena_on_free(own, note, "d");
	arena_on_free(own, note, "a");
	arena_cancel_on_free(own, note, "d");
	arena_cancel_on_free(own, note, "a"); /* the newest of the two */
	arena_cancel_on_free(own, note, "b"); /* another function: nothing */
	arena_free(own);
	assert_string_equal(trace, "cbba");
	arena_free(NULL);
}

/* Replace the C library's functions and count the bytes wiped; the hardened build calls the
 * second. */
static size_t wiped_bytes;

void wipe(void *data, size_t length) __asm__("explicit_bzero");
void wipe(void *data, size_t length)
{
	wiped_bytes += length;
	memset(data, 0, length);
}

void wipe_checked(void *data, size_t length, size_t room) __asm__("__explicit_bzero_chk");
void wipe_checked(void *data, size_t length, size_t room attr_unused)
{
	wipe(data, length);
}

static void only_a_wiped_arena_is_wiped(void **state attr_unused)
{
	struct arena *own = arena_new();
	arena_alloc(own, 5000);
	wiped_bytes = 0;
	arena_free(own);
	assert_int_equal(wiped_bytes, 0);

	own = arena_new_wiped();
	for (int i = 0; i < 100; i++)
		arena_alloc(own, 5000);
	arena_alloc(own, 1 << 19);
	size_t size = arena_size_bytes(own);
	arena_free(own);
	assert_in_range(wiped_bytes, 100 * 5000 + (1 << 19), size); /* what was never used is not */
}

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN
#endif
#endif

#ifdef HAS_ASAN
#include <sanitizer/asan_interface.h>

static void the_sanitizer_detects_an_overrun(void **state attr_unused)
{
	char *one = arena_alloc(arena, 10);
	char *other = arena_alloc(arena, 10);
	assert_false(__asan_address_is_poisoned(one + 9));
	assert_true(__asan_address_is_poisoned(one + 10));
	assert_true(__asan_address_is_poisoned(other + 10));
	arena_grow(arena, other, 10, 20);
	assert_false(__asan_address_is_poisoned(other + 19));
	assert_true(__asan_address_is_poisoned(other + 20));
}
#else
static void the_pages_of_a_large_block_are_returned(void **state attr_unused)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct arena *own = arena_new_wiped();
	char *data = arena_alloc(own, 3 << 20);
	assert_true(is_zero(data, 3 << 20));
	memset(data, 'x', 3 << 20);
	char *within = (char *)(((uintptr_t)data + (1 << 20)) / page * page);
	unsigned char is_resident;
	assert_int_equal(mincore(within, page, &is_resident), 0);
	wiped_bytes = 0;
	arena_free(own);
	assert_int_equal(mincore(within, page, &is_resident), -1);
	assert_int_equal(errno, ENOMEM); /* nothing is mapped there */
	assert_in_range(wiped_bytes, 0, 8192);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(allocations_are_zeroed_aligned_and_distinct),
		ARENA_TEST(size_zero_gives_a_unique_pointer),
		ARENA_TEST(blocks_grow),
		ARENA_TEST(the_newest_allocation_grows_in_place),
		ARENA_TEST(growth_clears_the_new_bytes),
		ARENA_TEST(copies_are_terminated),
		ARENA_TEST(texts_are_formatted),
		ARENA_TEST(buffers_grow),
		ARENA_TEST(integers_are_written_as_by_printf),
		cmocka_unit_test(callbacks_run_newest_first),
		cmocka_unit_test(only_a_wiped_arena_is_wiped),
#ifdef HAS_ASAN
		ARENA_TEST(the_sanitizer_detects_an_overrun),
#else
		cmocka_unit_test(the_pages_of_a_large_block_are_returned),
#endif
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
