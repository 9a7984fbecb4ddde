#include "paper/codec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct reader reader_of(const void *data, size_t length)
{
	return (struct reader){.data = data, .length = length};
}

static void test_written_numbers_are_read_back(void **state)
{
	(void)state;
	static const uint64_t values[] = {0, 1, 127, 128, 300, UINT32_MAX, UINT64_MAX};
	struct buf out = {.arena = arena_new()};
	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		write_uint(&out, values[i]);
	write_float(&out, -1.5f);
	write_double(&out, 0.1);
	write_u32(&out, 0xdeadbeef);
	struct reader in = reader_of(out.data, out.length);
	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		assert_true(read_uint(&in, UINT64_MAX) == values[i]);
	assert_true(read_float(&in) == -1.5f);
	assert_true(read_double(&in) == 0.1);
	assert_int_equal(read_u32(&in), 0xdeadbeef);
	assert_false(in.failed);
	assert_int_equal(in.offset, in.length);
	read_uint(&in, 1);
	assert_true(in.failed);
	arena_free(out.arena);
}

static void test_invalid_bytes_fail(void **state)
{
	(void)state;
	struct reader endless = reader_of("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11);
	assert_int_equal(read_uint(&endless, UINT64_MAX), 0);
	assert_true(endless.failed);
	struct reader cut = reader_of("\x80", 1);
	read_uint(&cut, UINT64_MAX);
	assert_true(cut.failed);
	struct reader large = reader_of("\x05", 1);
	assert_int_equal(read_uint(&large, 4), 0);
	assert_true(large.failed);
	struct reader nan_bits = reader_of("\x00\x00\xc0\x7f", 4);
	assert_true(read_float(&nan_bits) == 0);
	assert_true(nan_bits.failed);
	struct reader infinite = reader_of("\x00\x00\x00\x00\x00\x00\xf0\x7f", 8);
	assert_true(read_double(&infinite) == 0);
	assert_true(infinite.failed);
	struct reader short_word = reader_of("abc", 3);
	read_u32(&short_word);
	assert_true(short_word.failed);
}

static void test_count_beyond_the_remaining_bytes_fails(void **state)
{
	(void)state;
	struct reader fits = reader_of("\x02"
	                               "abcdefgh",
	                               9);
	assert_int_equal(read_count(&fits, 10, 4), 2);
	struct reader too_many = reader_of("\x03"
	                                   "abcdefgh",
	                                   9);
	assert_int_equal(read_count(&too_many, 10, 4), 0);
	assert_true(too_many.failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_written_numbers_are_read_back),
		cmocka_unit_test(test_invalid_bytes_fail),
		cmocka_unit_test(test_count_beyond_the_remaining_bytes_fails),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
