/* Content that the server borrows and sends as the client reads. */
#include "base/base.h"
#include "http_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define GET       "GET /x HTTP/1.1\r\nHost: h\r\n\r\n"
#define LARGE     (16 << 20)
#define CLIENTS   8
#define PIECE_MAX (128 << 10)

static char large[LARGE];

static void respond_large(struct http_exchange *x)
{
	http_respond_start(x, 200, NULL, 0, LARGE);
	http_respond_last(x, large, LARGE);
}

static void respond_chunked(struct http_exchange *x)
{
	http_respond_start(x, 200, NULL, 0, -1);
	http_respond_last(x, large, LARGE);
}

static void respond_empty(struct http_exchange *x)
{
	http_respond_start(x, 200, NULL, 0, 0);
	http_respond_last(x, "", 0);
}

static void run_until_idle(struct fixture *f)
{
	for (int i = 0; i < 50; i++)
		uv_run(&f->loop, UV_RUN_NOWAIT);
}

static void slow_clients_cost_no_copy_of_the_content(void **state)
{
	struct fixture *f = *state;
	struct http_client *clients[CLIENTS];
	f->on_end = respond_large;
	for (size_t i = 0; i < CLIENTS; i++) {
		clients[i] = http_client_new(&f->loop, f->port);
		http_client_reads(clients[i], false);
		http_client_puts(clients[i], GET);
	}
	loop_until(&f->loop, f->ends == CLIENTS);
	run_until_idle(f);
	assert_int_equal(f->dones, 0);
	assert_in_range(http_server_queued(f->server), 1, CLIENTS * PIECE_MAX);
	for (size_t i = 0; i < CLIENTS; i++) {
		http_client_reads(clients[i], true);
		loop_until(&f->loop, clients[i]->length > LARGE);
		const char *content = strstr(clients[i]->received, "\r\n\r\n") + 4;
		assert_int_equal(clients[i]->received + clients[i]->length - content, LARGE);
		assert_memory_equal(content, large, LARGE);
		http_client_free(clients[i]);
	}
	assert_int_equal(f->drained, 0);
}

static void the_connection_serves_the_next_request(void **state)
{
	static void (*const RESPONSES[])(struct http_exchange *) = {respond_large, respond_chunked,
	                                                            respond_empty};
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_LEN(RESPONSES); i++) {
		f->on_end = RESPONSES[i];
		http_client_puts(f->client, "HEAD /x HTTP/1.1\r\nHost: h\r\n\r\n" GET);
		loop_until(&f->loop, f->dones == 2 * (i + 1));
	}
	http_client_wait_text(f->client, "200 OK", 6);
	assert_false(f->client->is_at_end);
	assert_in_range(f->client->length, 2 * LARGE, 2 * LARGE + 10000);
}

#define PIECES 20

/* In pieces, each of which takes time to make. */
static void respond_piece(struct http_exchange *x)
{
	if (x->status == 0)
		http_respond_start(x, 200, NULL, 0, -1);
	http_respond_content(x, "piece", strlen("piece"));
	if (fixture_of(x)->drained < PIECES)
		http_respond_later(x);
	else
		http_respond_end(x);
}

static void each_piece_has_a_turn_of_the_loop(void **state)
{
	struct fixture *f = *state;
	f->on_end = f->on_drained = respond_piece;
	http_client_puts(f->client, GET);
	while (f->dones == 0) {
		size_t before = f->drained;
		uv_run(&f->loop, UV_RUN_NOWAIT);
		assert_in_range(f->drained - before, 0, 1);
	}
	assert_int_equal(f->drained, PIECES);
	http_client_wait_text(f->client, "piece", PIECES + 1);
}

static void a_client_that_disconnects_ends_the_exchange(void **state)
{
	struct fixture *f = *state;
	f->on_end = respond_large;
	http_client_reads(f->client, false);
	http_client_puts(f->client, GET);
	loop_until(&f->loop, f->ends == 1);
	http_client_free(f->client);
	f->client = NULL;
	loop_until(&f->loop, f->dones == 1);
	assert_int_equal(f->gones, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	for (size_t i = 0; i < LARGE; i++)
		large[i] = (char)('a' + i * 7 % 23);
	const struct CMUnitTest tests[] = {
		TEST(slow_clients_cost_no_copy_of_the_content),
		TEST(the_connection_serves_the_next_request),
		TEST(each_piece_has_a_turn_of_the_loop),
		TEST(a_client_that_disconnects_ends_the_exchange),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
