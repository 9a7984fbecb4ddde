#include "upstream/endpoints.h"

#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static uv_loop_t loop;
static struct endpoints endpoints;
static int lookups, last_status;

static void on_resolved(void *context, int status)
{
	assert_ptr_equal(context, &endpoints);
	lookups++;
	last_status = status;
}

static void start(const char *host)
{
	static struct address address;
	address = (struct address){.host = host, .port = 80};
	endpoints_init(&endpoints, &loop, "service", &address, on_resolved, &endpoints);
}

static int setup(void **state)
{
	(void)state;
	(void)log_init("test", "error");
	lookups = 0;
	return uv_loop_init(&loop);
}

static int teardown(void **state)
{
	(void)state;
	endpoints_done(&endpoints);
	uv_run(&loop, UV_RUN_DEFAULT);
	return uv_loop_close(&loop);
}

/* Resolve, and wait for the result. */
static void resolve(void)
{
	int before = lookups;
	endpoints_refresh(&endpoints);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(lookups, before + 1);
}

static void a_numeric_address_is_not_resolved(void **state)
{
	static const char *const HOSTS[] = {"127.0.0.1", "::1"};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		start(HOSTS[i]);
		endpoints_refresh(&endpoints);
		assert_false(endpoints_is_pending(&endpoints));
		assert_int_equal(endpoints_next(&endpoints, 0), 0);
		assert_int_equal(endpoints_next(&endpoints, 0), 0);
		assert_int_equal(endpoints_next(&endpoints, 1), -1);
	}
	assert_int_equal(lookups, 0);
}

static void endpoints_are_used_in_turn(void **state)
{
	(void)state;
	start("127.0.0.1");
	endpoints.count = 3;
	assert_int_equal(endpoints_next(&endpoints, 0), 0);
	assert_int_equal(endpoints_next(&endpoints, 0), 1);
	assert_int_equal(endpoints_next(&endpoints, 1U << 2), 0);
	assert_int_equal(endpoints_next(&endpoints, 1U << 0 | 1U << 1), 2);
	assert_int_equal(endpoints_next(&endpoints, 7), -1);
}

static void silent_endpoints_are_skipped(void **state)
{
	(void)state;
	start("127.0.0.1");
	endpoints.count = 2;
	endpoints_connect_failed(&endpoints, 0, true);
	endpoints_connect_failed(&endpoints, 1, false);
	for (int i = 0; i < 3; i++)
		assert_int_equal(endpoints_next(&endpoints, 0), 1);
	endpoints.list[0].silent_until_ms = uv_now(&loop);
	assert_int_equal(endpoints_next(&endpoints, 0), 0);
}

static void a_name_is_resolved_when_stale_or_after_a_failure(void **state)
{
	(void)state;
	start("localhost");
	endpoints_refresh(&endpoints);
	assert_true(endpoints_is_pending(&endpoints));
	assert_int_equal(endpoints_next(&endpoints, 0), -1);
	endpoints_refresh(&endpoints); /* a lookup is running already */
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(lookups, 1);
	assert_int_equal(last_status, 0);
	assert_int_equal(endpoints_next(&endpoints, 0), 0);
	endpoints_refresh(&endpoints);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(lookups, 1);
	endpoints.resolved_ms = 0;
	resolve();
	endpoints_connect_failed(&endpoints, 0, true);
	resolve();
	assert_int_not_equal(endpoints.list[0].silent_until_ms, 0);
}

static void addresses_stay_in_use_during_and_after_a_failed_lookup(void **state)
{
	(void)state;
	start("no-such-host.invalid");
	endpoints.count = 1;
	endpoints_refresh(&endpoints);
	assert_false(endpoints_is_pending(&endpoints));
	assert_int_equal(endpoints_next(&endpoints, 0), 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_not_equal(last_status, 0);
	assert_int_equal(endpoints_next(&endpoints, 0), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_numeric_address_is_not_resolved),
		TEST(endpoints_are_used_in_turn),
		TEST(silent_endpoints_are_skipped),
		TEST(a_name_is_resolved_when_stale_or_after_a_failure),
		TEST(addresses_stay_in_use_during_and_after_a_failed_lookup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
