#include "http/gzip.h"

#include "arena_fixture.h"

#include <zlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void accept_encoding_is_read(void **state attr_unused)
{
	static const struct {
		const char *values[2]; /* of Accept-Encoding fields; NULL: no more */
		bool is_accepted;
	} ROWS[] = {
		{{NULL}, false},
		{{""}, false},
		{{"gzip"}, true},
		{{"GZip"}, true},
		{{"x-gzip"}, true},
		{{"gzip, deflate, br"}, true},
		{{"br;q=1.0,gzip;q=0.8,*;q=0.1"}, true},
		{{"br", "deflate, gzip"}, true},
		{{"*"}, true},
		{{"deflate, *;q=0.001"}, true},
		{{"gzip;q=0"}, false},
		{{"gzip;q=0.000"}, false},
		{{"gzip ; q=0.001"}, true},
		{{"gzip;Q=1.000"}, true},
		{{"gzip;q=0, *"}, false},
		{{"*;q=0"}, false},
		{{"*;q=0, gzip"}, true},
		{{"identity"}, false},
		{{"identity, gzip;q=0.5"}, false},
		{{"identity;q=0.5, gzip;q=0.5"}, true},
		{{"identity;q=0, gzip;q=0.1"}, true},
		{{"identity;q=0"}, false},
		{{"gzipped"}, false},
		{{"gzip;q=2"}, false},
		{{"gzip;q=1.001"}, false},
		{{"gzip;q=0.1234"}, false},
		{{"gzip;q=-1"}, false},
		{{"gzip;q="}, false},
		{{"gzip;q"}, false},
		{{"gzip;x=1"}, false},
		{{"gzip q=1"}, false},
		{{",, ,gzip\t;\tq=0.5 ,"}, true},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		struct http_field fields[2];
		struct http_head head = {.fields = fields};
		for (size_t n = 0; n < 2 && ROWS[i].values[n]; n++)
			fields[head.field_count++] =
				http_field_of("accept-encoding", ROWS[i].values[n]);
		if (gzip_is_accepted(&head) != ROWS[i].is_accepted)
			fail_msg("row %zu", i);
	}
}

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
		ARENA_TEST(accept_encoding_is_read),
		ARENA_TEST(pieces_make_one_stream),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
