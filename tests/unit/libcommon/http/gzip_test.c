#include "http/gzip.h"

#include "arena_fixture.h"

#include <zlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What gunzip makes of it; the length must be `length`. */
static void assert_unpacks(const char *packed, size_t packed_length, const char *data,
                           size_t length)
{
	char *unpacked = malloc(length + 1);
	z_stream stream = {
		.next_in = (Bytef *)packed,
		.avail_in = (uInt)packed_length,
		.next_out = (Bytef *)unpacked,
		.avail_out = (uInt)(length + 1),
	};
	assert_int_equal(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.total_out, length);
	assert_int_equal(stream.avail_in, 0);
	assert_memory_equal(unpacked, data, length);
	inflateEnd(&stream);
	free(unpacked);
}

static void pieces_make_one_stream(void **state attr_unused)
{
	static const size_t LENGTHS[] = {1, 500, 1025, 40000, 300000};
	static const size_t PIECES[] = {1000, 65536};
	static char data[300000];
	for (size_t i = 0; i < sizeof(data); i++) /* random in the middle: it does not shrink */
		data[i] = (char)(i > 100000 && i < 200000 ? (i * 2654435761U) >> 13 : i / 7 % 50);
	for (size_t i = 0; i < ARRAY_LEN(LENGTHS) * ARRAY_LEN(PIECES); i++) {
		size_t length = LENGTHS[i / 2], piece = PIECES[i % 2], ready;
		struct gzip *gzip = gzip_new(arena, length);
		struct buf packed = {.arena = arena};
		for (size_t at = 0; at < length; at += piece) {
			bool is_last = length - at <= piece;
			const char *bytes = gzip_add(gzip, data + at, MIN_OF(piece, length - at),
			                             is_last, &ready);
			buf_add(&packed, bytes, ready);
		}
		assert_unpacks(packed.data, packed.length, data, length);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(pieces_make_one_stream),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
