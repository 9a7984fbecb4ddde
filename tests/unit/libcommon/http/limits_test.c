/* Clients that are slow or silent, and limits of connections and memory. */
#include "http_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define GET  "GET /x HTTP/1.1\r\nHost: a\r\n\r\n"
#define LAST "GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
#define POST "POST /p HTTP/1.1\r\nHost: a\r\n"

#define LARGE (8 << 20) /* more than the kernel buffers for a client that does not read */

static void run_until_idle(struct fixture *f)
{
	for (int i = 0; i < 10; i++)
		uv_run(&f->loop, UV_RUN_NOWAIT);
}

static void leave_open(struct http_exchange *x)
{
	(void)x;
}

static struct http_client *another_client(struct fixture *f)
{
	size_t before = http_server_connections(f->server);
	struct http_client *client = http_client_new(&f->loop, f->port);
	loop_until(&f->loop, http_server_connections(f->server) > before);
	return client;
}

/* --- Slow clients ----------------------------------------------------------------------------- */

static void slow_heads_are_refused(void **state)
{
	struct fixture *f = *state;
	fixture_limits.head_timeout_ms = 20;
	http_client_puts(f->client, "GET / HTTP/1.1\r\nHost:");
	http_client_wait_end(f->client);
	assert_int_equal(http_client_status(f->client, 0), 408);
	assert_int_equal(f->heads, 0);
}

static void slow_content_is_refused(void **state)
{
	struct fixture *f = *state;
	fixture_limits.content_timeout_ms = 20;
	http_client_puts(f->client, POST "Content-Length: 10\r\n\r\nhi");
	http_client_wait_end(f->client);
	assert_int_equal(http_client_status(f->client, 0), 408);
	assert_int_equal(f->gone_reason, ERR_REQUEST_TIMEOUT);
}

/* Each byte arrives in time; the rate is too low. */
static void trickling_content_is_refused(void **state)
{
	struct fixture *f = *state;
	fixture_limits.content_timeout_ms = 50;
	fixture_limits.content_rate_min = 1 << 20;
	http_client_puts(f->client, POST "Content-Length: 1000000\r\n\r\n");
	loop_until(&f->loop, f->heads == 1);
	while (f->gones == 0) {
		http_client_puts(f->client, "x");
		uv_run(&f->loop, UV_RUN_ONCE);
	}
	http_client_wait_end(f->client);
	assert_int_equal(http_client_status(f->client, 0), 408);
	assert_int_equal(f->gone_reason, ERR_REQUEST_TIMEOUT);
}

static void content_has_a_time_limit(void **state)
{
	struct fixture *f = *state;
	fixture_limits.content_total_ms = 50;
	fixture_limits.content_rate_min = 0;
	http_client_puts(f->client, POST "Content-Length: 1000000\r\n\r\n");
	loop_until(&f->loop, f->heads == 1);
	while (f->gones == 0) {
		http_client_puts(f->client, "x");
		uv_run(&f->loop, UV_RUN_ONCE);
	}
	assert_int_equal(f->gone_reason, ERR_REQUEST_TIMEOUT);
}

static void pause_and_shorten_timeouts(struct http_exchange *x)
{
	http_content_pause(x);
	fixture_limits.content_timeout_ms = fixture_limits.content_total_ms = 1;
}

static void a_pause_does_not_count_as_the_clients_time(void **state)
{
	struct fixture *f = *state;
	f->on_head = pause_and_shorten_timeouts;
	http_client_puts(f->client, POST "Content-Length: 2\r\n\r\nhi");
	loop_until(&f->loop, f->heads == 1);
	loop_run_for(&f->loop, 30);
	assert_int_equal(f->gones, 0);
	http_content_resume(f->held);
	http_client_wait_text(f->client, "200 OK", 1);
}

static void respond_large(struct http_exchange *x)
{
	static char large[LARGE];
	http_respond_start(x, 200, NULL, 0, LARGE);
	assert_true(http_respond_content(x, large, LARGE));
}

static void clients_that_stop_reading_are_closed(void **state)
{
	struct fixture *f = *state;
	fixture_limits.content_timeout_ms = 20;
	f->on_end = respond_large;
	http_client_reads(f->client, false);
	http_client_puts(f->client, GET);
	while (f->dones == 0)
		uv_run(&f->loop, UV_RUN_ONCE);
	assert_int_equal(f->gones, 1);
	assert_int_equal(f->gone_reason, ERR_CLIENT_GONE);
}

/* Reads of a few bytes let the server's queue shrink before each timeout. */
static void clients_that_read_too_slowly_are_closed(void **state)
{
	struct fixture *f = *state;
	char bytes[4096];
	fixture_limits.content_timeout_ms = 50;
	fixture_limits.content_rate_min = 1 << 30;
	f->on_end = respond_large;
	http_client_reads(f->client, false);
	http_client_puts(f->client, GET);
	while (f->dones == 0) {
		(void)!recv(f->client->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
		uv_run(&f->loop, UV_RUN_ONCE);
	}
	assert_int_equal(f->gone_reason, ERR_CLIENT_GONE);
}

/* Set here and not earlier: the test's own client could exceed them. */
static void shorten_timeouts(struct http_exchange *x)
{
	(void)x;
	fixture_limits.content_timeout_ms = fixture_limits.idle_timeout_ms = 1;
}

static void slow_handlers_do_not_time_out(void **state)
{
	struct fixture *f = *state;
	f->on_end = shorten_timeouts;
	http_client_puts(f->client, GET);
	loop_until(&f->loop, f->ends == 1);
	loop_run_for(&f->loop, 30);
	assert_int_equal(f->gones, 0);
	respond_text(f->held, 200, "at last");
	http_client_wait_text(f->client, "at last", 1);
}

static void respond_and_shorten_timeout(struct http_exchange *x)
{
	fixture_limits.idle_timeout_ms = 20;
	respond_text(x, 200, "");
}

static void idle_connections_end(void **state)
{
	struct fixture *f = *state;
	f->on_end = respond_and_shorten_timeout;
	http_client_puts(f->client, GET);
	http_client_wait_end(f->client);
	assert_int_equal(http_client_status(f->client, 0), 200);
	assert_int_equal(http_client_status(f->client, 1), 0);
}

/* --- Clients that close ----------------------------------------------------------------------- */

static void a_client_that_shuts_down_sending_gets_its_answer(void **state)
{
	struct fixture *f = *state;
	f->on_end = leave_open;
	http_client_puts(f->client, POST "Content-Length: 2\r\n\r\nhi");
	assert_int_equal(shutdown(f->client->fd, SHUT_WR), 0);
	loop_until(&f->loop, f->ends == 1);
	loop_run_for(&f->loop, 20);
	assert_int_equal(f->gones, 0);
	respond_text(f->held, 200, "the answer");
	http_client_wait_end(f->client);
	assert_false(f->client->is_reset);
	assert_int_equal(http_client_count(f->client, "the answer"), 1);
	assert_int_equal(http_client_count(f->client, "Connection: close"), 1);
}

static void pipelined_requests_before_a_shutdown_are_answered(void **state)
{
	struct fixture *f = *state;
	http_client_puts(f->client, GET GET GET);
	assert_int_equal(shutdown(f->client->fd, SHUT_WR), 0);
	http_client_wait_end(f->client);
	assert_int_equal(http_client_count(f->client, "200 OK"), 3);
}

static void a_shutdown_within_a_request_ends_it(void **state)
{
	struct fixture *f = *state;
	http_client_puts(f->client, POST "Content-Length: 10\r\n\r\nhi");
	assert_int_equal(shutdown(f->client->fd, SHUT_WR), 0);
	loop_until(&f->loop, f->dones == 1);
	assert_int_equal(f->gone_reason, ERR_CLIENT_GONE);
}

static void resets_are_noticed(void **state)
{
	struct fixture *f = *state;
	f->on_end = leave_open;
	http_client_puts(f->client, GET);
	loop_until(&f->loop, f->ends == 1);
	assert_int_equal(f->gones, 0);
	http_client_reset(f->client);
	f->client = NULL;
	loop_until(&f->loop, f->dones == 1);
	assert_int_equal(f->gone_reason, ERR_CLIENT_GONE);
	assert_int_equal(http_server_connections(f->server), 0);
}

static void a_closed_unix_socket_is_noticed(void **state)
{
	struct fixture *f = *state;
	char folder[] = "/tmp/http_limits_test.XXXXXX", path[64];
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/s", folder);
	const struct address address = {.is_unix = true, .host = path};
	struct http_server *server = http_server_new(&f->loop, fixture_handler, &fixture_limits, f);
	assert_int_equal(http_server_listen(server, &address, NULL), ERR_NONE);
	f->on_end = leave_open;
	struct http_client *client = http_client_new_unix(&f->loop, path);
	http_client_puts(client, GET);
	loop_until(&f->loop, f->ends == 1);
	http_client_free(client);
	loop_until(&f->loop, f->dones == 1);
	assert_int_equal(f->gone_reason, ERR_CLIENT_GONE);
	http_server_free(server);
	unlink(path);
	rmdir(folder);
}

/* --- Limits ----------------------------------------------------------------------------------- */

static void the_longest_idle_connection_is_replaced(void **state)
{
	struct fixture *f = *state;
	fixture_limits.connections_max = 3;
	struct http_client *silent = another_client(f), *partial = another_client(f);
	http_client_puts(partial, "GET / HTT");
	http_client_puts(f->client, GET);
	http_client_wait_text(f->client, "200 OK", 1);

	struct http_client *newest = http_client_new(&f->loop, f->port);
	http_client_puts(newest, GET);
	http_client_wait_text(newest, "200 OK", 1);
	http_client_wait_end(silent); /* the others were used later */
	http_client_puts(f->client, GET);
	http_client_wait_text(f->client, "200 OK", 2);
	assert_false(partial->is_at_end);
	http_client_free(silent);
	http_client_free(partial);
	http_client_free(newest);
}

static void the_oldest_incomplete_head_is_replaced(void **state)
{
	struct fixture *f = *state;
	fixture_limits.connections_max = 2;
	struct http_client *other = another_client(f);
	http_client_puts(f->client, "GET /old");
	run_until_idle(f);
	http_client_puts(other, "GET /new");
	run_until_idle(f);
	struct http_client *newest = http_client_new(&f->loop, f->port);
	http_client_puts(newest, LAST);
	http_client_wait_end(newest);
	assert_int_equal(http_client_status(newest, 0), 200);
	http_client_wait_end(f->client);
	http_client_puts(other, " HTTP/1.1\r\nHost: a\r\n\r\n");
	http_client_wait_text(other, "GET /new ", 1);
	http_client_free(newest);
	http_client_free(other);
}

static void a_stalled_request_is_replaced_after_a_second(void **state)
{
	struct fixture *f = *state;
	fixture_limits.connections_max = 1;
	http_client_puts(f->client, POST "Content-Length: 10\r\n\r\n");
	loop_until(&f->loop, f->heads == 1);
	struct http_client *newest = http_client_new(&f->loop, f->port);
	http_client_puts(newest, LAST);
	http_client_wait_end(newest);
	assert_int_equal(http_client_status(newest, 0), 200);
	assert_int_equal(f->gones, 1);
	http_client_free(newest);
}

static void requests_in_progress_are_not_replaced(void **state)
{
	struct fixture *f = *state;
	fixture_limits.connections_max = 1;
	f->on_end = leave_open;
	http_client_puts(f->client, LAST);
	loop_until(&f->loop, f->ends == 1);
	struct http_client *other = http_client_new(&f->loop, f->port);
	http_client_puts(other, LAST);
	run_until_idle(f);
	assert_int_equal(http_server_connections(f->server), 1);
	assert_int_equal(other->length, 0);
	f->on_end = NULL;
	respond_text(f->held, 200, "first");
	http_client_wait_end(f->client);
	assert_int_equal(http_client_count(f->client, "first"), 1);
	http_client_free(f->client);
	f->client = NULL;
	http_client_wait_end(other);
	assert_int_equal(http_client_status(other, 0), 200);
	http_client_free(other);
}

static void accepting_resumes_when_descriptors_are_free(void **state)
{
	struct fixture *f = *state;
	f->on_end = leave_open;
	http_client_puts(f->client, LAST);
	loop_until(&f->loop, f->ends == 1);
	struct http_client *other = http_client_new(&f->loop, f->port);

	struct rlimit old, few;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = old;
	few.rlim_cur = 3;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	http_client_puts(other, LAST);
	run_until_idle(f);
	assert_int_equal(http_server_connections(f->server), 1);
	f->on_end = NULL;
	respond_text(f->held, 200, "first");
	http_client_wait_text(f->client, "first", 1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	http_client_wait_end(other);
	assert_int_equal(http_client_status(other, 0), 200);
	http_client_free(other);
}

/* As many descriptors as are open now. */
static void an_idle_connection_gives_its_descriptor_to_a_new_one(void **state)
{
	struct fixture *f = *state;
	struct http_client *idle = another_client(f);
	struct http_client *newest = http_client_new(&f->loop, f->port);
	struct rlimit old, few;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	int next = dup(STDIN_FILENO); /* descriptors are given in order */
	close(next);
	few = old;
	few.rlim_cur = (rlim_t)next;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	http_client_puts(newest, LAST);
	http_client_wait_end(newest);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(http_client_status(newest, 0), 200);
	assert_true(http_server_connections(f->server) <= 1);
	http_client_free(newest);
	http_client_free(idle);
}

/* Send the start of a head of `size` bytes. */
static void send_large_head(struct fixture *f, struct http_client *client, size_t size)
{
	char *text = malloc(size);
	memset(text, 'x', size);
	http_client_puts(client, "GET / HTTP/1.1\r\nHost: a\r\nX: ");
	http_client_send(client, text, size);
	run_until_idle(f);
	free(text);
}

static void large_heads_share_a_limit(void **state)
{
	struct fixture *f = *state;
	fixture_limits.head_memory_bytes = 100 << 10;
	struct http_client *small = another_client(f), *second = another_client(f),
			   *third = another_client(f);
	http_client_puts(small, "GET /sm");
	send_large_head(f, f->client, 40 << 10);
	send_large_head(f, second, 40 << 10);
	assert_false(f->client->is_at_end);
	send_large_head(f, third, 40 << 10);
	http_client_wait_end(f->client);
	http_client_puts(second, "\r\n\r\n");
	http_client_wait_text(second, "200 OK", 1);
	http_client_puts(third, "\r\n\r\n");
	http_client_wait_text(third, "200 OK", 1);
	http_client_puts(small, "all HTTP/1.1\r\nHost: a\r\n\r\n");
	http_client_wait_text(small, "GET /small ", 1);
	http_client_free(small);
	http_client_free(second);
	http_client_free(third);
}

static void a_large_head_is_unavailable_when_none_can_be_closed(void **state)
{
	struct fixture *f = *state;
	fixture_limits.head_memory_bytes = 60 << 10;
	struct http_client *other = another_client(f);
	f->on_end = leave_open;
	send_large_head(f, f->client, 40 << 10);
	http_client_puts(f->client, "\r\n\r\n");
	loop_until(&f->loop, f->ends == 1);
	send_large_head(f, other, 40 << 10);
	http_client_wait_end(other);
	assert_int_equal(http_client_status(other, 0), 503);
	respond_text(f->held, 200, "kept");
	http_client_wait_text(f->client, "kept", 1);
	http_client_free(other);
}

static void pause_content(struct http_exchange *x)
{
	http_content_pause(x);
}

/* What was read of content that the handler has paused takes no place from heads, and however much
 * of it there is, its connections are kept. */
static void paused_content_shares_the_limit_and_is_kept(void **state)
{
	enum { CLIENTS = 8, BYTES = 40 << 10 };
	struct fixture *f = *state;
	static char content[BYTES];
	struct http_client *clients[CLIENTS];
	struct http_exchange *paused[CLIENTS];
	fixture_limits.head_memory_bytes = 100 << 10;
	f->on_head = pause_content;
	for (size_t i = 0; i < CLIENTS; i++) {
		clients[i] = another_client(f);
		http_client_puts(clients[i],
		                 "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 40960\r\n\r\n");
		loop_until(&f->loop, f->heads == i + 1);
		paused[i] = f->held;
		http_client_send(clients[i], content, BYTES);
		run_until_idle(f);
	}
	f->on_head = NULL;
	send_large_head(f, f->client, 40 << 10);
	http_client_puts(f->client, "\r\n\r\n");
	http_client_wait_text(f->client, "200 OK", 1);
	for (size_t i = 0; i < CLIENTS; i++) {
		http_content_resume(paused[i]);
		http_client_wait_text(clients[i], "200 OK", 1);
		http_client_free(clients[i]);
	}
	assert_int_equal(f->content_bytes, CLIENTS * BYTES);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(slow_heads_are_refused),
		TEST(slow_content_is_refused),
		TEST(trickling_content_is_refused),
		TEST(content_has_a_time_limit),
		TEST(a_pause_does_not_count_as_the_clients_time),
		TEST(clients_that_stop_reading_are_closed),
		TEST(clients_that_read_too_slowly_are_closed),
		TEST(slow_handlers_do_not_time_out),
		TEST(idle_connections_end),
		TEST(a_client_that_shuts_down_sending_gets_its_answer),
		TEST(pipelined_requests_before_a_shutdown_are_answered),
		TEST(a_shutdown_within_a_request_ends_it),
		TEST(resets_are_noticed),
		TEST(a_closed_unix_socket_is_noticed),
		TEST(the_longest_idle_connection_is_replaced),
		TEST(the_oldest_incomplete_head_is_replaced),
		TEST(a_stalled_request_is_replaced_after_a_second),
		TEST(requests_in_progress_are_not_replaced),
		TEST(accepting_resumes_when_descriptors_are_free),
		TEST(an_idle_connection_gives_its_descriptor_to_a_new_one),
		TEST(large_heads_share_a_limit),
		TEST(a_large_head_is_unavailable_when_none_can_be_closed),
		TEST(paused_content_shares_the_limit_and_is_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
