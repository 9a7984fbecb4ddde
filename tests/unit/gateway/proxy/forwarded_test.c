#include "proxy/forwarded.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct arena *arena;

static int setup(void **state)
{
	(void)state;
	arena = arena_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

static const struct trusted *trust(const char *text)
{
	const struct trusted *trusted;
	assert_int_equal(trusted_parse(arena, text, &trusted), ERR_NONE);
	return trusted;
}

/* TRUSTED_PROXIES, the peer, the fields of a request, and the expected client and scheme. */
static const struct {
	const char *trusted, *peer;
	const char *addresses[3]; /* fields of X-Forwarded-For; NULL ends them */
	const char *schemes[2];   /* of X-Forwarded-Proto */
	const char *client, *scheme;
} REQUESTS[] = {
	/* the peer is not trusted */
	{"", "10.0.0.1", {"192.0.2.1"}, {"https"}, "10.0.0.1", "http"},
	{"10.0.0.2", "10.0.0.1", {"192.0.2.1"}, {"https"}, "10.0.0.1", "http"},
	{"10.0.0.0/8", "11.0.0.1", {"192.0.2.1"}, {"https"}, "11.0.0.1", "http"},
	{"10.0.0.0/8", "unix", {"192.0.2.1"}, {"https"}, "unix", "http"},
	{"unix", "10.0.0.1", {"192.0.2.1"}, {"https"}, "10.0.0.1", "http"},

	/* a trusted peer sends a valid address */
	{"10.0.0.1", "10.0.0.1", {"192.0.2.1"}, {"https"}, "192.0.2.1", "https"},
	{"10.0.0.0/8", "10.255.0.1", {"192.0.2.1"}, {"HTTPS"}, "192.0.2.1", "https"},
	{"unix", "unix", {"192.0.2.1"}, {"https"}, "192.0.2.1", "https"},
	{"0.0.0.0/0", "10.0.0.1", {"2001:db8::1"}, {"http"}, "2001:db8::1", "http"},
	{"::1, 10.0.0.1", "::1", {"2001:DB8:0::1"}, {NULL}, "2001:db8::1", "http"},
	{"10.0.0.0/8", "::ffff:10.0.0.1", {"::ffff:192.0.2.1"}, {NULL}, "192.0.2.1", "http"},
	{"10.0.0.1", "10.0.0.1", {"192.0.2.1:4711"}, {NULL}, "192.0.2.1", "http"},
	{"10.0.0.1", "10.0.0.1", {"[2001:db8::1]:4711"}, {NULL}, "2001:db8::1", "http"},
	{"10.0.0.1", "10.0.0.1", {"[2001:db8::1]"}, {NULL}, "2001:db8::1", "http"},

	/* a trusted peer sends none, or an invalid one */
	{"10.0.0.1", "10.0.0.1", {NULL}, {NULL}, "10.0.0.1", "http"},
	{"10.0.0.1", "10.0.0.1", {NULL}, {"https"}, "10.0.0.1", "https"},
	{"10.0.0.1", "10.0.0.1", {""}, {""}, "10.0.0.1", "http"},
	{"10.0.0.1", "10.0.0.1", {"unknown"}, {"gopher"}, "10.0.0.1", "http"},
	{"10.0.0.1", "10.0.0.1", {"192.0.2.1, "}, {"https, "}, "10.0.0.1", "http"},
	{"10.0.0.1", "10.0.0.1", {"192.0.2.256"}, {"httpsx"}, "10.0.0.1", "http"},
	{"10.0.0.1", "10.0.0.1", {"[192.0.2.1"}, {NULL}, "10.0.0.1", "http"},
	{"10.0.0.1",
         "10.0.0.1",
         {"1111111111111111111111111111111111111111111111111111111111111111"},
         {NULL},
         "10.0.0.1",
         "http"},

	/* several addresses: those that the client wrote itself are ignored */
	{"10.0.0.1", "10.0.0.1", {"6.6.6.6, 192.0.2.1"}, {NULL}, "192.0.2.1", "http"},
	{"10.0.0.1", "10.0.0.1", {"10.0.0.1,192.0.2.1"}, {NULL}, "192.0.2.1", "http"},
	{"10.0.0.1", "10.0.0.1", {"6.6.6.6", "192.0.2.1"}, {NULL}, "192.0.2.1", "http"},
	{"10.0.0.0/8", "10.0.0.1", {"6.6.6.6, 192.0.2.1, 10.0.0.2"}, {NULL}, "192.0.2.1", "http"},
	{"10.0.0.0/8",
         "10.0.0.1",
         {"6.6.6.6,192.0.2.1\t", " 10.0.0.3 ,10.0.0.2"},
         {NULL},
         "192.0.2.1",
         "http"},
	{"10.0.0.0/8", "10.0.0.1", {"10.0.0.3, 10.0.0.2"}, {NULL}, "10.0.0.3", "http"},
	{"10.0.0.0/8", "10.0.0.1", {"6.6.6.6, nonsense, 10.0.0.2"}, {NULL}, "10.0.0.2", "http"},

	/* nobody knows who sent these */
	{"0.0.0.0/0, ::/0, unix", "unknown", {"6.6.6.6"}, {"https"}, "unknown", "http"},

	/* the scheme that belongs to the client's address */
	{"10.0.0.0/8", "10.0.0.1", {"192.0.2.1, 10.0.0.2"}, {"https, http"}, "192.0.2.1", "https"},
	{"10.0.0.0/8",
         "10.0.0.1",
         {"192.0.2.1, 10.0.0.2"},
         {"https", "http"},
         "192.0.2.1",
         "https"},
	{"10.0.0.0/8", "10.0.0.1", {"192.0.2.1, 10.0.0.2"}, {"http, https"}, "192.0.2.1", "http"},
	{"10.0.0.0/8", "10.0.0.1", {"192.0.2.1, 10.0.0.2"}, {"https"}, "192.0.2.1", "https"},
	{"10.0.0.1", "10.0.0.1", {"6.6.6.6, 192.0.2.1"}, {"https, http"}, "192.0.2.1", "http"},
};

/* Make the head of the `i`-th request, with a Forwarded field in the middle. */
static void head_fill(struct http_head *head, struct http_field fields[6], size_t i)
{
	*head = (struct http_head){.fields = fields};
	for (size_t j = 0; j < 3 && REQUESTS[i].addresses[j]; j++)
		fields[head->field_count++] =
			http_field_of("x-forwarded-FOR", REQUESTS[i].addresses[j]);
	fields[head->field_count++] = http_field_of("Forwarded", "for=6.6.6.6;proto=https");
	for (size_t j = 0; j < 2 && REQUESTS[i].schemes[j]; j++)
		fields[head->field_count++] =
			http_field_of("X-Forwarded-Proto", REQUESTS[i].schemes[j]);
}

static void only_trusted_proxies_set_the_client(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(REQUESTS); i++) {
		struct http_field fields[6];
		struct http_head head;
		head_fill(&head, fields, i);
		struct forwarded from =
			forwarded_read(trust(REQUESTS[i].trusted), arena, &head,
		                       (struct forwarded){REQUESTS[i].peer, "http"});
		if (strcmp(from.client, REQUESTS[i].client) != 0 ||
		    strcmp(from.scheme, REQUESTS[i].scheme) != 0)
			fail_msg("%zu: %s, %s: got client %s, scheme %s", i, REQUESTS[i].peer,
			         REQUESTS[i].addresses[0], from.client, from.scheme);
	}
}

/* Networks, an address inside and one outside. */
static const struct {
	const char *network, *inside, *outside;
} NETWORKS[] = {
	{"10.0.0.0/8", "10.255.255.255", "11.0.0.0"},
	{"192.168.16.0/20", "192.168.31.255", "192.168.32.0"},
	{"192.0.2.1/32", "192.0.2.1", "192.0.2.0"},
	{"192.0.2.0/31", "192.0.2.1", "192.0.2.2"},
	{"10.1.2.3/8", "10.9.9.9", "11.1.2.3"},
	{"0.0.0.0/0", "203.0.113.1", "2001:db8::1"},
	{"2001:db8::/32", "2001:db8:ffff::1", "2001:db9::1"},
	{"fe80::/10", "febf::1", "fec0::1"},
	{"::1/128", "::1", "::2"},
	{"::ffff:10.0.0.0/104", "10.1.1.1", "11.1.1.1"},
};

static bool is_trusted(const char *list, const char *peer)
{
	struct http_field field = http_field_of("X-Forwarded-For", "203.0.113.99");
	const struct http_head head = {.fields = &field, .field_count = 1};
	struct forwarded from =
		forwarded_read(trust(list), arena, &head, (struct forwarded){peer, "http"});
	return strcmp(from.client, "203.0.113.99") == 0;
}

static void networks_contain_their_addresses(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(NETWORKS); i++)
		if (!is_trusted(NETWORKS[i].network, NETWORKS[i].inside) ||
		    is_trusted(NETWORKS[i].network, NETWORKS[i].outside))
			fail_msg("%s", NETWORKS[i].network);
	assert_true(is_trusted("::/0", "10.0.0.1") && is_trusted("::/0", "2001:db8::1"));
	assert_true(is_trusted("\t10.0.0.1 ,, ::1,unix ", "unix"));
	assert_true(is_trusted("1.1.1.1 2.2.2.2,3.3.3.3", "3.3.3.3"));
}

static void invalid_lists_are_refused(void **state)
{
	static const char *const LISTS[] = {
		"localhost",      "10.0.0",     "10.0.0.0/",    "10.0.0.0/33",  "10.0.0.0/-1",
		"10.0.0.0/a",     "::1/129",    "10.0.0.0/8/8", "10.0.0.0/08x", "::1]",
		"[::1]",          "10.0.0.1:1", "UNIX",         "/8",           "10.0.0.1;10.0.0.2",
		"10.0.0.1/00008",
	};
	(void)state;
	const struct trusted *trusted;
	for (size_t i = 0; i < ARRAY_LEN(LISTS); i++)
		if (trusted_parse(arena, LISTS[i], &trusted) != ERR_INVALID)
			fail_msg("%s", LISTS[i]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void without_a_scheme_it_is_the_connections(void **state)
{
	(void)state;
	struct http_field field = http_field_of("X-Forwarded-For", "192.0.2.1");
	const struct http_head head = {.fields = &field, .field_count = 1};
	const struct forwarded secure = {"10.0.0.1", "https"};
	static const char *const LISTS[] = {"10.0.0.0/8", ""};
	for (size_t i = 0; i < ARRAY_LEN(LISTS); i++)
		assert_string_equal(forwarded_read(trust(LISTS[i]), arena, &head, secure).scheme,
		                    "https");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(only_trusted_proxies_set_the_client),
		TEST(networks_contain_their_addresses),
		TEST(invalid_lists_are_refused),
		TEST(without_a_scheme_it_is_the_connections),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
