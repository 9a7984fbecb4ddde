#include "loop/resolver.h"

#include "worker_fixture.h"

#include <netinet/in.h>

static uv_loop_t loop;

struct answer {
	int calls, status, count;
	struct sockaddr_storage first;
};

static void note(void *context, int status, const struct sockaddr_storage *addresses, int count)
{
	struct answer *answer = context;
	answer->calls++;
	answer->status = status;
	answer->count = count;
	if (count > 0)
		answer->first = addresses[0];
}

static int setup(void **state)
{
	(void)state;
	return uv_loop_init(&loop);
}

static int teardown(void **state)
{
	(void)state;
	uv_run(&loop, UV_RUN_DEFAULT);
	return uv_loop_close(&loop);
}

static void test_a_name_has_addresses_with_the_port(void **state)
{
	(void)state;
	struct answer answer = {0};
	struct resolver *resolver = resolver_new(&loop, note, &answer);
	assert_int_equal(resolver_start(resolver, "127.0.0.1", 8080), 0);
	assert_true(resolver_is_busy(resolver));
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_false(resolver_is_busy(resolver));
	assert_int_equal(answer.calls, 1);
	assert_int_equal(answer.status, 0);
	assert_int_equal(answer.count, 1);
	const struct sockaddr_in *address = (const struct sockaddr_in *)&answer.first;
	assert_int_equal(address->sin_family, AF_INET);
	assert_int_equal(ntohs(address->sin_port), 8080);
	resolver_free(resolver);
}

static void test_an_unknown_name_is_an_error(void **state)
{
	(void)state;
	struct answer answer = {0};
	struct resolver *resolver = resolver_new(&loop, note, &answer);
	assert_int_equal(resolver_start(resolver, "no-such-host.invalid", 1), 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(answer.calls, 1);
	assert_true(answer.status < 0);
	assert_int_equal(answer.count, 0);
	resolver_free(resolver);
}

static void test_a_stopped_lookup_does_not_call_back(void **state)
{
	(void)state;
	struct answer answer = {0};
	struct resolver *resolver = resolver_new(&loop, note, &answer);
	assert_int_equal(resolver_start(resolver, "127.0.0.1", 1), 0);
	resolver_stop(resolver);
	assert_int_equal(resolver_start(resolver, "127.0.0.1", 2), 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(answer.calls, 1);
	assert_int_equal(ntohs(((const struct sockaddr_in *)&answer.first)->sin_port), 2);
	assert_int_equal(resolver_start(resolver, "127.0.0.1", 3), 0);
	resolver_free(resolver);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(answer.calls, 1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_a_name_has_addresses_with_the_port),
		CASE(test_an_unknown_name_is_an_error),
		CASE(test_a_stopped_lookup_does_not_call_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
