#include "redis/url.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_reads_every_form(void **state)
{
	static const struct {
		const char *text, *host, *path, *user, *password;
		uint16_t port;
		int db;
		bool is_tls;
	} CASES[] = {
		{"redis://127.0.0.1:6380", "127.0.0.1", NULL, NULL, NULL, 6380, 0},
		{"redis://redis", "redis", NULL, NULL, NULL, 6379, 0},
		{"redis://redis/", "redis", NULL, NULL, NULL, 6379, 0},
		{"redis://:secret@redis:1/15", "redis", NULL, NULL, "secret", 1, 15},
		{"redis://app:p%40ss%2Fw%3ard@redis:1/2", "redis", NULL, "app", "p@ss/w:rd", 1, 2},
		{"redis://:a:b@[::1]:7", "::1", NULL, NULL, "a:b", 7, 0},
		{"redis://[::1]", "::1", NULL, NULL, NULL, 6379, 0},
		{"rediss://:secret@redis:6380/1", "redis", NULL, NULL, "secret", 6380, 1, true},
		{"rediss://redis", "redis", NULL, NULL, NULL, 6379, 0, true},
		{"unix:/run/redis.sock", NULL, "/run/redis.sock", NULL, NULL, 6379, 0},
		{"unix:/run/redis.sock?db=3", NULL, "/run/redis.sock", NULL, NULL, 6379, 3},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		struct redis_url url;
		assert_int_equal(redis_url_parse(CASES[i].text, &url), ERR_NONE);
		const char *got[] = {url.host, url.path, url.user, url.password};
		const char *want[] = {CASES[i].host, CASES[i].path, CASES[i].user,
		                      CASES[i].password};
		for (size_t k = 0; k < ARRAY_LEN(got); k++) {
			assert_int_equal(!got[k], !want[k]);
			if (got[k])
				assert_string_equal(got[k], want[k]);
		}
		assert_int_equal(url.port, CASES[i].port);
		assert_int_equal(url.db, CASES[i].db);
		assert_int_equal(url.is_tls, CASES[i].is_tls);
		redis_url_free(&url);
	}
}

static void test_refuses_other_texts(void **state)
{
	static const char *const CASES[] = {
		"",
		"redis",
		"http://redis:1",
		"rediss:redis:1",
		"rediss://",
		"redisss://redis:1",
		"redis://",
		"redis://:1",
		"redis://redis:",
		"redis://redis:0",
		"redis://redis:65536",
		"redis://redis:6379x",
		"redis://redis:-1",
		"redis://redis/x",
		"redis://redis/1/2",
		"redis://redis/99999999999",
		"redis://secret@redis",
		"redis://user:@redis",
		"redis://:a%4@redis",
		"redis://:a%zz@redis",
		"redis://:a%00b@redis",
		"redis://[::1",
		"redis://[::1]x",
		"unix:",
		"unix:run/redis.sock",
		"unix:/run/redis.sock?db=",
		"unix:/run/redis.sock?db=-1",
		"unix:/run/redis.sock?database=1",
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		struct redis_url url;
		enum err_code code = redis_url_parse(CASES[i], &url);
		if (code != ERR_INVALID)
			fail_msg("accepted: %s", CASES[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads_every_form),
		cmocka_unit_test(test_refuses_other_texts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
