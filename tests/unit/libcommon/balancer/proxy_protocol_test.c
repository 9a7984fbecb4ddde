#include "balancer/proxy_protocol.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"
#define V4        "\xc0\x00\x02\x01\x0a\x00\x00\x09\xc8\x22\x01\xbb"
#define V6(address, end) \
	address "\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02" end
#define V6_CLIENT "\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01"
#define V4_MAPPED "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xc0\x00\x02\x01"
#define PORTS     "\xc8\x22\x01\xbb"
#define NOOP      "\x04\x00\x02.."
#define SSL(flag) "\x20\x00\x05" flag "\x00\x00\x00\x00"
#define VERSION   "\x21\x00\x07TLSv1.3" /* of TLS, within PP2_TYPE_SSL */
#define QUARTER   "......................................................"
#define UNIX      QUARTER QUARTER QUARTER QUARTER /* 216 bytes */
#define TEXT(t)   t, sizeof(t) - 1

static const struct {
	const char *data;
	size_t length;
	const char *client;
	bool is_by_tls;
} GOOD[] = {
	{TEXT("PROXY TCP4 192.0.2.1 10.0.0.9 51234 443\r\n"), "192.0.2.1"},
	{TEXT("PROXY TCP4 255.255.255.255 0.0.0.0 65535 0\r\n"), "255.255.255.255"},
	{TEXT("PROXY TCP6 2001:db8::1 ::1 1 2\r\n"), "2001:db8::1"},
	{TEXT("PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
              "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n"),
         "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
	{TEXT("PROXY UNKNOWN\r\n"), "unknown"},
	{TEXT("PROXY UNKNOWN ffff::1 ffff::2 65535 65535\r\n"), "unknown"},
	{TEXT(SIGNATURE "\x21\x11\x00\x0c" V4), "192.0.2.1"},
	{TEXT(SIGNATURE "\x21\x11\x00\x0f" V4 "\x04\x00\x00"), "192.0.2.1"},
	{TEXT(SIGNATURE "\x21\x21\x00\x24" V6(V6_CLIENT, PORTS)), "2001:db8::1"},
	{TEXT(SIGNATURE "\x21\x21\x00\x24" V6(V4_MAPPED, PORTS)), "192.0.2.1"},
	{TEXT(SIGNATURE "\x21\x11\x00\x14" V4 SSL("\x01")), "192.0.2.1", true},
	{TEXT(SIGNATURE "\x21\x11\x00\x14" V4 SSL("\x07")), "192.0.2.1", true},
	{TEXT(SIGNATURE "\x21\x11\x00\x14" V4 SSL("\x06")), "192.0.2.1"},
	{TEXT(SIGNATURE "\x21\x11\x00\x1e" V4 NOOP SSL("\x01") NOOP), "192.0.2.1", true},
	{TEXT(SIGNATURE "\x21\x11\x00\x1e" V4 "\x20\x00\x0f\x01\x00\x00\x00\x00" VERSION),
         "192.0.2.1", true},
	{TEXT(SIGNATURE "\x21\x21\x00\x2c" V6(V6_CLIENT, PORTS) SSL("\x01")), "2001:db8::1", true},
	{TEXT(SIGNATURE "\x21\x00\x00\x00"), "unknown"},
	{TEXT(SIGNATURE "\x21\x00\x00\x08" SSL("\x01")), "unknown"},
	{TEXT(SIGNATURE "\x21\x00\x00\x02.."), "unknown"},
	{TEXT(SIGNATURE "\x21\x31\x00\xd8" UNIX), "unknown"},
	{TEXT(SIGNATURE "\x20\x00\x00\x00"), ""},
	{TEXT(SIGNATURE "\x20\x11\x00\x0c" V4), ""},
	{TEXT(SIGNATURE "\x20\x11\x00\x14" V4 SSL("\x01")), ""},
	{TEXT(SIGNATURE "\x20\xff\x00\x02\x01\x02"), ""},
};

static const struct {
	const char *data;
	size_t length;
} BAD[] = {
	{TEXT("GET / HTTP/1.1\r\n")},
	{TEXT("\x16\x03\x01")},
	{TEXT("proxy TCP4 192.0.2.1 10.0.0.9 1 2\r\n")},
	{TEXT("PROXY\tTCP4 192.0.2.1 10.0.0.9 1 2\r\n")},
	{TEXT("PROXY  TCP4 192.0.2.1 10.0.0.9 1 2\r\n")},
	{TEXT("PROXY TCP4 192.0.2.1 10.0.0.9 1 2\n")},
	{TEXT("PROXY TCP4 192.0.2.1 10.0.0.9 1 2 \r\n")},
	{TEXT("PROXY TCP4 192.0.2.1 10.0.0.9 1 2 3\r\n")},
	{TEXT("PROXY TCP4 192.0.2.1 10.0.0.9  1 2\r\n")},
	{TEXT("PROXY TCP4 192.0.2.1 10.0.0.9 1\r\n")},
	{TEXT("PROXY TCP4 192.0.2.1 10.0.0.9 01 2\r\n")},
	{TEXT("PROXY TCP4 192.0.2.1 10.0.0.9 -1 2\r\n")},
	{TEXT("PROXY TCP4 192.0.2.1 10.0.0.9 65536 2\r\n")},
	{TEXT("PROXY TCP4 192.0.2.256 10.0.0.9 1 2\r\n")},
	{TEXT("PROXY TCP4 192.0.2.1 x 1 2\r\n")},
	{TEXT("PROXY TCP4 2001:db8::1 ::1 1 2\r\n")},
	{TEXT("PROXY TCP6 192.0.2.1 10.0.0.9 1 2\r\n")},
	{TEXT("PROXY TCP5 192.0.2.1 10.0.0.9 1 2\r\n")},
	{TEXT("PROXY UDP4 192.0.2.1 10.0.0.9 1 2\r\n")},
	{TEXT("PROXY TCP4 192.0.2.1\0 10.0.0.9 1 2\r\n")},
	{TEXT("PROXY \r\n")},
	{TEXT(SIGNATURE "\x11\x11\x00\x0c" V4)},
	{TEXT(SIGNATURE "\x22\x11\x00\x0c" V4)},
	{TEXT(SIGNATURE "\x21\x12\x00\x0c" V4)},
	{TEXT(SIGNATURE "\x21\x11\x00\x0b" V4)},
	{TEXT(SIGNATURE "\x21\x21\x00\x0c" V4)},
	{TEXT(SIGNATURE "\x21\x31\x00\x0c" V4)},
	{TEXT(SIGNATURE "\x21\x41\x00\x0c" V4)},
	{TEXT(SIGNATURE "\x21\x11\xff\xff" V4)},
	{TEXT(SIGNATURE "\x21\x11\x00\x0d" V4 "\x04")},
	{TEXT(SIGNATURE "\x21\x11\x00\x0e" V4 "\x04\x00")},
	{TEXT(SIGNATURE "\x21\x11\x00\x10" V4 "\x04\x00\x02.")},
	{TEXT(SIGNATURE "\x21\x11\x00\x13" V4 "\x20\x00\x04\x01\x00\x00\x00")},
	{TEXT(SIGNATURE "\x21\x11\x00\x13" V4 "\x20\x00\x05\x01\x00\x00\x00")},
};

static void headers_name_the_client(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(GOOD); i++) {
		struct proxy_header header;
		char data[300] = "";
		memcpy(data, GOOD[i].data, GOOD[i].length);
		/* What follows is the client's. */
		assert_int_equal(proxy_header_parse(data, sizeof(data), &header),
		                 PROXY_HEADER_COMPLETE);
		assert_int_equal(header.length, GOOD[i].length);
		assert_string_equal(header.client, GOOD[i].client);
		assert_int_equal(header.is_by_tls, GOOD[i].is_by_tls);
	}
}

static void a_part_is_waited_for(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(GOOD); i++) {
		struct proxy_header header;
		for (size_t length = 0; length < GOOD[i].length; length++)
			assert_int_equal(proxy_header_parse(GOOD[i].data, length, &header),
			                 PROXY_HEADER_PARTIAL);
	}
}

static void other_bytes_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		struct proxy_header header;
		if (proxy_header_parse(BAD[i].data, BAD[i].length, &header) != PROXY_HEADER_INVALID)
			fail_msg("%zu: %s was taken", i, BAD[i].data);
	}
}

static void a_long_line_is_refused(void **state)
{
	(void)state;
	struct proxy_header header;
	char line[200] = "PROXY UNKNOWN ";
	memset(line + strlen(line), 'x', sizeof(line) - strlen(line));
	assert_int_equal(proxy_header_parse(line, 106, &header), PROXY_HEADER_PARTIAL);
	assert_int_equal(proxy_header_parse(line, 107, &header), PROXY_HEADER_INVALID);
	memcpy(line + 105, "\r\n", 2);
	assert_int_equal(proxy_header_parse(line, sizeof(line), &header), PROXY_HEADER_COMPLETE);
	assert_int_equal(header.length, 107);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_name_the_client),
		cmocka_unit_test(a_part_is_waited_for),
		cmocka_unit_test(other_bytes_are_refused),
		cmocka_unit_test(a_long_line_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
