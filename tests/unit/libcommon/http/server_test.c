#include "base/timefmt.h"
#include "http_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define GET  "GET /x HTTP/1.1\r\nHost: a\r\n\r\n"
#define LAST "GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
#define POST "POST /p HTTP/1.1\r\nHost: a\r\n"
#define LARGE \
	(8    \
	 << 20) /* more than the kernel buffers for a client that does not read: 4 MiB (tcp_wmem) */

static void run_until_idle(struct fixture *f)
{
	for (int i = 0; i < 10; i++)
		uv_run(&f->loop, UV_RUN_NOWAIT);
}

/* Run the loop until `ends` requests are complete. */
static void wait_for_requests(struct fixture *f, size_t ends)
{
	loop_until(&f->loop, f->ends >= ends);
}

static void leave_open(struct http_exchange *x)
{
	(void)x;
}

static void respond_teapot(struct http_exchange *x)
{
	respond_text(x, 418, "short and stout");
}

static void pause_content(struct http_exchange *x)
{
	http_content_pause(x);
}

static void echo_other(struct http_exchange *x)
{
	respond_text(x, 200, "the other handler");
}

static void count_done(struct http_exchange *x)
{
	fixture_of(x)->drained++; /* which the server's own handler leaves alone here */
	fixture_of(x)->dones++;
}

static void hand_over(struct http_exchange *x)
{
	static const struct http_handler OTHER = {
		.on_head = leave_open,
		.on_end = echo_other,
		.on_done = count_done,
	};
	http_exchange_hand_over(x, &OTHER);
}

/* The other handler gets every later call of this exchange; the next exchange is the server's
 * again. */
static void exchanges_are_handed_over(void **state)
{
	struct fixture *f = *state;
	f->on_head = hand_over;
	http_client_puts(f->client, POST "Content-Length: 2\r\n\r\nab");
	http_client_wait_text(f->client, "the other handler", 1);
	loop_until(&f->loop, f->drained == 1);
	assert_int_equal(f->ends + f->content_calls, 0);
	f->on_head = NULL;
	http_client_puts(f->client, LAST);
	http_client_wait_end(f->client);
	assert_int_equal(f->ends, 1);
	assert_int_equal(f->drained, 1);
}

static void connections_are_kept(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 1; i <= 3; i++) {
		http_client_puts(f->client, GET);
		http_client_wait_text(f->client, "GET /x ", i);
	}
	assert_int_equal(http_server_connections(f->server), 1);
	assert_int_equal(http_client_count(f->client, "Connection:"), 0);
	http_client_puts(f->client, LAST);
	http_client_wait_end(f->client);
	assert_int_equal(http_client_count(f->client, "Connection: close\r\n"), 1);
	assert_int_equal(f->dones, 4);
}

static void pipelined_requests_are_served_in_order(void **state)
{
	struct fixture *f = *state;
	f->on_end = leave_open;
	http_client_puts(f->client, GET GET LAST);
	wait_for_requests(f, 1);
	run_until_idle(f);
	assert_int_equal(f->heads, 1);
	respond_text(f->held, 200, "one");
	assert_int_equal(f->dones, 0);
	http_client_wait_text(f->client, "one", 1);
	wait_for_requests(f, 2);
	assert_int_equal(f->dones, 1);
	assert_int_equal(f->heads, 2);
	respond_text(f->held, 200, "two");
	f->on_end = NULL;
	http_client_wait_end(f->client);
	assert_int_equal(f->heads, 3);
	assert_int_equal(http_client_count(f->client, "200 OK"), 3);
}

static void head_has_the_length_and_no_content(void **state)
{
	struct fixture *f = *state;
	http_client_puts(f->client, "HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n" LAST);
	http_client_wait_end(f->client);
	assert_int_equal(http_client_count(f->client, "Content-Length: 8\r\n\r\nHTTP/1.1"), 1);
}

static void respond_204(struct http_exchange *x)
{
	http_respond_start(x, 204, NULL, 0, 0);
	http_respond_end(x);
}

static void status_204_has_no_length(void **state)
{
	struct fixture *f = *state;
	f->on_end = respond_204;
	http_client_puts(f->client, GET LAST);
	http_client_wait_end(f->client);
	assert_int_equal(http_client_count(f->client, "204 No Content\r\n"), 2);
	assert_int_equal(http_client_count(f->client, "Content-Length"), 0);
	assert_int_equal(http_client_count(f->client, "Transfer-Encoding"), 0);
}

static void respond_unknown_length(struct http_exchange *x)
{
	http_respond_start(x, 200, NULL, 0, -1);
	http_respond_content(x, "hello ", 6);
	http_respond_content(x, "", 0);
	http_respond_content(x, "world, and more", 15);
	http_respond_end(x);
}

static void unknown_lengths_are_chunked(void **state)
{
	struct fixture *f = *state;
	f->on_end = respond_unknown_length;
	http_client_puts(f->client, GET LAST);
	http_client_wait_end(f->client);
	assert_int_equal(http_client_count(f->client, "Transfer-Encoding: chunked\r\n"), 2);
	assert_int_equal(
		http_client_count(f->client,
	                          "\r\n\r\n6\r\nhello \r\nf\r\nworld, and more\r\n0\r\n\r\n"),
		2);
}

static void unknown_lengths_close_http_1_0(void **state)
{
	struct fixture *f = *state;
	f->on_end = respond_unknown_length;
	http_client_puts(f->client, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
	http_client_wait_end(f->client);
	assert_int_equal(http_client_count(f->client,
	                                   "Connection: close\r\n\r\nhello world, and more"),
	                 1);
	assert_false(f->client->is_reset);
}

static void respond_injected(struct http_exchange *x)
{
	struct http_field field = http_field_of("X-Note", "a\r\nSet-Cookie: b");
	http_respond_start(x, 200, &field, 1, 0);
	http_respond_end(x);
}

static void field_values_cannot_contain_line_ends(void **state)
{
	struct fixture *f = *state;
	f->on_end = respond_injected;
	http_client_puts(f->client, LAST);
	http_client_wait_end(f->client);
	assert_int_equal(http_client_count(f->client, "X-Note: a  Set-Cookie: b\r\n"), 1);
}

static void paused_content_waits(void **state)
{
	struct fixture *f = *state;
	f->on_head = pause_content;
	http_client_puts(f->client,
	                 POST "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n" LAST);
	loop_until(&f->loop, f->heads == 1);
	run_until_idle(f);
	assert_int_equal(f->heads, 1);
	assert_int_equal(f->content_calls + f->ends, 0);
	f->on_head = NULL;
	http_content_resume(f->held);
	assert_int_equal(f->content_calls, 0); /* the server never calls from inside our call */
	http_client_wait_end(f->client);
	assert_int_equal(http_client_count(f->client, "POST /p hello"), 1);
	assert_int_equal(f->heads, 2);
}

/* The handler pauses in the call that has all of the content. */
static void the_end_waits_while_content_is_paused(void **state)
{
	struct fixture *f = *state;
	f->on_content = pause_content;
	http_client_puts(f->client, POST "Content-Length: 5\r\n\r\nhello");
	loop_until(&f->loop, f->content_calls == 1);
	run_until_idle(f);
	assert_int_equal(f->ends, 0);
	http_content_resume(f->held);
	http_client_wait_text(f->client, "POST /p hello", 1);
	http_client_puts(f->client, LAST);
	http_client_wait_end(f->client);
	assert_int_equal(f->heads, 2);
}

static void small_chunks_of_a_read_come_at_once(void **state)
{
	struct fixture *f = *state;
	struct arena *arena = arena_new();
	struct buf text = {.arena = arena};
	buf_puts(&text, POST "Transfer-Encoding: chunked\r\n\r\n");
	for (int i = 0; i < 250; i++)
		buf_puts(&text, "1;a=b\r\nx\r\n");
	buf_puts(&text, "3\r\nend\r\n0\r\nX: y\r\n\r\n" LAST);
	http_client_send(f->client, text.data, text.length);
	http_client_wait_end(f->client);
	assert_int_equal(http_client_count(f->client, "xxxxxend"), 1);
	assert_int_equal(http_client_count(f->client, "GET /last"), 1);
	assert_int_equal(f->content_bytes, 253);
	assert_int_equal(f->content_calls, 1);
	arena_free(arena);
}

static char large[LARGE];

static void paused_content_is_bounded(void **state)
{
	struct fixture *f = *state;
	static const int BUFFER_BYTES = 64 << 10; /* else the kernel grows it to megabytes */
	assert_int_equal(setsockopt(f->client->fd, SOL_SOCKET, SO_SNDBUF, &BUFFER_BYTES,
	                            sizeof(BUFFER_BYTES)),
	                 0);
	f->on_head = pause_content;
	http_client_puts(f->client, POST "Content-Length: 8388608\r\n\r\n");
	loop_until(&f->loop, f->heads == 1);
	size_t sent = 0;
	for (ssize_t n = 1; n > 0; sent += n > 0 ? (size_t)n : 0) {
		n = send(f->client->fd, large, sizeof(large) - sent, MSG_NOSIGNAL);
		run_until_idle(f);
	}
	assert_true(sent < LARGE); /* the kernel's buffers are full: the server does not read */
	assert_int_equal(f->content_bytes, 0);
	http_content_resume(f->held);
	http_client_send(f->client, large, sizeof(large) - sent);
	http_client_wait_text(f->client, "200 OK", 1);
	assert_int_equal(f->content_bytes, LARGE);
}

static void respond_large(struct http_exchange *x)
{
	http_respond_start(x, 200, NULL, 0, LARGE);
	assert_true(http_respond_content(x, large, LARGE));
}

static void responses_wait_for_slow_clients(void **state)
{
	struct fixture *f = *state;
	f->on_end = respond_large;
	http_client_reads(f->client, false);
	http_client_puts(f->client, GET GET);
	wait_for_requests(f, 1);
	run_until_idle(f);
	assert_int_equal(f->drained, 0);
	http_respond_end(f->held);
	run_until_idle(f);
	assert_int_equal(f->dones, 0); /* not before the response is sent */
	assert_int_equal(f->heads, 1);
	http_client_reads(f->client, true);
	f->on_end = NULL;
	http_client_wait_text(f->client, "GET /x ", 1);
	assert_int_equal(f->dones, 2);
	assert_true(f->client->length > LARGE);
}

static void drained_follows_full(void **state)
{
	struct fixture *f = *state;
	f->on_end = respond_large;
	http_client_reads(f->client, false);
	http_client_puts(f->client, LAST);
	wait_for_requests(f, 1);
	run_until_idle(f);
	assert_int_equal(f->drained, 0);
	http_client_reads(f->client, true);
	while (f->drained == 0)
		uv_run(&f->loop, UV_RUN_ONCE);
	http_respond_end(f->held);
	http_client_wait_end(f->client);
	assert_int_equal(f->drained, 1);
}

static void early_responses_drop_the_remaining_content(void **state)
{
	struct fixture *f = *state;
	f->on_head = respond_teapot;
	http_client_puts(f->client, POST "Content-Length: 10\r\n\r\n01234");
	http_client_wait_text(f->client, "short and stout", 1);
	assert_int_equal(f->ends + f->content_calls, 0);
	f->on_head = NULL;
	http_client_puts(f->client, "56789" LAST);
	http_client_wait_end(f->client);
	assert_int_equal(http_client_status(f->client, 1), 200);
	assert_int_equal(http_client_count(f->client, "GET /last "), 1);
}

static void early_responses_close_before_large_content(void **state)
{
	struct fixture *f = *state;
	f->on_head = respond_teapot;
	http_client_puts(f->client, POST "Content-Length: 83886080\r\n\r\n");
	for (int i = 0; i < 10; i++)
		http_client_send(f->client, large, LARGE);
	http_client_wait_end(f->client);
	assert_false(f->client->is_reset);
	assert_int_equal(http_client_status(f->client, 0), 418);
	assert_int_equal(http_client_count(f->client, "Connection: close"), 1);
	assert_int_equal(http_client_count(f->client, "short and stout"), 1);
}

static void dropping_endless_chunks_ends(void **state)
{
	struct fixture *f = *state;
	f->on_head = respond_teapot;
	http_client_puts(f->client, POST "Transfer-Encoding: chunked\r\n\r\n800000\r\n");
	http_client_send(f->client, large, LARGE);
	http_client_wait_end(f->client);
	assert_int_equal(http_client_status(f->client, 0), 418);
	assert_int_equal(f->heads, 1);
}

static void continue_is_sent_when_content_is_read(void **state)
{
	struct fixture *f = *state;
	f->on_head = pause_content;
	http_client_puts(f->client, POST "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
	loop_until(&f->loop, f->heads == 1);
	run_until_idle(f);
	assert_int_equal(f->client->length, 0);
	http_content_resume(f->held);
	http_client_wait_text(f->client, "HTTP/1.1 100 Continue\r\n\r\n", 1);
	http_client_puts(f->client, "hi");
	http_client_wait_text(f->client, "POST /p hi", 1);
	assert_int_equal(http_client_count(f->client, "Continue"), 1);
}

static void no_continue_after_an_early_response(void **state)
{
	struct fixture *f = *state;
	f->on_head = respond_teapot;
	http_client_puts(f->client, POST "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
	http_client_wait_end(f->client);
	assert_int_equal(http_client_status(f->client, 0), 418);
	assert_int_equal(http_client_count(f->client, "Continue"), 0);
}

static void aborted_responses_are_reset(void **state)
{
	struct fixture *f = *state;
	f->on_end = leave_open;
	http_client_puts(f->client, GET);
	wait_for_requests(f, 1);
	http_respond_start(f->held, 200, NULL, 0, 100);
	http_respond_content(f->held, "part", 4);
	http_respond_abort(f->held);
	http_client_wait_end(f->client);
	assert_true(f->client->is_reset);
	assert_int_equal(f->gones, 0);
	assert_int_equal(f->dones, 1);
}

static void heads_are_bounded(void **state)
{
	struct fixture *f = *state;
	fixture_limits.head_max_bytes = 1000;
	http_client_puts(f->client, "GET / HTTP/1.1\r\nHost: a\r\nX: ");
	http_client_send(f->client, memset(large, 'x', 2000), 2000);
	http_client_wait_end(f->client);
	assert_int_equal(http_client_status(f->client, 0), 431);
}

static void white_space_counts_towards_the_limit(void **state)
{
	struct fixture *f = *state;
	http_client_puts(f->client, "GET / HTTP/1.1\r\nHost: a\r\nX:");
	http_client_send(f->client, memset(large, ' ', 100000), 100000);
	http_client_wait_end(f->client);
	assert_int_equal(http_client_status(f->client, 0), 431);
}

static void fields_are_bounded(void **state)
{
	struct fixture *f = *state;
	http_client_puts(f->client, "GET / HTTP/1.1\r\nHost: a\r\n");
	for (int i = 0; i < 127; i++)
		http_client_puts(f->client, "X: y\r\n");
	http_client_puts(f->client, "\r\n");
	http_client_wait_text(f->client, "200 OK", 1);
	http_client_puts(f->client, "GET / HTTP/1.1\r\nHost: a\r\n");
	for (int i = 0; i < 128; i++)
		http_client_puts(f->client, "X: y\r\n");
	http_client_puts(f->client, "\r\n");
	http_client_wait_end(f->client);
	assert_int_equal(http_client_status(f->client, 1), 431);
}

/* All Connection fields together: each field of the head is compared with what they list. */
static void connection_options_are_bounded(void **state)
{
	struct fixture *f = *state;
	char options[128];
	memset(options, ',', sizeof(options) - 1);
	options[sizeof(options) - 1] = '\0';
	for (int i = 0; i < 2; i++) {
		http_client_puts(f->client, "GET / HTTP/1.1\r\nHost: a\r\nConnection: x");
		http_client_puts(f->client, options);
		http_client_puts(f->client, "\r\nConnection: y");
		http_client_puts(f->client, options);
		http_client_puts(f->client, i == 0 ? "\r\n\r\n" : ",\r\n\r\n");
	}
	http_client_wait_end(f->client);
	assert_int_equal(http_client_status(f->client, 0), 200);
	assert_int_equal(http_client_status(f->client, 1), 400);
}

static void chunk_extensions_are_bounded(void **state)
{
	struct fixture *f = *state;
	http_client_puts(f->client, POST "Transfer-Encoding: chunked\r\n\r\n5;x=");
	http_client_send(f->client, memset(large, 'x', 20000), 20000);
	http_client_wait_end(f->client);
	assert_int_equal(http_client_status(f->client, 0), 400);
}

static void fields_of_a_head_are_found(void **state)
{
	struct fixture *f = *state;
	f->on_end = leave_open;
	http_client_puts(f->client, "PUT /a?b HTTP/1.1\r\nHost: a\r\nX-One: \t 1 \t\r\nx-one: 2\r\n"
	                            "X-Empty:\r\nContent-Length: 0\r\n\r\n");
	wait_for_requests(f, 1);
	const struct http_head *head = &f->held->head;
	assert_string_equal(http_head_get(head, "x-ONE"), "1");
	assert_int_equal(http_head_count(head, "X-One"), 2);
	assert_string_equal(http_head_get(head, "X-Empty"), "");
	assert_null(http_head_get(head, "X-On"));
	assert_int_equal(head->field_count, 5);
	assert_int_equal(head->path_length, 2);
	assert_int_equal(head->query_length, 1);
	assert_memory_equal(head->query, "b", 1);
	assert_int_equal(head->content_length, 0);
	assert_false(head->has_content);
	assert_string_equal(f->held->peer, "127.0.0.1");
	respond_text(f->held, 200, "");
}

static void note_drained(void *context)
{
	struct fixture *f = context;
	f->is_drained = true;
}

static void a_retired_server_closes_after_answers(void **state)
{
	struct fixture *f = *state;
	http_server_retire(f->server);
	assert_int_equal(http_server_last_request_ms(f->server), 0);
	struct http_client *next = http_client_new(&f->loop, f->port);
	http_client_puts(next, GET);
	http_client_wait_end(next);
	assert_int_equal(http_client_status(next, 0), 200);
	assert_int_equal(http_client_count(next, "Connection: close"), 1);
	http_client_free(next);
	assert_in_range(http_server_last_request_ms(f->server), 1, time_monotonic_ms());
	assert_false(f->client->is_at_end); /* it has sent nothing yet */
	http_client_puts(f->client, GET);
	http_client_wait_end(f->client);
	assert_int_equal(http_client_status(f->client, 0), 200);
}

static void drain_lets_exchanges_finish(void **state)
{
	struct fixture *f = *state;
	struct http_client *idle = http_client_new(&f->loop, f->port);
	http_client_puts(idle, GET);
	http_client_wait_text(idle, "200 OK", 1);
	f->on_end = leave_open;
	http_client_puts(f->client, GET);
	while (f->heads < 2)
		uv_run(&f->loop, UV_RUN_ONCE);

	http_server_drain(f->server, 60000, note_drained, f);
	http_client_wait_end(idle);
	assert_int_equal(http_client_status(idle, 1), 408);
	assert_int_equal(http_client_count(idle, "Content-Length: 0"), 1);
	http_client_free(idle);
	assert_false(f->is_drained);
	respond_text(f->held, 200, "bye");
	http_client_wait_end(f->client);
	assert_int_equal(http_client_count(f->client, "Connection: close"), 1);
	http_client_free(f->client);
	f->client = NULL;
	loop_run_until(&f->loop, &f->is_drained);
	assert_int_equal(http_server_connections(f->server), 0);
}

static void drain_serves_connections_in_the_queue(void **state)
{
	struct fixture *f = *state;
	struct http_client *late = http_client_new(&f->loop, f->port);
	http_server_drain(f->server, 60000, note_drained, f);
	http_client_puts(late, GET);
	http_client_wait_end(late);
	assert_int_equal(http_client_status(late, 0), 200);
	http_client_free(late);
}

static void drain_serves_requests_already_sent(void **state)
{
	struct fixture *f = *state;
	http_client_puts(f->client, GET);
	http_client_wait_text(f->client, "200 OK", 1);
	http_server_drain(f->server, 60000, note_drained, f);
	http_client_puts(f->client, GET);
	http_client_wait_end(f->client);
	assert_int_equal(http_client_status(f->client, 1), 200);
	assert_int_equal(http_client_count(f->client, "Connection: close"), 1);
}

static void drain_has_a_deadline(void **state)
{
	struct fixture *f = *state;
	f->on_end = leave_open;
	http_client_puts(f->client, GET);
	while (f->heads < 1)
		uv_run(&f->loop, UV_RUN_ONCE);
	http_server_drain(f->server, 1, note_drained, f);
	loop_run_until(&f->loop, &f->is_drained);
	assert_int_equal(http_server_connections(f->server), 1);
}

static void unix_sockets_are_served(void **state)
{
	struct fixture *f = *state;
	char folder[] = "/tmp/http_server_test.XXXXXX", path[64];
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/s", folder);
	const struct address address = {.is_unix = true, .host = path};
	struct stat st;
	int fd, taken;

	assert_int_equal(http_listen_open(&address, &fd), ERR_NONE);
	close(fd); /* leaves a stale file */
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(http_listen_open(&address, &fd), ERR_NONE);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0660);
	assert_int_equal(http_listen_open(&address, &taken), ERR_UNAVAILABLE);
	assert_int_equal(errno, EADDRINUSE);

	struct http_server *server = http_server_new(&f->loop, fixture_handler, &fixture_limits, f);
	assert_int_equal(http_server_listen_fd(server, fd), ERR_NONE);
	struct http_server *second = http_server_new(&f->loop, fixture_handler, &fixture_limits, f);
	assert_int_equal(http_server_listen(second, &address, server), ERR_NONE);
	for (int i = 0; i < 2; i++) {
		struct http_client *client = http_client_new_unix(&f->loop, path);
		http_client_puts(client, LAST);
		http_client_wait_end(client);
		assert_int_equal(http_client_status(client, 0), 200);
		http_client_free(client);
		http_server_free(i == 0 ? server : second);
	}
	unlink(path);
	rmdir(folder);
}

static void ports_are_shared(void **state)
{
	struct fixture *f = *state;
	struct http_server *second = http_server_new(&f->loop, fixture_handler, &fixture_limits, f);
	const struct address address = {.host = "127.0.0.1", .port = f->port};
	const struct address any = {.host = "127.0.0.1"};
	assert_int_equal(http_server_listen(second, &address, NULL), ERR_NONE);
	assert_int_equal(http_server_port(second), f->port);
	http_server_free(second);
	second = http_server_new(&f->loop, fixture_handler, &fixture_limits, f);
	assert_int_equal(http_server_listen(second, &any, f->server), ERR_NONE);
	assert_int_equal(http_server_port(second), f->port);
	http_server_free(second);
	second = http_server_new(&f->loop, fixture_handler, &fixture_limits, f);
	const struct address nowhere = {.host = "192.0.2.1", .port = 80};
	assert_int_equal(http_server_listen(second, &nowhere, NULL), ERR_UNAVAILABLE);
	assert_int_equal(errno, EADDRNOTAVAIL);
	http_server_free(second);
}

static void files_other_than_sockets_are_not_removed(void **state)
{
	(void)state;
	char path[] = "/tmp/http_server_test.XXXXXX";
	int file = mkstemp(path), fd;
	const struct address address = {.is_unix = true, .host = path};
	assert_int_equal(http_listen_open(&address, &fd), ERR_UNAVAILABLE);
	assert_int_equal(errno, EADDRINUSE);
	assert_int_equal(unlink(path), 0);
	close(file);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(connections_are_kept),
		TEST(exchanges_are_handed_over),
		TEST(pipelined_requests_are_served_in_order),
		TEST(head_has_the_length_and_no_content),
		TEST(status_204_has_no_length),
		TEST(unknown_lengths_are_chunked),
		TEST(unknown_lengths_close_http_1_0),
		TEST(field_values_cannot_contain_line_ends),
		TEST(paused_content_waits),
		TEST(the_end_waits_while_content_is_paused),
		TEST(small_chunks_of_a_read_come_at_once),
		TEST(paused_content_is_bounded),
		TEST(responses_wait_for_slow_clients),
		TEST(drained_follows_full),
		TEST(early_responses_drop_the_remaining_content),
		TEST(early_responses_close_before_large_content),
		TEST(dropping_endless_chunks_ends),
		TEST(continue_is_sent_when_content_is_read),
		TEST(no_continue_after_an_early_response),
		TEST(aborted_responses_are_reset),
		TEST(heads_are_bounded),
		TEST(white_space_counts_towards_the_limit),
		TEST(fields_are_bounded),
		TEST(connection_options_are_bounded),
		TEST(chunk_extensions_are_bounded),
		TEST(fields_of_a_head_are_found),
		TEST(a_retired_server_closes_after_answers),
		TEST(drain_lets_exchanges_finish),
		TEST(drain_serves_connections_in_the_queue),
		TEST(drain_serves_requests_already_sent),
		TEST(drain_has_a_deadline),
		TEST(unix_sockets_are_served),
		TEST(ports_are_shared),
		TEST(files_other_than_sockets_are_not_removed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
