/* Collecting bodies, and releasing their memory however the request ends. */
#include "request/http_request.h"

#include "base/base.h"
#include "http/body.h"
#include "http/gzip.h"
#include "http_client.h"
#include "input/input.h"
#include "loop/request_list.h"
#include "loop/wait.h"
#include "reply/reply.h"
#include "worker_fixture.h"

#define BODY_MAX ((size_t)1 << 20)
#define BUDGET   ((size_t)3 << 20)

#define HEAD  "POST /p HTTP/1.1\r\nHost: a\r\n"
#define SMALL HEAD "Content-Length: 5\r\n\r\nhello"

static struct worker_fixture fixture;
static struct http_limits limits;
static size_t handled, done_count;
static bool reads_json;  /* handlers parse the body */
static bool waits;       /* handlers wait until they are cancelled */
static size_t contended; /* runs of handlers that fail because of concurrent work */
static bool writes;      /* handlers change something before they fail */
static int threads_seen; /* of the short lane, when a handler begins */

/* A member of the handler's group, which no cancellation ends; the handler fails without waiting
 * for it. */
static struct {
	bool is_wanted, may_end;
	struct fiber *fiber; /* while it runs */
} member;

static void run_member(struct request *rq)
{
	member.fiber = rq->fiber;
	while (!member.may_end)
		fiber_wait_uncancelled();
	member.fiber = NULL;
}

/* A reply that is made while it is sent, of so many pieces of 64 KiB. */
static struct {
	size_t pieces, sent;
	bool fails; /* behind them */
} stream;

#define PIECE ((size_t)64 << 10)

static void send_stream(struct request *rq)
{
	char *piece = arena_alloc(rq->arena, PIECE);
	memset(piece, 'x', PIECE);
	reply_stream_begin(rq, 200, "text/plain");
	for (stream.sent = 0; stream.sent < stream.pieces; stream.sent++)
		reply_stream_add(rq, piece, PIECE);
	if (stream.fails)
		raise_error(rq, ERR_CONTENTION, "a deadlock");
}

static void handle(struct request *rq)
{
	handled++;
	if (stream.pieces) {
		send_stream(rq);
		return;
	}
	threads_seen = thread_pool_threads(LANE_SHORT);
	rq->has_effects |= writes;
	if (handled <= contended) {
		reply_header(rq, "X-Run", "%zu", handled);
		raise_error(rq, ERR_CONTENTION, "a deadlock");
	}
	if (reads_json)
		request_body(rq);
	while (waits)
		request_wait(rq);
	if (member.is_wanted) {
		fiber_spawn(rq, run_member, NULL);
		raise_error(rq, ERR_CONFLICT, "before the group was joined");
	}
	reply_json_length(rq, 200, rq->http->body, rq->http->body_length);
}

static void on_head(struct http_exchange *x)
{
	struct api_match match = {0};
	x->user = http_request_new(http_server_context(x->server), x, &match, NULL, x->peer, "test",
	                           handle, BODY_MAX);
}

static void on_content(struct http_exchange *x, const char *data, size_t length)
{
	http_request_content(x->user, data, length);
}

static void on_end(struct http_exchange *x)
{
	http_request_end(x->user);
}

static void on_drained(struct http_exchange *x)
{
	http_request_drained(x->user);
}

static void on_gone(struct http_exchange *x, enum err_code reason)
{
	http_request_gone(x->user, reason);
}

static void on_done(struct http_exchange *x)
{
	done_count++;
	http_request_done(x->user);
}

static const struct http_handler HANDLER = {
	.on_head = on_head,
	.on_content = on_content,
	.on_end = on_end,
	.on_drained = on_drained,
	.on_gone = on_gone,
	.on_done = on_done,
	.refuse = http_refuse_problem,
};

static int setup(void **state)
{
	(void)state;
	fixture_start(&fixture);
	fixture.settings.request_timeout_ms = FIXTURE_TIMEOUT_MS;
	http_request_set_limits(BUDGET, BUDGET);
	limits = http_limits_default;
	handled = done_count = 0;
	waits = writes = reads_json = false;
	contended = 0;
	memset(&member, 0, sizeof(member));
	memset(&stream, 0, sizeof(stream));
	struct worker *worker = &fixture.worker;
	worker->server = http_server_new(&worker->loop, &HANDLER, &limits, worker);
	const struct address address = {.host = "127.0.0.1"};
	assert_int_equal(http_server_listen(worker->server, &address, NULL), ERR_NONE);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	http_server_free(fixture.worker.server);
	fixture_stop(&fixture);
	assert_int_equal(http_body_used_bytes(), 0);
	return 0;
}

static struct http_client *client_new(void)
{
	return http_client_new(&fixture.worker.loop, http_server_port(fixture.worker.server));
}

static void until_held(size_t at_least, size_t at_most)
{
	fixture_wait_start(&fixture);
	while (http_body_used_bytes() < at_least || http_body_used_bytes() > at_most)
		fixture_turn(&fixture);
	uv_timer_stop(&fixture.tick);
}

/* A client that has sent all but the last byte of a body of BODY_MAX. */
static struct http_client *half_sent(void)
{
	struct http_client *client = client_new();
	static char filler[BODY_MAX - 1];
	memset(filler, 'x', sizeof(filler));
	http_client_puts(client, HEAD "Content-Length: 1048576\r\n\r\n");
	http_client_send(client, filler, sizeof(filler));
	return client;
}

static void test_body_is_released_after_the_reply(void **state)
{
	(void)state;
	struct http_client *client = client_new();
	http_client_puts(client, SMALL);
	http_client_wait_text(client, "hello", 1);
	assert_int_equal(http_client_status(client, 0), 200);
	until_held(0, 0);
	http_client_free(client);
}

static void test_body_is_released_when_the_connection_is_lost(void **state)
{
	(void)state;
	struct http_client *client = half_sent();
	until_held(BODY_MAX, BODY_MAX + 1);
	http_client_free(client);
	until_held(0, 0);
	assert_int_equal(handled, 0);
}

static void test_body_is_released_after_the_body_timeout(void **state)
{
	(void)state;
	limits.content_timeout_ms = 50;
	struct http_client *client = half_sent();
	http_client_wait_end(client);
	assert_int_equal(http_client_status(client, 0), 408);
	until_held(0, 0);
	http_client_free(client);
}

/* Bytes that each arrive before the body time-out do not extend the limit of the whole body. */
static void test_slow_body_ends_at_its_limit(void **state)
{
	(void)state;
	limits.content_total_ms = 50;
	struct http_client *client = client_new();
	http_client_puts(client, HEAD "Transfer-Encoding: chunked\r\n\r\n");
	fixture_wait_start(&fixture);
	while (http_client_status(client, 0) == 0) {
		http_client_puts(client, "1\r\nx\r\n");
		fixture_turn(&fixture);
	}
	uv_timer_stop(&fixture.tick);
	assert_int_equal(http_client_status(client, 0), 408);
	until_held(0, 0);
	assert_int_equal(handled, 0);
	http_client_free(client);
}

static void test_the_upload_is_not_part_of_the_request_timeout(void **state)
{
	(void)state;
	fixture.settings.request_timeout_ms = 1000;
	struct http_client *client = client_new();
	http_client_puts(client, HEAD "Transfer-Encoding: chunked\r\n\r\n");
	uint64_t until_ms = uv_now(&fixture.worker.loop) + 1200;
	fixture_wait_start(&fixture);
	while (uv_now(&fixture.worker.loop) < until_ms) {
		http_client_puts(client, "1\r\nx\r\n");
		fixture_turn(&fixture);
	}
	uv_timer_stop(&fixture.tick);
	http_client_puts(client, "0\r\n\r\n");
	http_client_wait_text(client, "\r\n\r\n", 1);
	assert_int_equal(http_client_status(client, 0), 200);
	http_client_free(client);
}

static void test_body_is_released_when_the_client_leaves_a_running_handler(void **state)
{
	(void)state;
	waits = true;
	struct http_client *client = half_sent();
	http_client_puts(client, "x");
	fixture_wait_start(&fixture);
	while (handled == 0)
		fixture_turn(&fixture);
	uv_timer_stop(&fixture.tick);
	assert_int_equal(http_body_used_bytes(), BODY_MAX + 1);
	http_client_reset(client);
	until_held(0, 0);
	assert_int_equal(done_count, 1);
}

/* The request lasts until its members have ended, also when its fiber has ended and the client has
 * gone. */
static void test_members_outlive_a_client_that_leaves(void **state)
{
	(void)state;
	struct http_client *client = client_new();
	member.is_wanted = true;
	http_client_puts(client, SMALL);
	loop_until(&fixture.worker.loop, member.fiber);
	http_client_reset(client);
	loop_until(&fixture.worker.loop, done_count == 1);
	assert_int_equal(request_list_count(fixture.worker.requests), 2);
	member.may_end = true;
	fiber_wake(member.fiber);
	fixture_idle(&fixture);
	assert_null(member.fiber);
}

static void test_too_large_body_is_released(void **state)
{
	(void)state;
	struct http_client *client = client_new();
	static char chunk[BODY_MAX + 1];
	memset(chunk, 'x', sizeof(chunk));
	http_client_puts(client, HEAD "Transfer-Encoding: chunked\r\n\r\n100001\r\n");
	http_client_send(client, chunk, sizeof(chunk));
	http_client_wait_text(client, "content_too_large", 1);
	assert_int_equal(http_client_status(client, 0), 413);
	until_held(0, 0);
	http_client_free(client);
}

static void test_unfinished_bodies_share_one_limit(void **state)
{
	(void)state;
	struct http_client *holders[2] = {half_sent(), half_sent()};
	until_held(2 * BODY_MAX, BUDGET);
	struct http_client *late = half_sent();
	http_client_wait_text(late, "\"error\":\"unavailable\"", 1);
	assert_int_equal(http_client_status(late, 0), 503);
	assert_int_equal(http_client_count(late, "Retry-After: 1\r\n"), 1);
	assert_int_equal(http_client_count(late, "application/problem+json"), 1);
	until_held(2 * BODY_MAX, 2 * BODY_MAX + 2);

	struct http_client *small = client_new();
	http_client_puts(small, SMALL);
	http_client_wait_text(small, "hello", 1);
	http_client_puts(holders[0], "x");
	http_client_wait_text(holders[0], "200 OK", 1);
	http_client_free(late);
	http_client_free(small);
	http_client_free(holders[0]);
	http_client_free(holders[1]);
	until_held(0, 0);
}

/* `{"a":[1,1,…]}` of about `length` bytes. */
static struct http_client *send_digits(size_t length)
{
	struct http_client *client = client_new();
	struct arena *arena = arena_new();
	struct buf text = {.arena = arena};
	buf_puts(&text, "{\"a\":[1");
	while (text.length < length)
		buf_puts(&text, ",1");
	buf_puts(&text, "]}");
	char *head = arena_printf(arena,
	                          HEAD "Content-Type: application/json\r\n"
	                               "Content-Length: %zu\r\n\r\n",
	                          text.length);
	http_client_puts(client, head);
	http_client_send(client, text.data, text.length);
	arena_free(arena);
	return client;
}

static void test_parsed_bodies_share_the_limit(void **state)
{
	(void)state;
	waits = reads_json = true;
	struct http_client *holder = send_digits(64 << 10);
	until_held(BUDGET / 2, BUDGET);
	struct http_client *late = send_digits(64 << 10);
	http_client_wait_text(late, "\"error\":\"unavailable\"", 1);
	assert_int_equal(http_client_status(late, 0), 503);
	assert_int_equal(http_client_count(late, "Retry-After: 1\r\n"), 1);
	http_client_reset(holder);
	http_client_free(late);
	until_held(0, 0);

	struct http_client *dense = send_digits(256 << 10);
	http_client_wait_text(dense, "\"error\":\"content_too_large\"", 1);
	assert_int_equal(http_client_status(dense, 0), 413);
	http_client_free(dense);
	waits = false;
	struct http_client *small = send_digits(1 << 10);
	http_client_wait_text(small, "200 OK", 1);
	http_client_free(small);
	until_held(0, 0);
}

/* A small body is parsed on the loop: the pool has no thread until a large one comes. So this test
 * and the former are the first. */
static void test_a_large_body_is_parsed_on_the_thread_pool(void **state)
{
	(void)state;
	reads_json = true;
	struct http_client *small = send_digits(1 << 10);
	http_client_wait_text(small, "200 OK", 1);
	assert_int_equal(thread_pool_threads(LANE_SHORT), 0);
	thread_pool_idle_ms = 600000;
	struct http_client *large = send_digits(80 << 10);
	http_client_wait_text(large, "200 OK", 1);
	assert_int_equal(thread_pool_threads(LANE_SHORT), 1);
	thread_pool_idle_ms = 10000;
	http_client_free(small);
	http_client_free(large);
	until_held(0, 0);
}

/* Send `length` times the same letter, as gzip. */
static struct http_client *send_gzip(size_t length)
{
	struct http_client *client = client_new();
	struct arena *arena = arena_new();
	char *text = arena_alloc(arena, length + 1);
	size_t packed_length;
	memset(text, 'g', length);
	const char *packed = gzip_add(gzip_new(arena, length), text, length, true, &packed_length);
	http_client_puts(client, arena_printf(arena,
	                                      HEAD "Content-Encoding: gzip\r\n"
	                                           "Content-Length: %zu\r\n\r\n",
	                                      packed_length));
	http_client_send(client, packed, packed_length);
	arena_free(arena);
	return client;
}

static void test_gzip_is_decoded_for_all_runs_of_a_handler(void **state)
{
	(void)state;
	contended = 2;
	struct http_client *client = send_gzip(20);
	http_client_wait_text(client, "gggggggggggggggggggg", 1);
	assert_int_equal(http_client_status(client, 0), 200);
	assert_int_equal(handled, 3);
	http_client_free(client);
	until_held(0, 0);
}

/* Content that decodes to much more is refused at the limit, and the memory for it is returned. */
static void test_the_limit_holds_for_decoded_content(void **state)
{
	(void)state;
	struct http_client *at_limit = send_gzip(BODY_MAX);
	http_client_wait_text(at_limit, "200 OK", 1);
	struct http_client *over = send_gzip(BODY_MAX + 1);
	http_client_wait_text(over, "content_too_large", 1);
	struct http_client *bomb = send_gzip(64 * BODY_MAX);
	http_client_wait_text(bomb, "content_too_large", 1);
	assert_int_equal(http_client_status(bomb, 0), 413);
	assert_int_equal(handled, 1);
	http_client_free(at_limit);
	http_client_free(over);
	http_client_free(bomb);
	until_held(0, 0);
}

/* As the parsing of a large body. The threads are gone afterwards. */
static void test_much_is_decoded_on_the_thread_pool(void **state)
{
	(void)state;
	thread_pool_idle_ms = 2000;
	struct http_client *small = send_gzip(30 << 10);
	http_client_wait_text(small, "200 OK", 1);
	assert_int_equal(threads_seen, 0);
	struct http_client *large = send_gzip(BODY_MAX / 2);
	http_client_wait_text(large, "200 OK", 1);
	assert_int_equal(threads_seen, 1);
	http_client_free(small);
	http_client_free(large);
	until_held(0, 0);
	loop_until(&fixture.worker.loop, thread_pool_threads(LANE_SHORT) == 0);
	thread_pool_idle_ms = 10000;
}

static void test_other_codings_are_refused(void **state)
{
	(void)state;
	struct http_client *client = client_new();
	http_client_puts(client, HEAD "Content-Encoding: br\r\nContent-Length: 5\r\n\r\nhello");
	http_client_wait_text(client, "unsupported_media_type", 1);
	assert_int_equal(http_client_status(client, 0), 415);
	assert_int_equal(http_client_count(client, "Accept-Encoding: gzip\r\n"), 1);
	assert_int_equal(handled, 0);
	http_client_free(client);
}

static void test_running_requests_are_limited(void **state)
{
	(void)state;
	waits = true;
	fixture.process.worker_count = 8192; /* so that each worker may run two requests */
	struct http_client *clients[3];
	for (size_t i = 0; i < 3; i++) {
		clients[i] = client_new();
		http_client_puts(clients[i], SMALL);
		fixture_wait_start(&fixture);
		while (i < 2 && handled <= i)
			fixture_turn(&fixture);
		uv_timer_stop(&fixture.tick);
	}
	http_client_wait_text(clients[2], "\"error\":\"unavailable\"", 1);
	assert_int_equal(http_client_status(clients[2], 0), 503);
	assert_int_equal(handled, 2);
	request_list_cancel(fixture.worker.requests, ERR_UNAVAILABLE);
	http_client_wait_text(clients[0], "\"error\":\"unavailable\"", 1);
	http_client_wait_text(clients[1], "\"error\":\"unavailable\"", 1);
	waits = false;
	http_client_puts(clients[2], SMALL);
	http_client_wait_text(clients[2], "hello", 1);
	for (size_t i = 0; i < 3; i++)
		http_client_free(clients[i]);
}

static void test_a_handler_runs_again_after_contention(void **state)
{
	(void)state;
	struct http_client *client = client_new();
	contended = 3;
	http_client_puts(client, SMALL);
	http_client_wait_text(client, "hello", 1);
	assert_int_equal(http_client_status(client, 0), 200);
	assert_int_equal(http_client_count(client, "X-Run"), 0);
	assert_int_equal(handled, 4);
	until_held(0, 0);
	http_client_free(client);
}

static void test_contention_without_end_is_answered(void **state)
{
	(void)state;
	struct http_client *client = client_new();
	contended = SIZE_MAX;
	http_client_puts(client, SMALL);
	http_client_wait_text(client, "\"error\":\"contention\"", 1);
	assert_int_equal(http_client_status(client, 0), 503);
	assert_int_equal(http_client_count(client, "Retry-After: 1\r\n"), 1);
	assert_int_equal(handled, 6);
	http_client_free(client);
}

static void test_a_handler_with_effects_does_not_run_again(void **state)
{
	(void)state;
	struct http_client *client = client_new();
	contended = 1;
	writes = true;
	http_client_puts(client, SMALL);
	http_client_wait_text(client, "\"error\":\"contention\"", 1);
	assert_int_equal(handled, 1);
	http_client_free(client);
}

/* The time in which the client does not read counts neither as memory nor as the request's. */
static void test_a_stream_waits_for_its_client(void **state)
{
	(void)state;
	struct http_client *client = client_new();
	fixture.settings.request_timeout_ms = 1000;
	stream.pieces = 256;
	http_client_reads(client, false);
	http_client_puts(client, HEAD "Connection: close\r\nContent-Length: 0\r\n\r\n");
	loop_run_for(&fixture.worker.loop, 1300);
	assert_in_range(stream.sent, 1, stream.pieces - 1);
	http_client_reads(client, true);
	http_client_wait_end(client);
	assert_int_equal(http_client_status(client, 0), 200);
	assert_true(client->length > stream.pieces * PIECE);
	assert_string_equal(client->received + client->length - 7, "\r\n0\r\n\r\n");
	http_client_free(client);
}

/* Nobody takes half of it for all of it, and it is not begun again. */
static void test_a_stream_that_fails_is_broken_off(void **state)
{
	(void)state;
	struct http_client *client = client_new();
	stream.pieces = 2;
	stream.fails = true;
	http_client_puts(client, SMALL);
	http_client_wait_end(client);
	assert_int_equal(http_client_count(client, "\r\n0\r\n\r\n"), 0);
	assert_int_equal(handled, 1);
	http_client_free(client);
}

static void test_a_stream_ends_with_its_client(void **state)
{
	(void)state;
	struct http_client *client = client_new();
	stream.pieces = SIZE_MAX;
	http_client_reads(client, false);
	http_client_puts(client, SMALL);
	loop_until(&fixture.worker.loop, stream.sent > 0);
	http_client_reset(client);
	loop_until(&fixture.worker.loop, done_count == 1);
	fixture_idle(&fixture);
}

static void test_a_stream_is_compressed(void **state)
{
	(void)state;
	struct http_client *client = client_new();
	stream.pieces = 64;
	http_client_puts(client, HEAD "Accept-Encoding: gzip\r\nContent-Length: 0\r\n\r\n");
	http_client_wait_text(client, "\r\n0\r\n\r\n", 1);
	assert_int_equal(http_client_count(client, "Content-Encoding: gzip\r\n"), 1);
	assert_true(client->length < PIECE);
	http_client_free(client);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_much_is_decoded_on_the_thread_pool),
		CASE(test_a_large_body_is_parsed_on_the_thread_pool),
		CASE(test_body_is_released_after_the_reply),
		CASE(test_body_is_released_when_the_connection_is_lost),
		CASE(test_body_is_released_after_the_body_timeout),
		CASE(test_slow_body_ends_at_its_limit),
		CASE(test_the_upload_is_not_part_of_the_request_timeout),
		CASE(test_body_is_released_when_the_client_leaves_a_running_handler),
		CASE(test_members_outlive_a_client_that_leaves),
		CASE(test_too_large_body_is_released),
		CASE(test_unfinished_bodies_share_one_limit),
		CASE(test_parsed_bodies_share_the_limit),
		CASE(test_gzip_is_decoded_for_all_runs_of_a_handler),
		CASE(test_the_limit_holds_for_decoded_content),
		CASE(test_other_codings_are_refused),
		CASE(test_running_requests_are_limited),
		CASE(test_a_handler_runs_again_after_contention),
		CASE(test_contention_without_end_is_answered),
		CASE(test_a_handler_with_effects_does_not_run_again),
		CASE(test_a_stream_waits_for_its_client),
		CASE(test_a_stream_that_fails_is_broken_off),
		CASE(test_a_stream_ends_with_its_client),
		CASE(test_a_stream_is_compressed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
