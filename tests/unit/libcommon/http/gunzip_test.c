#include "http/gunzip.h"

#include "arena_fixture.h"
#include "http/gzip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void content_encoding_is_read(void **state attr_unused)
{
	static const struct {
		const char *values[2]; /* of Content-Encoding fields; NULL: no more */
		enum content_coding coding;
	} ROWS[] = {
		{{NULL}, CODING_NONE},
		{{""}, CODING_NONE},
		{{" , ,"}, CODING_NONE},
		{{"identity"}, CODING_NONE},
		{{"Identity, IDENTITY"}, CODING_NONE},
		{{"gzip"}, CODING_GZIP},
		{{"GZip"}, CODING_GZIP},
		{{"X-GZIP"}, CODING_GZIP},
		{{" gzip\t, identity"}, CODING_GZIP},
		{{"identity", "gzip"}, CODING_GZIP},
		{{"gzip, gzip"}, CODING_OTHER},
		{{"gzip", "x-gzip"}, CODING_OTHER},
		{{"br"}, CODING_OTHER},
		{{"gzip, br"}, CODING_OTHER},
		{{"br", "gzip"}, CODING_OTHER},
		{{"deflate"}, CODING_OTHER},
		{{"gzipped"}, CODING_OTHER},
		{{"gzi"}, CODING_OTHER},
		{{"gzip;q=1"}, CODING_OTHER},
		{{"gzip identity br"}, CODING_OTHER},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		struct http_field fields[3];
		struct http_head head = {.fields = fields, .field_count = 1};
		fields[0] = http_field_of("content-encodings", "br");
		for (size_t n = 0; n < 2 && ROWS[i].values[n]; n++)
			fields[head.field_count++] =
				http_field_of("content-encoding", ROWS[i].values[n]);
		if (content_coding_of(&head) != ROWS[i].coding)
			fail_msg("row %zu", i);
	}
}

static struct buf packed_of(const char *data, size_t length)
{
	struct buf packed = {.arena = arena};
	size_t ready;
	const char *bytes = gzip_add(gzip_new(arena, length), data, length, true, &ready);
	buf_add(&packed, bytes, ready);
	return packed;
}

/* Decode with room for `room` bytes in each call; what was decoded is added to `out`. */
static enum gunzip_status unpack(const struct buf *packed, size_t room, struct buf *out)
{
	struct gunzip *gunzip = gunzip_new(arena, packed->data, packed->length);
	char *piece = arena_alloc(arena, room);
	enum gunzip_status status;
	size_t length;
	do {
		status = gunzip_read(gunzip, piece, room, &length);
		assert_true(length <= room);
		buf_add(out, piece, length);
	} while (status == GUNZIP_MORE);
	return status;
}

static void content_is_decoded_in_pieces(void **state attr_unused)
{
	static const size_t LENGTHS[] = {0, 1, 999, 1000, 1001, 70000}, ROOMS[] = {1, 1000, 100000};
	static char data[70000];
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i > 20000 ? (i * 2654435761U) >> 13 : i / 7 % 50);
	for (size_t i = 0; i < ARRAY_LEN(LENGTHS) * ARRAY_LEN(ROOMS); i++) {
		size_t length = LENGTHS[i / 3];
		struct buf packed = packed_of(data, length), out = {.arena = arena};
		assert_int_equal(unpack(&packed, ROOMS[i % 3], &out), GUNZIP_END);
		assert_int_equal(out.length, length);
		if (length > 0)
			assert_memory_equal(out.data, data, length);
	}
}

static void members_are_joined(void **state attr_unused)
{
	static const size_t ROOMS[] = {1, 3, 100};
	for (size_t i = 0; i < ARRAY_LEN(ROOMS); i++) {
		struct buf packed = packed_of("one, ", 5), out = {.arena = arena};
		struct buf empty = packed_of("", 0), two = packed_of("two", 3);
		buf_add(&packed, empty.data, empty.length);
		buf_add(&packed, two.data, two.length);
		buf_add(&packed, empty.data, empty.length);
		assert_int_equal(unpack(&packed, ROOMS[i], &out), GUNZIP_END);
		assert_int_equal(out.length, 8);
		assert_memory_equal(out.data, "one, two", 8);
	}
}

static void a_cut_content_is_truncated(void **state attr_unused)
{
	struct buf packed = packed_of("{\"name\": \"one\"}", 15);
	struct buf second = packed_of("two", 3);
	size_t first_length = packed.length;
	buf_add(&packed, second.data, second.length);
	for (size_t length = 1; length < packed.length; length++) {
		struct buf out = {.arena = arena};
		struct buf cut = {.data = packed.data, .length = length};
		enum gunzip_status expected =
			length == first_length ? GUNZIP_END : GUNZIP_TRUNCATED;
		assert_int_equal(unpack(&cut, 5, &out), expected);
	}
}

static void other_content_is_invalid(void **state attr_unused)
{
	static const char *const ROWS[] = {"{}", "not gzip at all", "\x1F\x8C\x08", "\x78\x9C\x03"};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		struct buf text = {.data = (char *)ROWS[i], .length = strlen(ROWS[i])};
		struct buf out = {.arena = arena};
		assert_int_equal(unpack(&text, 100, &out), GUNZIP_INVALID);
	}
	struct buf out = {.arena = arena}, good = packed_of("{\"name\": \"one\"}", 15);
	struct buf damaged = {.arena = arena}, trailing = {.arena = arena},
		   zeros = {.arena = arena};
	buf_add(&damaged, good.data, good.length);
	damaged.data[damaged.length - 6] ^= 1; /* of the checksum */
	assert_int_equal(unpack(&damaged, 100, &out), GUNZIP_INVALID);
	buf_add(&trailing, good.data, good.length);
	buf_add(&trailing, "garbage", 7);
	assert_int_equal(unpack(&trailing, 100, &out), GUNZIP_INVALID);
	buf_add(&zeros, good.data, good.length);
	buf_add(&zeros, "\0\0", 2);
	assert_int_equal(unpack(&zeros, 100, &out), GUNZIP_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(content_encoding_is_read), ARENA_TEST(content_is_decoded_in_pieces),
		ARENA_TEST(members_are_joined),       ARENA_TEST(a_cut_content_is_truncated),
		ARENA_TEST(other_content_is_invalid),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
