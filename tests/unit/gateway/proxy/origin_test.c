#include "proxy/origin.h"

#include "base/base.h"
#include "proxy/cors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static bool is_allowed(const struct origin_rules *rules, const char *origin, const char *host)
{
	struct http_field fields[2];
	size_t count = 0;
	if (origin)
		fields[count++] = http_field_of("Origin", origin);
	if (host)
		fields[count++] = http_field_of("Host", host);
	const struct http_head head = {.fields = fields, .field_count = count};
	return origin_is_allowed(rules, &head);
}

static void rules_follow_from_the_settings(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	const struct cors *listed, *any;
	assert_int_equal(cors_parse(arena, "https://app.example", &listed), ERR_NONE);
	assert_int_equal(cors_parse(arena, "*", &any), ERR_NONE);
	const struct {
		const char *public_url, *listen;
		const struct cors *cors;
		const char *origin, *host;
		bool is_allowed;
	} CASES[] = {
		/* No page: only a loopback listener without PUBLIC_URL asks for the host. */
		{"", "0.0.0.0:8080", NULL, NULL, "evil.example", true},
		{"", "unix:/run/gw", NULL, NULL, "evil.example", true},
		{"", "127.0.0.1:8080", NULL, NULL, "evil.example", false},
		{"", "[::1]:8080", NULL, NULL, "evil.example", false},
		{"", "localhost:8080", NULL, NULL, NULL, false},
		{"", "127.0.0.1:8080", NULL, NULL, "LOCALHOST:1", true},
		{"", "127.0.0.1:8080", NULL, NULL, "[::1]", true},
		{"", "127.0.0.1:8080", NULL, NULL, "127.0.0.1.evil.example", false},
		{"https://x.example", "127.0.0.1:8080", NULL, NULL, "x.example", true},
		/* Pages. */
		{"", "0.0.0.0:8080", NULL, "http://localhost", "localhost", false},
		{"", "127.0.0.1:8080", NULL, "http://localhost:6274", "localhost", true},
		{"", "127.0.0.1:8080", NULL, "null", "localhost", false},
		{"https://X.example/app", "0.0.0.0:80", NULL, "https://x.example", "a", true},
		{"https://x.example", "0.0.0.0:80", NULL, "https://x.example:444", "a", false},
		{"https://x.example", "0.0.0.0:80", NULL, "http://x.example", "a", false},
		{"", "0.0.0.0:80", listed, "https://app.example", "a", true},
		{"", "0.0.0.0:80", listed, "https://other.example", "a", false},
		{"", "0.0.0.0:80", any, "https://other.example", "a", true},
	};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		const struct origin_rules *rules = origin_rules_new(arena, CASES[i].public_url,
		                                                    CASES[i].listen, CASES[i].cors);
		assert_int_equal(is_allowed(rules, CASES[i].origin, CASES[i].host),
		                 CASES[i].is_allowed);
	}
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_follow_from_the_settings),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
