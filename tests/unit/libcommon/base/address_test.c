#include "base/address.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static int new_arena(void **state)
{
	*state = arena_new();
	return 0;
}

static int free_arena(void **state)
{
	arena_free(*state);
	return 0;
}

static const struct {
	const char *text, *host;
	unsigned port;
	bool is_unix;
} GOOD[] = {
	{"127.0.0.1:8080", "127.0.0.1", 8080, false},
	{"0.0.0.0:0", "0.0.0.0", 0, false},
	{"[::1]:8080", "::1", 8080, false},
	{"[fe80::1%eth0]:65535", "fe80::1%eth0", 65535, false},
	{"svc-search:8080", "svc-search", 8080, false},
	{"svc_search.default.svc.cluster.local:80", "svc_search.default.svc.cluster.local", 80,
         false},
	{"http://svc-search:8080", "svc-search", 8080, false},
	{"http://[::1]:80", "::1", 80, false},
	{"unix:/run/expops/search.sock", "/run/expops/search.sock", 0, true},
};

static const char *const BAD[] = {
	"",
	":",
	":8080",
	"8080",
	"localhost",
	"localhost:",
	"localhost:65536",
	"localhost:99999999999",
	"localhost:-1",
	"localhost:+1",
	"localhost:80a",
	"localhost: 80",
	"local host:80",
	"local\nhost:80",
	"user@host:80",
	"::1:80",
	"[::1]",
	"[::1]80",
	"[::1:80",
	"[]:80",
	"[host]:80",
	"http://host",
	"http://host:80/",
	"http://host:80/path",
	"http://:80",
	"http://",
	"https://host:443",
	"HTTP://host:80",
	"unix:",
	"unix:relative",
	"host/path:80",
};

static void valid_forms_are_parsed(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(GOOD); i++) {
		struct address address;
		assert_int_equal(address_parse(*state, GOOD[i].text, &address), ERR_NONE);
		assert_string_equal(address.host, GOOD[i].host);
		assert_string_equal(address.text, GOOD[i].text);
		assert_int_equal(address.port, GOOD[i].port);
		assert_int_equal(address.is_unix, GOOD[i].is_unix);
	}
}

static void other_forms_are_refused(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		struct address address = {.port = 7};
		if (address_parse(*state, BAD[i], &address) != ERR_INVALID)
			fail_msg("'%s' was taken", BAD[i]);
		assert_int_equal(address.port, 7);
	}
}

static void long_addresses_are_refused(void **state)
{
	char text[400] = "unix:/";
	struct address address;
	memset(text + 6, 'a', 106);
	assert_int_equal(address_parse(*state, text, &address), ERR_NONE);
	assert_int_equal(strlen(address.host), 107);
	memset(text + 6, 'a', 107);
	assert_int_equal(address_parse(*state, text, &address), ERR_INVALID);
	memset(text, 'a', 254);
	memcpy(text + 254, ":80", 4);
	assert_int_equal(address_parse(*state, text, &address), ERR_INVALID);
	assert_int_equal(address_parse(*state, text + 1, &address), ERR_NONE);
}

static void several_addresses_may_be_listened_on(void **state)
{
	struct listen_address found[LISTEN_MAX];
	size_t count;
	const char *text = " 0.0.0.0:80,https://[::]:443 , unix:/run/a  http://b:1";
	assert_int_equal(listen_addresses_parse(*state, text, found, &count), ERR_NONE);
	static const struct {
		const char *host;
		unsigned port;
		bool is_unix, is_tls;
	} EXPECTED[] = {
		{"0.0.0.0", 80, false, false},
		{"::", 443, false, true},
		{"/run/a", 0, true, false},
		{"b", 1, false, false},
	};
	assert_int_equal(count, ARRAY_LEN(EXPECTED));
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(found[i].address.host, EXPECTED[i].host);
		assert_int_equal(found[i].address.port, EXPECTED[i].port);
		assert_int_equal(found[i].address.is_unix, EXPECTED[i].is_unix);
		assert_int_equal(found[i].is_tls, EXPECTED[i].is_tls);
	}
}

static void wrong_lists_are_refused(void **state)
{
	static const char *const LISTS[] = {
		"",
		" ,",
		"a",
		"a:1,b",
		"https",
		"https:a:1",
		"https://a",
		"https://https://a:1",
		"a:1,a:2,a:3,a:4,a:5,a:6,a:7,a:8,a:9",
	};
	struct listen_address found[LISTEN_MAX];
	size_t count;
	for (size_t i = 0; i < ARRAY_LEN(LISTS); i++)
		if (listen_addresses_parse(*state, LISTS[i], found, &count) != ERR_INVALID)
			fail_msg("'%s' was taken", LISTS[i]);
	assert_int_equal(listen_addresses_parse(*state, LISTS[ARRAY_LEN(LISTS) - 1] + 4, found,
	                                        &count),
	                 ERR_NONE);
	assert_int_equal(count, LISTEN_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(valid_forms_are_parsed, new_arena, free_arena),
		cmocka_unit_test_setup_teardown(other_forms_are_refused, new_arena, free_arena),
		cmocka_unit_test_setup_teardown(long_addresses_are_refused, new_arena, free_arena),
		cmocka_unit_test_setup_teardown(several_addresses_may_be_listened_on, new_arena,
	                                        free_arena),
		cmocka_unit_test_setup_teardown(wrong_lists_are_refused, new_arena, free_arena),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
