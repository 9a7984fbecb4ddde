#include "http/accept_encoding.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void the_weights_of_gzip_are_read(void **state attr_unused)
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
		if (coding_is_accepted(&head, CODING_GZIP) != ROWS[i].is_accepted)
			fail_msg("row %zu", i);
	}
}

static void brotli_is_one_coding_of_several(void **state attr_unused)
{
	static const struct {
		const char *value;
		bool is_accepted;
	} ROWS[] = {
		{"gzip, deflate, br", true},
		{"br", true},
		{"BR", true},
		{"*", true},
		{"gzip", false},
		{"br;q=0, *", false},
		{"brotli", false},
		{"identity, br;q=0.9", false},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		struct http_field field = http_field_of("Accept-Encoding", ROWS[i].value);
		struct http_head head = {.fields = &field, .field_count = 1};
		if (coding_is_accepted(&head, CODING_BROTLI) != ROWS[i].is_accepted)
			fail_msg("%s", ROWS[i].value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_weights_of_gzip_are_read),
		cmocka_unit_test(brotli_is_one_coding_of_several),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
