#include "client/endpoints.h"

#include "base/base.h"
#include "fake_names.h"
#include "observe/log.h"

#include <string.h>

#define MANY 40

static uv_loop_t loop;
static struct arena *arena;
static struct fake_names names;
static struct endpoints *endpoints;
static struct endpoint_times times;
static int lookups, last_status;

static const struct endpoint_set NONE;

static void on_lookup(void *context, int status)
{
	assert_ptr_equal(context, &endpoints);
	lookups++;
	last_status = status;
}

static void start(const char *host)
{
	static struct address address;
	address = (struct address){.host = host, .port = 80};
	endpoints = endpoints_new(&loop, "service", &address, &times, on_lookup, &endpoints);
}

static int setup(void **state)
{
	(void)state;
	(void)log_init("test", "error");
	times = (struct endpoint_times)ENDPOINT_TIMES_DEFAULT;
	times.lookup_ms = times.lookup_retry_ms = 0; /* each endpoints_take() starts a look-up */
	lookups = last_status = 0;
	arena = arena_new();
	fake_names_start(&names);
	return uv_loop_init(&loop);
}

static int teardown(void **state)
{
	(void)state;
	endpoints_free(endpoints);
	endpoints = NULL;
	uv_run(&loop, UV_RUN_DEFAULT);
	fake_names_stop(&names);
	arena_free(arena);
	return uv_loop_close(&loop);
}

static struct endpoint *take(void)
{
	return endpoints_take(endpoints, &NONE);
}

/* Take an endpoint, and release it with its name. */
static const char *turn(void)
{
	static char name[ENDPOINT_NAME_MAX];
	struct endpoint *endpoint = take();
	assert_non_null(endpoint);
	snprintf(name, sizeof(name), "%s", endpoint->name);
	endpoint_release(endpoint);
	return name;
}

/* The name has these addresses now, and the look-up that says so has ended. */
static void resolve(const char *addresses)
{
	int before;
	fake_names_set(&names, "svc.test", addresses);
	uv_run(&loop, UV_RUN_DEFAULT); /* an older look-up ends */
	before = lookups;
	struct endpoint *endpoint = take();
	if (endpoint)
		endpoint_release(endpoint);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(lookups, before + 1);
}

/* The endpoint with that address, taken. */
static struct endpoint *take_named(const char *name)
{
	struct endpoint_set others = {0};
	struct endpoint *endpoint;
	while ((endpoint = endpoints_take(endpoints, &others))) {
		if (strcmp(endpoint->name, name) == 0)
			return endpoint;
		endpoint_set_add(&others, arena, endpoint);
		endpoint_release(endpoint);
	}
	fail_msg("%s is not known", name);
	return NULL;
}

static void fail_named(const char *name)
{
	struct endpoint *endpoint = take_named(name);
	endpoints_failed(endpoints, endpoint, "test");
	endpoint_release(endpoint);
}

static void run_until(uint64_t at_ms)
{
	while (uv_now(&loop) < at_ms)
		uv_update_time(&loop);
}

static void an_address_is_not_resolved(void **state)
{
	static const struct address ADDRESSES[] = {
		{.host = "127.0.0.1", .port = 80},
		{.host = "::1", .port = 80},
		{.host = "/run/socket", .is_unix = true},
	};
	static const char *const NAMES[] = {"127.0.0.1:80", "[::1]:80", "/run/socket"};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(NAMES); i++) {
		endpoints = endpoints_new(&loop, "service", &ADDRESSES[i], &times, on_lookup,
		                          &endpoints);
		assert_string_equal(turn(), NAMES[i]);
		assert_false(endpoints_is_resolving(endpoints));
		endpoints_free(endpoints);
	}
	assert_int_equal(lookups, 0);
	endpoints = NULL;
}

static void a_name_is_resolved_before_the_first_call(void **state)
{
	(void)state;
	start("svc.test");
	fake_names_set(&names, "svc.test", "127.0.0.2");
	assert_null(take());
	assert_true(endpoints_is_resolving(endpoints));
	assert_null(take()); /* a look-up is running already */
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(lookups, 1);
	assert_string_equal(turn(), "127.0.0.2:80");
}

static void the_number_of_endpoints_is_not_limited(void **state)
{
	struct buf addresses = {.arena = arena};
	struct endpoint *taken[MANY];
	(void)state;
	for (int i = 0; i < MANY; i++)
		buf_printf(&addresses, "127.0.1.%d ", i + 1);
	start("svc.test");
	resolve(addresses.data);
	assert_int_equal(endpoints_count(endpoints), MANY);
	for (int i = 0; i < MANY; i++) {
		taken[i] = take();
		for (int j = 0; j < i; j++)
			assert_ptr_not_equal(taken[i], taken[j]);
	}
	for (int i = 0; i < MANY; i++)
		endpoint_release(taken[i]);
}

static void idle_endpoints_are_taken_in_turn(void **state)
{
	(void)state;
	times.lookup_ms = 3600000;
	start("svc.test");
	resolve("127.0.0.2 127.0.0.3 127.0.0.4");
	char first[ENDPOINT_NAME_MAX], second[ENDPOINT_NAME_MAX];
	snprintf(first, sizeof(first), "%s", turn());
	snprintf(second, sizeof(second), "%s", turn());
	assert_string_not_equal(first, second);
	assert_string_not_equal(turn(), second);
	assert_string_equal(turn(), first);
	assert_string_equal(turn(), second);
}

/* A replica that hangs keeps its calls and gets no more; one that starts again has none and gets
 * the next ones. */
static void the_least_busy_endpoint_is_taken(void **state)
{
	struct endpoint *busy[6];
	(void)state;
	start("svc.test");
	resolve("127.0.0.2");
	for (size_t i = 0; i < ARRAY_LEN(busy); i++)
		busy[i] = take();
	resolve("127.0.0.2 127.0.0.3");
	for (size_t i = 0; i < ARRAY_LEN(busy); i++) {
		struct endpoint *endpoint = take_named("127.0.0.3:80");
		endpoint_release(endpoint);
		assert_string_equal(turn(), "127.0.0.3:80");
	}
	for (size_t i = 0; i < ARRAY_LEN(busy); i++)
		endpoint_release(busy[i]);
}

static void a_rotated_answer_changes_nothing(void **state)
{
	(void)state;
	start("svc.test");
	resolve("127.0.0.2 127.0.0.3");
	struct endpoint *endpoint = take_named("127.0.0.3:80");
	resolve("127.0.0.3 127.0.0.2");
	assert_int_equal(endpoints_count(endpoints), 2);
	endpoint_release(endpoint);
	assert_ptr_equal(take_named("127.0.0.3:80"), endpoint);
	endpoint_release(endpoint);
}

static void an_endpoint_missing_in_an_answer_stays_in_use(void **state)
{
	(void)state;
	start("svc.test");
	resolve("127.0.0.2 127.0.0.3");
	resolve("127.0.0.3");
	resolve("127.0.0.4");
	assert_int_equal(endpoints_count(endpoints), 3);
	endpoint_release(take_named("127.0.0.2:80"));
	fail_named("127.0.0.2:80"); /* its first failure removes it */
	assert_int_equal(endpoints_count(endpoints), 2);
	fail_named("127.0.0.4:80");
	assert_int_equal(endpoints_count(endpoints), 2);
	resolve("127.0.0.3"); /* listed and failing, then unlisted */
	assert_int_equal(endpoints_count(endpoints), 1);
}

/* An address that was given away is forgotten at once, also while it is listed. */
static void an_address_of_another_process_is_removed(void **state)
{
	(void)state;
	start("svc.test");
	resolve("127.0.0.2 127.0.0.3");
	struct endpoint *endpoint = take_named("127.0.0.2:80");
	endpoints_misdirected(endpoints, endpoint);
	endpoint_release(endpoint);
	assert_int_equal(endpoints_count(endpoints), 1);
	assert_string_equal(turn(), "127.0.0.3:80");
	resolve("127.0.0.2 127.0.0.3");
	assert_int_equal(endpoints_count(endpoints), 2);
}

static void a_numeric_address_is_never_removed(void **state)
{
	(void)state;
	start("127.0.0.9");
	struct endpoint *endpoint = take();
	endpoints_misdirected(endpoints, endpoint);
	endpoint_release(endpoint);
	assert_string_equal(turn(), "127.0.0.9:80");
}

static void an_unlisted_endpoint_finishes_its_calls(void **state)
{
	(void)state;
	times.unlisted_ms = 0;
	start("svc.test");
	resolve("127.0.0.2 127.0.0.3");
	struct endpoint *endpoint = take_named("127.0.0.2:80");
	struct endpoint_link link;
	resolve("127.0.0.3");
	assert_int_equal(endpoints_count(endpoints), 1);
	TAILQ_INSERT_HEAD(&endpoint->kept, &link, link);
	endpoint_release(endpoint);
	for (int i = 0; i < 4; i++)
		assert_string_equal(turn(), "127.0.0.3:80");
	TAILQ_REMOVE(&endpoint->kept, &link, link);
	endpoint_unkept(endpoint);
}

static void a_failed_look_up_changes_nothing(void **state)
{
	(void)state;
	start("svc.test");
	resolve("127.0.0.2 127.0.0.3");
	resolve("");
	assert_int_not_equal(last_status, 0);
	assert_int_equal(endpoints_count(endpoints), 2);
	resolve("127.0.0.2 127.0.0.3");
	assert_int_equal(last_status, 0);
}

static void a_failing_endpoint_is_left_out(void **state)
{
	(void)state;
	start("svc.test");
	resolve("127.0.0.2 127.0.0.3");
	fail_named("127.0.0.2:80");
	for (int i = 0; i < 4; i++)
		assert_string_equal(turn(), "127.0.0.3:80");
	/* Rather the failing one than none. */
	struct endpoint_set tried = {0};
	struct endpoint *healthy = take(), *failing;
	endpoint_set_add(&tried, arena, healthy);
	assert_false(endpoints_has_other(endpoints, &tried));
	failing = endpoints_take(endpoints, &tried);
	assert_string_equal(failing->name, "127.0.0.2:80");
	endpoint_set_add(&tried, arena, failing);
	assert_null(endpoints_take(endpoints, &tried));
	endpoints_answered(endpoints, failing);
	endpoint_release(failing);
	tried.count = 1;
	assert_true(endpoints_has_other(endpoints, &tried));
	endpoint_release(healthy);
}

static void a_failing_endpoint_gets_one_call_as_a_trial(void **state)
{
	struct endpoint *calls[4];
	(void)state;
	times.backoff_ms = 20;
	start("svc.test");
	resolve("127.0.0.2 127.0.0.3");
	fail_named("127.0.0.2:80");
	run_until(uv_now(&loop) + times.backoff_ms);
	int trials = 0;
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		calls[i] = take();
		trials += strcmp(calls[i]->name, "127.0.0.2:80") == 0;
	}
	assert_int_equal(trials, 1);
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		endpoint_release(calls[i]);
}

/* Calls that break together do not make the backoff grow. */
static void calls_that_fail_together_are_one_failure(void **state)
{
	struct endpoint *calls[100];
	(void)state;
	times.backoff_ms = 20;
	times.backoff_max_ms = UINT64_C(1) << 40;
	start("127.0.0.2");
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		calls[i] = take();
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		endpoints_failed(endpoints, calls[i], "test");
		endpoint_release(calls[i]);
	}
	assert_false(endpoints_has_other(endpoints, &NONE));
	run_until(uv_now(&loop) + times.backoff_ms);
	assert_true(endpoints_has_other(endpoints, &NONE));
}

static void retire_named(const char *name)
{
	struct endpoint *endpoint = take_named(name);
	endpoints_retiring(endpoints, endpoint);
	endpoint_release(endpoint);
}

/* Both endpoints are used. */
static void assert_in_turn(void)
{
	char first[ENDPOINT_NAME_MAX];
	snprintf(first, sizeof(first), "%s", turn());
	assert_string_not_equal(turn(), first);
}

static void a_retiring_endpoint_is_used_last(void **state)
{
	(void)state;
	start("svc.test");
	resolve("127.0.0.1 127.0.0.2");
	times.retiring_ms = UINT64_C(1) << 40;
	retire_named("127.0.0.1:80");
	for (int i = 0; i < 10; i++)
		assert_string_equal(turn(), "127.0.0.2:80");
	retire_named("127.0.0.2:80"); /* all of them: better than none */
	assert_in_turn();
}

static void a_retiring_endpoint_is_used_again(void **state)
{
	(void)state;
	start("svc.test");
	resolve("127.0.0.1 127.0.0.2");
	times.retiring_ms = 1;
	retire_named("127.0.0.1:80");
	run_until(uv_now(&loop) + 1);
	assert_in_turn();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_address_is_not_resolved),
		TEST(a_name_is_resolved_before_the_first_call),
		TEST(the_number_of_endpoints_is_not_limited),
		TEST(idle_endpoints_are_taken_in_turn),
		TEST(the_least_busy_endpoint_is_taken),
		TEST(a_rotated_answer_changes_nothing),
		TEST(an_endpoint_missing_in_an_answer_stays_in_use),
		TEST(an_address_of_another_process_is_removed),
		TEST(a_numeric_address_is_never_removed),
		TEST(an_unlisted_endpoint_finishes_its_calls),
		TEST(a_failed_look_up_changes_nothing),
		TEST(a_failing_endpoint_is_left_out),
		TEST(a_failing_endpoint_gets_one_call_as_a_trial),
		TEST(calls_that_fail_together_are_one_failure),
		TEST(a_retiring_endpoint_is_used_last),
		TEST(a_retiring_endpoint_is_used_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
