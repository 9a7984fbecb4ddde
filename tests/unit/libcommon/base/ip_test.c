#include "base/ip.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct ip ip_of(const char *text)
{
	struct ip ip;
	assert_true(ip_parse(text, &ip));
	return ip;
}

static void one_address_has_one_form(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct ip v4 = ip_of("192.0.2.1"), mapped = ip_of("::ffff:192.0.2.1");
	assert_memory_equal(&v4, &mapped, sizeof(v4));
	assert_true(ip_is_v4(&mapped));
	assert_string_equal(ip_text(arena, &mapped), "192.0.2.1");
	struct ip v6 = ip_of("2001:DB8::1");
	assert_false(ip_is_v4(&v6));
	assert_string_equal(ip_text(arena, &v6), "2001:db8::1");
	static const char *const OTHERS[] = {"",       "1.2.3", "0x7f.1", "127.1",
	                                     "::1%lo", "a",     "[::1]"};
	for (size_t i = 0; i < ARRAY_LEN(OTHERS); i++)
		assert_false(ip_parse(OTHERS[i], &v6));
	arena_free(arena);
}

static void sockets_have_an_address(void **state)
{
	(void)state;
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	struct sockaddr other = {.sa_family = AF_UNIX};
	struct ip ip, expected = ip_of("127.0.0.1");
	assert_true(ip_of_socket((struct sockaddr *)&v4, &ip));
	assert_memory_equal(&ip, &expected, sizeof(ip));
	expected = ip_of("::1");
	assert_true(ip_of_socket((struct sockaddr *)&v6, &ip));
	assert_memory_equal(&ip, &expected, sizeof(ip));
	assert_false(ip_of_socket(&other, &ip));
}

static void private_addresses_are_not_public(void **state)
{
	static const char *const PUBLIC[] = {"8.8.8.8",          "172.15.0.1",     "172.32.0.1",
	                                     "100.63.0.1",       "100.128.0.1",    "192.167.1.1",
	                                     "169.253.1.1",      "2606:4700::1",   "::ffff:8.8.8.8",
	                                     "64:ff9b::808:808", "223.255.255.255"};
	static const char *const PRIVATE[] = {
		"127.0.0.1",
		"127.9.9.9",
		"10.1.2.3",
		"172.16.0.1",
		"172.31.255.255",
		"192.168.0.1",
		"169.254.169.254",
		"100.64.0.1",
		"0.0.0.0",
		"0.1.2.3",
		"224.0.0.1",
		"255.255.255.255",
		"::",
		"::1",
		"::127.0.0.1",
		"::ffff:10.0.0.1",
		"::ffff:127.0.0.1",
		"fc00::1",
		"fdff::1",
		"fe80::1",
		"febf::1",
		"fec0::1",
		"ff02::1",
		"64:ff9b::7f00:1",
		"64:ff9b::a9fe:a9fe",
		"2002:7f00:1::",
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(PUBLIC); i++) {
		struct ip ip = ip_of(PUBLIC[i]);
		assert_true(ip_is_public(&ip));
	}
	for (size_t i = 0; i < ARRAY_LEN(PRIVATE); i++) {
		struct ip ip = ip_of(PRIVATE[i]);
		assert_false(ip_is_public(&ip));
	}
}

static void lists_of_networks_are_parsed(void **state)
{
	static const char *const BAD[] = {"host",       "10.0.0.0/33", "10.0.0.0/",  "::/129",
	                                  "1.2.3.4/+1", "10.0.0.0/8;", "1.2.3.4/0x8"};
	(void)state;
	struct arena *arena = arena_new();
	const struct ip_networks *set;
	bool has_word;
	assert_int_equal(ip_networks_parse(arena, " 10.0.0.0/9,::1 any", "any", &has_word, &set),
	                 0);
	assert_true(has_word);
	struct ip in = ip_of("10.127.1.1"), out = ip_of("10.128.0.0"), loop = ip_of("::1");
	assert_true(ip_networks_have(set, &in));
	assert_true(ip_networks_have(set, &loop));
	assert_false(ip_networks_have(set, &out));
	assert_int_equal(ip_networks_parse(arena, " , ", NULL, NULL, &set), 0);
	assert_true(ip_networks_empty(set));
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++)
		assert_int_equal(ip_networks_parse(arena, BAD[i], NULL, NULL, &set), ERR_INVALID);
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_address_has_one_form),
		cmocka_unit_test(sockets_have_an_address),
		cmocka_unit_test(private_addresses_are_not_public),
		cmocka_unit_test(lists_of_networks_are_parsed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
