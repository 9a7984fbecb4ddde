/* proxy.c with upstream.c: a service that closes connections, answers in pieces, sends invalid
 * answers or is slow. */
#include "base/base.h"
#include "proxy_fixture.h"
#include "upstream/answer.h"
#include "upstream/upstream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#define OK_HELLO "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
#define KEY      "Host: gw\r\nAuthorization: Bearer good\r\n"
#define POST     "POST " LIST " HTTP/1.1\r\n" KEY "Content-Length: 4\r\n\r\nbody"
#define PUT      "PUT " LIST "/x HTTP/1.1\r\n" KEY "Content-Length: 4\r\n\r\nbody"
#define DELETE   "DELETE " LIST "/x HTTP/1.1\r\n" KEY "\r\n"
#define SEARCH   "POST /api/v1.0/search/assets HTTP/1.1\r\n" KEY "Content-Length: 4\r\n\r\nbody"
#define LARGE    (32 << 20)

#define SLOW_CLIENTS 10

#define NEVER_MS 3600000 /* longer than any wait of a test */

static char *large;

static int make_large(void **state)
{
	(void)state;
	large = calloc(1, LARGE);
	return large ? 0 : -1;
}

static int free_large(void **state)
{
	(void)state;
	free(large);
	return 0;
}

/* Run one exchange, which leaves an idle connection. */
static void warm_up(struct fixture *f)
{
	http_client_puts(f->client, GET_LIST);
	fixture_answer(f, 0, OK_HELLO);
	http_client_wait_text(f->client, "hello", 1);
	assert_int_equal(upstream_idle(f->service), 1);
}

static void answers_can_come_byte_by_byte(void **state)
{
	static const char ANSWER[] =
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: b\r\n\r\n"
		"3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nX-Trailer: t\r\n\r\n";
	struct fixture *f = *state;
	http_client_puts(f->client, GET_LIST);
	for (size_t i = 0; i < sizeof(ANSWER) - 1; i++) {
		fixture_answer(f, 0, (char[]){ANSWER[i], '\0'});
		fixture_settle(f);
	}
	http_client_wait_text(f->client, "\r\n0\r\n\r\n", 1);
	assert_int_equal(http_client_count(f->client, "X-A: b\r\n"), 1);
	assert_int_equal(http_client_count(f->client, "Transfer-Encoding: chunked\r\n"), 1);
	assert_int_equal(http_client_count(f->client, "X-Trailer"), 0);
	assert_int_equal(upstream_idle(f->service), 1);
}

static void an_answer_can_end_with_its_connection(void **state)
{
	struct fixture *f = *state;
	http_client_puts(f->client, GET_LIST);
	fixture_answer(f, 0, "HTTP/1.0 200 OK\r\n\r\nhello");
	http_client_wait_text(f->client, "5\r\nhello\r\n", 1);
	fake_service_close(f->fake, 0);
	http_client_wait_text(f->client, "0\r\n\r\n", 1);
	assert_false(f->client->is_at_end);
	assert_int_equal(upstream_connections(f->service), 0);
}

static void answers_304_and_204_have_no_content(void **state)
{
	struct fixture *f = *state;
	warm_up(f);
	http_client_puts(f->client, GET_LIST);
	http_client_wait_text(f->fake->conns[0], "GET ", 2);
	http_client_puts(f->fake->conns[0], "HTTP/1.1 304 Not Modified\r\nETag: \"e\"\r\n\r\n");
	http_client_wait_text(f->client, "ETag: \"e\"\r\n", 1);
	http_client_puts(f->client, DELETE);
	http_client_wait_text(f->fake->conns[0], "DELETE ", 1);
	http_client_puts(f->fake->conns[0], "HTTP/1.1 204 No Content\r\n\r\n");
	http_client_wait_text(f->client, "204 No Content\r\n", 1);
	http_client_puts(f->client, GET_LIST);
	http_client_wait_text(f->fake->conns[0], "GET ", 3);
	http_client_puts(f->fake->conns[0], OK_HELLO);
	http_client_wait_text(f->client, "hello", 2);
}

/* Invalid answers, and the status that the client gets. */
static const struct {
	const char *bytes;
	int status;
} INVALID[] = {
	{"SSH-2.0-OpenSSH\r\n", 502},
	{"HTTP/1.1 99 Low\r\nContent-Length: 0\r\n\r\n", 502},
	{"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", 502},
	{"HTTP/1.1 600 High\r\nContent-Length: 0\r\n\r\n", 502},
	{"HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n", 502},
	{"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 502},
	{"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
         502},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nx", 502},
	{"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 502},
	{"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", 502},
	{"HTTP/1.1 200 OK\r\nBad Name: 1\r\n\r\n", 502},
	{"HTTP/1.1 200 OK\nContent-Length: 0\n\n", 502},
};

static void invalid_answers_are_502(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_LEN(INVALID); i++) {
		http_client_puts(f->client, GET_LIST);
		fixture_answer(f, i, INVALID[i].bytes);
		http_client_wait_text(f->client, "\"type\"", i + 1);
		if (http_client_status(f->client, i) != INVALID[i].status)
			fail_msg("%s gave %d", INVALID[i].bytes, http_client_status(f->client, i));
		assert_int_equal(upstream_connections(f->service), 0);
	}
}

static void heads_over_the_limit_are_502(void **state)
{
	struct fixture *f = *state;
	http_client_puts(f->client, GET_LIST);
	fixture_answer(f, 0, "HTTP/1.1 200 OK\r\nX: ");
	http_client_send(f->fake->conns[0], memset(large, 'x', 1 << 20), 1 << 20);
	http_client_wait_text(f->client, "\"type\"", 1);
	assert_int_equal(http_client_status(f->client, 0), 502);
}

static void bytes_after_an_answer_close_the_connection(void **state)
{
	struct fixture *f = *state;
	http_client_puts(f->client, GET_LIST);
	fixture_answer(f, 0, OK_HELLO "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsmuggled");
	http_client_wait_text(f->client, "hello", 1);
	fixture_wait_connections(f, 0);
	http_client_puts(f->client, GET_LIST);
	fixture_answer(f, 1, OK_HELLO);
	http_client_wait_text(f->client, "hello", 2);
	assert_int_equal(http_client_count(f->client, "smuggled"), 0);
}

static void bytes_on_an_idle_connection_close_it(void **state)
{
	struct fixture *f = *state;
	warm_up(f);
	http_client_puts(f->fake->conns[0], "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsmuggled");
	fixture_wait_connections(f, 0);
}

static void a_connection_closed_while_idle_is_not_used(void **state)
{
	struct fixture *f = *state;
	warm_up(f);
	fake_service_close(f->fake, 0);
	fixture_wait_connections(f, 0);
	http_client_puts(f->client, POST);
	fixture_answer(f, 1, OK_HELLO);
	http_client_wait_text(f->client, "hello", 2);
}

/* The service closes a kept connection after the request, without an answer. */
static void close_on_request(struct fixture *f, const char *request)
{
	warm_up(f);
	http_client_puts(f->client, request);
	http_client_wait_text(f->fake->conns[0], "\r\n\r\n", 2);
	fake_service_close(f->fake, 0);
}

/* Content that is known to be empty can be sent again. */
static void empty_chunked_content_is_sent_again(void **state)
{
	struct fixture *f = *state;
	warm_up(f);
	http_client_puts(f->client, "POST /api/v1.0/search/assets HTTP/1.1\r\n" KEY
	                            "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
	http_client_wait_text(f->fake->conns[0], "0\r\n\r\n", 1);
	fake_service_close(f->fake, 0);
	http_client_wait_text(fake_service_conn(f->fake, 1), "\r\n\r\n0\r\n\r\n", 1);
	http_client_puts(f->fake->conns[1], OK_HELLO);
	http_client_wait_text(f->client, "hello", 2);
	assert_int_equal(http_client_count(f->fake->conns[1], "POST "), 1);
}

static void assert_uncertain(struct fixture *f)
{
	http_client_wait_text(f->client, "\"outcome_uncertain\"", 1);
	assert_int_equal(http_client_status(f->client, 1), 503);
	assert_int_equal(http_client_count(f->client, "Retry-After"), 0);
	assert_int_equal(http_client_count(f->client, "nothing was done"), 0);
	assert_int_equal(f->fake->count, 1);
}

/* The service may have done it, and the answer to the second request would not show it. */
static void a_delete_is_not_sent_twice(void **state)
{
	close_on_request(*state, DELETE);
	assert_uncertain(*state);
}

static void a_put_is_not_sent_twice(void **state)
{
	close_on_request(*state, PUT);
	assert_uncertain(*state);
}

static void a_post_is_not_sent_twice(void **state)
{
	close_on_request(*state, POST);
	assert_uncertain(*state);
}

static void a_change_is_uncertain_after_part_of_an_answer(void **state)
{
	struct fixture *f = *state;
	warm_up(f);
	http_client_puts(f->client, DELETE);
	http_client_wait_text(f->fake->conns[0], "DELETE ", 1);
	http_client_puts(f->fake->conns[0], "HTTP/1.1 200 O");
	fixture_settle(f);
	fake_service_close(f->fake, 0);
	assert_uncertain(f);
}

static void the_outcome_of_a_read_is_never_uncertain(void **state)
{
	struct fixture *f = *state;
	close_on_request(f, SEARCH);
	http_client_wait_text(fake_service_conn(f->fake, 1), "\r\n\r\nbody", 1);
	fake_service_close(f->fake, 1);
	http_client_wait_text(f->client, "\"unavailable\"", 1);
	assert_int_equal(http_client_status(f->client, 1), 503);
}

/* Nothing was sent: the connection breaks before the client sends content. */
static void requests_that_were_not_sent_are_retried(void **state)
{
	struct fixture *f = *state;
	warm_up(f);
	http_client_puts(f->client, "POST " LIST " HTTP/1.1\r\n" KEY "Content-Length: 4\r\n\r\n");
	fixture_settle(f);
	fake_service_close(f->fake, 0);
	http_client_puts(f->client, "body");
	fixture_answer(f, 1, OK_HELLO);
	http_client_wait_text(f->client, "hello", 2);
	http_client_wait_text(f->fake->conns[1], "\r\n\r\nbody", 1);
}

/* For example a 408 that the service sends when the connection was idle for too long. */
static void bytes_before_the_request_are_not_an_answer(void **state)
{
	struct fixture *f = *state;
	warm_up(f);
	http_client_puts(f->client, "POST " LIST " HTTP/1.1\r\n" KEY "Content-Length: 4\r\n\r\n");
	fixture_settle(f);
	assert_int_equal(upstream_idle(f->service), 0);
	http_client_puts(f->fake->conns[0],
	                 "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n");
	http_client_wait_end(f->fake->conns[0]);
	http_client_puts(f->client, "body");
	fixture_answer(f, 1, OK_HELLO);
	http_client_wait_text(f->client, "hello", 2);
	assert_int_equal(http_client_status(f->client, 1), 200);
}

/* It may be the request that ends the service. */
static void a_read_is_sent_at_most_twice(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < 2; i++) {
		http_client_puts(f->client, GET_LIST);
		http_client_wait_text(fake_service_conn(f->fake, 2 * i), "\r\n\r\n", 1);
		fake_service_close(f->fake, 2 * i);
		http_client_wait_text(fake_service_conn(f->fake, 2 * i + 1), "\r\n\r\n", 1);
		fake_service_close(f->fake, 2 * i + 1);
		http_client_wait_text(f->client, "\"unavailable\"", i + 1);
		assert_int_equal(http_client_status(f->client, i), 503);
		assert_int_equal(f->fake->count, 2 * i + 2);
	}
}

static void a_read_on_a_kept_connection_is_sent_again(void **state)
{
	struct fixture *f = *state;
	close_on_request(f, GET_LIST);
	fixture_answer(f, 1, OK_HELLO);
	http_client_wait_text(f->client, "hello", 2);
}

static void there_is_no_retry_after_part_of_an_answer(void **state)
{
	struct fixture *f = *state;
	warm_up(f);
	http_client_puts(f->client, GET_LIST);
	http_client_wait_text(f->fake->conns[0], "\r\n\r\n", 2);
	http_client_puts(f->fake->conns[0], "HTTP/1.1 200 O");
	fixture_settle(f);
	fake_service_close(f->fake, 0);
	http_client_wait_text(f->client, "\"unavailable\"", 1);
	assert_int_equal(f->fake->count, 1);
}

static void an_incomplete_answer_resets_the_connection_of_the_client(void **state)
{
	static const char *const HEADS[] = {
		"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
	};
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_LEN(HEADS); i++) {
		struct http_client *client = http_client_new(&f->loop, http_server_port(f->server));
		http_client_puts(client, GET_LIST);
		fixture_answer(f, i, HEADS[i]);
		http_client_wait_text(client, "hello", 1);
		fake_service_close(f->fake, i);
		http_client_wait_end(client);
		assert_true(client->is_reset);
		assert_int_equal(http_client_count(client, "\r\n0\r\n\r\n"), 0);
		http_client_free(client);
	}
}

static void an_unreachable_service_is_503(void **state)
{
	struct fixture *f = *state;
	fake_service_unlisten(f->fake);
	http_client_puts(f->client, GET_LIST POST);
	http_client_wait_text(f->client, "\"unavailable\"", 2);
	assert_int_equal(http_client_status(f->client, 0), 503);
	assert_int_equal(http_client_count(f->client, "Retry-After: 1\r\n"), 2);
}

static void a_slow_answer_is_504(void **state)
{
	struct fixture *f = *state;
	fixture_upstream_limits.answer_timeout_ms = 20;
	http_client_puts(f->client, POST);
	http_client_wait_text(f->client, "\"timeout\"", 1);
	assert_int_equal(http_client_status(f->client, 0), 504);
	http_client_wait_end(fake_service_conn(f->fake, 0));
}

/* Bytes of a head do not extend its time limit. */
static void a_head_that_never_ends_is_504(void **state)
{
	struct fixture *f = *state;
	fixture_upstream_limits.answer_timeout_ms = 300;
	http_client_puts(f->client, GET_LIST);
	fixture_answer(f, 0, "HTTP/1.1 200 OK\r\nX: ");
	for (int i = 0; i < 40; i++) {
		http_client_puts(f->fake->conns[0], "x");
		loop_run_for(&f->loop, 25);
	}
	http_client_wait_text(f->client, "\"timeout\"", 1);
	assert_int_equal(http_client_status(f->client, 0), 504);
}

/* It counts from the end of the request, however long that took to arrive. */
static void a_slow_request_does_not_shorten_the_time_for_the_head(void **state)
{
	struct fixture *f = *state;
	fixture_upstream_limits.answer_timeout_ms = 500;
	http_client_puts(f->client, "POST " LIST " HTTP/1.1\r\n" KEY "Content-Length: 4\r\n\r\nb");
	http_client_wait_text(fake_service_conn(f->fake, 0), "\r\n\r\nb", 1);
	loop_run_for(&f->loop, fixture_upstream_limits.answer_timeout_ms);
	http_client_puts(f->client, "ody");
	http_client_wait_text(f->fake->conns[0], "body", 1);
	http_client_puts(f->fake->conns[0], OK_HELLO);
	http_client_wait_text(f->client, "hello", 1);
}

static void an_answer_that_stalls_is_aborted(void **state)
{
	struct fixture *f = *state;
	fixture_upstream_limits.content_timeout_ms = 20;
	http_client_puts(f->client, GET_LIST);
	fixture_answer(f, 0, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello");
	http_client_wait_end(f->client);
	assert_true(f->client->is_reset);
}

static void idle_connections_time_out(void **state)
{
	struct fixture *f = *state;
	fixture_upstream_limits.idle_timeout_ms = 20;
	http_client_puts(f->client, GET_LIST);
	fixture_answer(f, 0, OK_HELLO);
	http_client_wait_text(f->client, "hello", 1);
	http_client_wait_end(f->fake->conns[0]);
	assert_int_equal(upstream_connections(f->service), 0);
}

static void the_number_of_idle_connections_is_limited(void **state)
{
	struct fixture *f = *state;
	struct http_client *clients[3];
	fixture_upstream_limits.idle_max = 2;
	for (size_t i = 0; i < ARRAY_LEN(clients); i++) {
		clients[i] = http_client_new(&f->loop, http_server_port(f->server));
		http_client_puts(clients[i], GET_LIST);
		http_client_wait_text(fake_service_conn(f->fake, i), "\r\n\r\n", 1);
	}
	assert_int_equal(upstream_connections(f->service), 3);
	for (size_t i = 0; i < ARRAY_LEN(clients); i++) {
		http_client_puts(f->fake->conns[i], OK_HELLO);
		http_client_wait_text(clients[i], "hello", 1);
		http_client_free(clients[i]);
	}
	assert_int_equal(upstream_connections(f->service), 2);
}

/* The service answers while the client still sends. Its connection is not used again. */
static void an_early_answer_is_passed_on(void **state)
{
	struct fixture *f = *state;
	http_client_puts(f->client,
	                 "POST " LIST " HTTP/1.1\r\n" KEY "Content-Length: 10\r\n\r\n01234");
	http_client_wait_text(fake_service_conn(f->fake, 0), "01234", 1);
	http_client_puts(f->fake->conns[0],
	                 "HTTP/1.1 415 Unsupported Media Type\r\nContent-Length: 2\r\n\r\nno");
	http_client_wait_text(f->client, "\r\n\r\nno", 1);
	assert_int_equal(http_client_status(f->client, 0), 415);
	assert_int_equal(upstream_connections(f->service), 0);
	http_client_puts(f->client, "56789" GET_LIST);
	fixture_answer(f, 1, OK_HELLO);
	http_client_wait_text(f->client, "hello", 1);
}

/* The client resets its connection. When it only closes it, the server learns this from its first
 * write. */
static void disconnect(struct fixture *f)
{
	http_client_reset(f->client);
	f->client = NULL;
}

/* Nothing but the disconnect may end a call. */
static void wait_for_ever(void)
{
	fixture_upstream_limits.answer_timeout_ms = NEVER_MS;
	fixture_upstream_limits.content_timeout_ms = NEVER_MS;
}

static void a_disconnect_cancels_the_call(void **state)
{
	struct fixture *f = *state;
	wait_for_ever();
	http_client_puts(f->client, GET_LIST);
	struct http_client *conn = fake_service_conn(f->fake, 0);
	http_client_wait_text(conn, "\r\n\r\n", 1);
	disconnect(f);
	http_client_wait_end(conn);
	assert_int_equal(upstream_connections(f->service), 0);
}

static void a_disconnect_cancels_the_answer(void **state)
{
	struct fixture *f = *state;
	wait_for_ever();
	http_client_puts(f->client, GET_LIST);
	fixture_answer(f, 0, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello");
	http_client_wait_text(f->client, "hello", 1);
	disconnect(f);
	http_client_wait_end(f->fake->conns[0]);
}

/* Send until all buffers on the way are full. Returns the number of bytes sent. */
static size_t send_until_full(struct fixture *f, struct http_client *from, size_t length)
{
	size_t sent = 0;
	for (int idle = 0; idle < 20 && sent < length;) {
		ssize_t n = send(from->fd, large + sent, length - sent, MSG_NOSIGNAL);
		sent += n > 0 ? (size_t)n : 0;
		idle = n > 0 ? 0 : idle + 1;
		loop_turn(&f->loop, loop_patience_ms(&f->loop), "full");
	}
	return sent;
}

static void a_slow_client_slows_down_the_service(void **state)
{
	struct fixture *f = *state;
	char head[100];
	snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", LARGE);
	http_client_puts(f->client, GET_LIST);
	fixture_answer(f, 0, head);
	http_client_wait_text(f->client, "\r\n\r\n", 1);
	http_client_reads(f->client, false);
	size_t sent = send_until_full(f, f->fake->conns[0], LARGE);
	assert_true(sent < LARGE); /* the proxy does not buffer the rest */
	http_client_reads(f->client, true);
	http_client_send(f->fake->conns[0], large + sent, LARGE - sent);
	while (f->client->length < LARGE)
		uv_run(&f->loop, UV_RUN_ONCE);
	loop_until(&f->loop, upstream_idle(f->service) == 1);
}

/* What the proxy buffers of each answer is bounded by the server's limit and one read. */
static void slow_clients_are_not_buffered_for(void **state)
{
	const size_t most = http_limits_default.send_high_bytes + ANSWER_READ_BYTES;
	struct fixture *f = *state;
	struct http_client *clients[SLOW_CLIENTS];
	char head[100];
	snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", LARGE);
	for (size_t i = 0; i < SLOW_CLIENTS; i++) {
		clients[i] = http_client_new(&f->loop, http_server_port(f->server));
		http_client_reads(clients[i], false);
		http_client_puts(clients[i], GET_LIST);
		fixture_answer(f, i, head);
		assert_true(send_until_full(f, f->fake->conns[i], LARGE) < LARGE);
	}
	assert_in_range(http_server_queued(f->server), 1, SLOW_CLIENTS * most);
	for (size_t i = 0; i < SLOW_CLIENTS; i++)
		http_client_free(clients[i]);
	fixture_wait_connections(f, 0);
}

static void a_slow_service_slows_down_the_client(void **state)
{
	struct fixture *f = *state;
	const size_t length = 8 << 20;
	http_client_puts(f->client, "POST /api/v1.0/implement/experiments/x/report HTTP/1.1\r\n" KEY
	                            "Content-Length: 8388608\r\n\r\nx");
	struct http_client *conn = fake_service_conn(f->fake, 0);
	http_client_wait_text(conn, "\r\n\r\nx", 1);
	http_client_reads(conn, false);
	size_t sent = send_until_full(f, f->client, length - 1);
	/* The proxy buffers up to the limit; the client keeps the rest. */
	assert_in_range(upstream_queued(f->service), fixture_upstream_limits.send_high_bytes,
	                2 * fixture_upstream_limits.send_high_bytes);
	http_client_reads(conn, true);
	http_client_send(f->client, large, length - 1 - sent);
	while (conn->length < length)
		uv_run(&f->loop, UV_RUN_ONCE);
	http_client_puts(conn, OK_HELLO);
	http_client_wait_text(f->client, "hello", 1);
}

static void large_answers_arrive_whole(void **state)
{
	struct fixture *f = *state;
	char head[100];
	snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", LARGE);
	for (size_t i = 0; i < LARGE; i++)
		large[i] = (char)(i * 7 + i / 4099);
	http_client_puts(f->client, GET_LIST);
	fixture_answer(f, 0, head);
	http_client_send(f->fake->conns[0], large, LARGE);
	http_client_wait_text(f->client, "\r\n\r\n", 1);
	size_t start = (size_t)(strstr(f->client->received, "\r\n\r\n") + 4 - f->client->received);
	while (f->client->length < start + LARGE)
		uv_run(&f->loop, UV_RUN_ONCE);
	assert_int_equal(f->client->length, start + LARGE);
	assert_int_equal(memcmp(f->client->received + start, large, LARGE), 0);
}

static void host_names_are_resolved(void **state)
{
	struct fixture *f = *state;
	struct address named = {.host = "localhost", .port = f->fake->port};
	struct upstream *service =
		upstream_new(&f->loop, "named", &named, &fixture_upstream_limits);
	f->services[API_EXPERIMENTS] = service;
	http_client_puts(f->client, GET_LIST);
	fixture_answer(f, 0, OK_HELLO);
	http_client_wait_text(f->client, "hello", 1);
	assert_int_equal(upstream_idle(service), 1);
	upstream_free(service);
}

static void unknown_host_names_are_503(void **state)
{
	struct fixture *f = *state;
	struct address named = {.host = "no-such-host.invalid", .port = 1};
	struct upstream *service =
		upstream_new(&f->loop, "named", &named, &fixture_upstream_limits);
	f->services[API_EXPERIMENTS] = service;
	http_client_puts(f->client, GET_LIST);
	http_client_wait_text(f->client, "\"unavailable\"", 1);
	assert_int_equal(http_client_status(f->client, 0), 503);
	upstream_free(service);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(answers_can_come_byte_by_byte),
		TEST(an_answer_can_end_with_its_connection),
		TEST(answers_304_and_204_have_no_content),
		TEST(invalid_answers_are_502),
		TEST(heads_over_the_limit_are_502),
		TEST(bytes_after_an_answer_close_the_connection),
		TEST(bytes_on_an_idle_connection_close_it),
		TEST(a_connection_closed_while_idle_is_not_used),
		TEST(empty_chunked_content_is_sent_again),
		TEST(a_delete_is_not_sent_twice),
		TEST(a_put_is_not_sent_twice),
		TEST(a_post_is_not_sent_twice),
		TEST(a_change_is_uncertain_after_part_of_an_answer),
		TEST(the_outcome_of_a_read_is_never_uncertain),
		TEST(requests_that_were_not_sent_are_retried),
		TEST(bytes_before_the_request_are_not_an_answer),
		TEST(a_read_is_sent_at_most_twice),
		TEST(a_read_on_a_kept_connection_is_sent_again),
		TEST(there_is_no_retry_after_part_of_an_answer),
		TEST(an_incomplete_answer_resets_the_connection_of_the_client),
		TEST(an_unreachable_service_is_503),
		TEST(a_slow_answer_is_504),
		TEST(a_head_that_never_ends_is_504),
		TEST(a_slow_request_does_not_shorten_the_time_for_the_head),
		TEST(an_answer_that_stalls_is_aborted),
		TEST(idle_connections_time_out),
		TEST(the_number_of_idle_connections_is_limited),
		TEST(an_early_answer_is_passed_on),
		TEST(a_disconnect_cancels_the_call),
		TEST(a_disconnect_cancels_the_answer),
		TEST(a_slow_client_slows_down_the_service),
		TEST(slow_clients_are_not_buffered_for),
		TEST(a_slow_service_slows_down_the_client),
		TEST(large_answers_arrive_whole),
		TEST(host_names_are_resolved),
		TEST(unknown_host_names_are_503),
	};
	return cmocka_run_group_tests(tests, make_large, free_large);
}
