/* proxy.c with upstream.c: a service that is asked to end. It closes connections after their
 * answers, then those that are idle. */
#include "base/base.h"
#include "proxy_fixture.h"
#include "upstream/upstream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define OK_HELLO "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
#define OK_CLOSE "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello"
#define KEY      "Host: gw\r\nAuthorization: Bearer good\r\n"
#define POST     "POST " LIST " HTTP/1.1\r\n" KEY "Content-Length: 4\r\n\r\nbody"
#define PUT      "PUT " LIST "/x HTTP/1.1\r\n" KEY "Content-Length: 4\r\n\r\nbody"
#define DELETE   "DELETE " LIST "/x HTTP/1.1\r\n" KEY "\r\n"

/* What a service sends that ends idle connections. */
#define FAREWELL "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

/* What a process sends that has the address of a replica that has ended. */
#define MISDIRECTED "HTTP/1.1 421 Misdirected Request\r\nContent-Length: 2\r\n\r\n{}"

/* Leave `count` idle connections. */
static void warm_up_many(struct fixture *f, size_t count)
{
	struct http_client *clients[FAKE_CONNS_MAX];
	for (size_t i = 0; i < count; i++) {
		clients[i] = http_client_new(&f->loop, http_server_port(f->server));
		http_client_puts(clients[i], GET_LIST);
		http_client_wait_text(fake_service_conn(f->fake, i), "\r\n\r\n", 1);
	}
	for (size_t i = 0; i < count; i++) {
		fixture_answer(f, i, OK_HELLO);
		http_client_wait_text(clients[i], "hello", 1);
		http_client_free(clients[i]);
	}
	assert_int_equal(upstream_idle(f->service), count);
}

static void connections_to_a_retiring_service_are_closed(void **state)
{
	struct fixture *f = *state;
	warm_up_many(f, 3);
	http_client_puts(f->client, GET_LIST);
	http_client_wait_text(f->fake->conns[2], "GET ", 2);
	http_client_puts(f->fake->conns[2], OK_CLOSE);
	http_client_wait_text(f->client, "hello", 1);
	assert_int_equal(upstream_connections(f->service), 0);
	assert_int_equal(http_client_count(f->client, "Connection: close"), 0);
}

static void a_refusal_closes_only_its_connection(void **state)
{
	struct fixture *f = *state;
	warm_up_many(f, 2);
	http_client_puts(f->client, GET_LIST);
	http_client_wait_text(f->fake->conns[1], "GET ", 2);
	http_client_puts(f->fake->conns[1], "HTTP/1.1 431 Too Large\r\nConnection: close\r\n"
	                                    "Content-Length: 0\r\n\r\n");
	http_client_wait_text(f->client, "\r\n\r\n", 1);
	assert_int_equal(http_client_status(f->client, 0), 431);
	assert_int_equal(upstream_idle(f->service), 1);
}

/* Send each kind of request, refuse it with `refusal` and answer it when it comes again. */
static void assert_sent_again(struct fixture *f, const char *refusal)
{
	static const char *const REQUESTS[] = {GET_LIST, DELETE, POST, PUT};
	for (size_t i = 0; i < ARRAY_LEN(REQUESTS); i++) {
		http_client_puts(f->client, REQUESTS[i]);
		fixture_answer(f, 2 * i, refusal);
		fixture_answer(f, 2 * i + 1, OK_CLOSE);
		http_client_wait_text(f->client, "hello", i + 1);
		assert_int_equal(http_client_status(f->client, i), 200);
	}
	http_client_wait_text(f->fake->conns[5], "\r\n\r\nbody", 1);
}

static void a_request_that_crosses_a_408_is_sent_again(void **state)
{
	assert_sent_again(*state, FAREWELL);
}

static void a_request_to_another_process_is_sent_again(void **state)
{
	assert_sent_again(*state, MISDIRECTED);
}

/* It has another secret, and nothing else answers. */
static void a_service_that_is_always_another_process_is_unavailable(void **state)
{
	struct fixture *f = *state;
	http_client_puts(f->client, GET_LIST);
	for (size_t i = 0; i < 3; i++)
		fixture_answer(f, i, MISDIRECTED);
	http_client_wait_text(f->client, "\"type\"", 1);
	assert_int_equal(http_client_status(f->client, 0), 503);
}

static void content_in_pieces_is_not_sent_again(void **state)
{
	struct fixture *f = *state;
	http_client_puts(f->client, "POST " LIST " HTTP/1.1\r\n" KEY "Content-Length: 4\r\n\r\nbo");
	http_client_wait_text(fake_service_conn(f->fake, 0), "\r\n\r\nbo", 1);
	http_client_puts(f->client, "dy");
	fixture_answer(f, 0, FAREWELL);
	http_client_wait_text(f->client, "\"type\"", 1);
	assert_int_equal(http_client_status(f->client, 0), 503);
	assert_int_equal(http_client_count(f->client, "Retry-After: "), 1);
	assert_int_equal(http_client_count(f->client, "outcome_uncertain"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(connections_to_a_retiring_service_are_closed),
		TEST(a_refusal_closes_only_its_connection),
		TEST(a_request_that_crosses_a_408_is_sent_again),
		TEST(a_request_to_another_process_is_sent_again),
		TEST(a_service_that_is_always_another_process_is_unavailable),
		TEST(content_in_pieces_is_not_sent_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
