#include "tls/conn.h"

#include "base/base.h"
#include "certificate.h"
#include "tls/context.h"
#include "tls/version.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TEXT_BYTES 100000 /* more than six records */

static struct tls_store *store;
static struct tls_context *contexts[2]; /* of two workers */
static struct tls_trust *trusts[2];     /* in the server's certificate, and in another */

/* Bytes on their way. */
struct pipe_bytes {
	unsigned char data[4 * TEXT_BYTES];
	size_t length;
};

/* A client by mbedTLS itself, and the connection of the server that it talks to. */
struct client {
	mbedtls_ssl_config config;
	mbedtls_ssl_context ssl;
	struct pipe_bytes to_server, to_client;
	struct tls_conn *server;
	enum tls_state state;      /* of the server */
	size_t piece;              /* the server receives at most so many bytes at once */
	char text[2 * TEXT_BYTES]; /* what the server has decrypted */
	size_t text_length;
	int end; /* of reading: a code of mbedTLS */
};

static void pipe_add(struct pipe_bytes *pipe, const void *data, size_t length)
{
	require(length <= sizeof(pipe->data) - pipe->length);
	memcpy(pipe->data + pipe->length, data, length);
	pipe->length += length;
}

static size_t pipe_take(struct pipe_bytes *pipe, void *out, size_t size)
{
	size_t taken = MIN_OF(size, pipe->length);
	memcpy(out, pipe->data, taken);
	memmove(pipe->data, pipe->data + taken, pipe->length - taken);
	pipe->length -= taken;
	return taken;
}

static void server_sends(void *owner, const void *data, size_t length)
{
	struct client *client = owner;
	pipe_add(&client->to_client, data, length);
}

static int client_sends(void *user, const unsigned char *data, size_t length)
{
	struct client *client = user;
	pipe_add(&client->to_server, data, length);
	return (int)length;
}

static int client_receives(void *user, unsigned char *out, size_t size)
{
	struct client *client = user;
	size_t taken = pipe_take(&client->to_client, out, size);
	return taken ? (int)taken : MBEDTLS_ERR_SSL_WANT_READ;
}

static int client_random(void *unused, unsigned char *out, size_t length)
{
	(void)unused;
	random_bytes(out, length);
	return 0;
}

/* The server takes what the client has sent. */
static void deliver(struct client *client)
{
	unsigned char piece[TLS_INPUT_MAX];
	size_t length;
	while ((length = pipe_take(&client->to_server, piece, client->piece)) > 0) {
		const char *text;
		size_t text_length;
		client->state =
			tls_conn_receive(client->server, piece, length, &text, &text_length);
		require(text_length <= sizeof(client->text) - client->text_length);
		memcpy(client->text + client->text_length, text, text_length);
		client->text_length += text_length;
	}
}

static struct client *client_new(struct tls_context *context, size_t piece)
{
	struct client *client = calloc(1, sizeof(*client));
	require(client);
	client->piece = piece;
	client->server = tls_conn_new(context, server_sends, client);
	mbedtls_ssl_config_init(&client->config);
	mbedtls_ssl_init(&client->ssl);
	require(mbedtls_ssl_config_defaults(&client->config, MBEDTLS_SSL_IS_CLIENT,
	                                    MBEDTLS_SSL_TRANSPORT_STREAM,
	                                    MBEDTLS_SSL_PRESET_DEFAULT) == 0);
	mbedtls_ssl_conf_authmode(&client->config, MBEDTLS_SSL_VERIFY_NONE);
	mbedtls_ssl_conf_rng(&client->config, client_random, NULL);
#ifdef MBEDTLS_SSL_TLS1_3_SIGNAL_NEW_SESSION_TICKETS_ENABLED
	mbedtls_ssl_conf_tls13_enable_signal_new_session_tickets(
		&client->config, MBEDTLS_SSL_TLS1_3_SIGNAL_NEW_SESSION_TICKETS_ENABLED);
#endif
	require(mbedtls_ssl_setup(&client->ssl, &client->config) == 0);
	require(mbedtls_ssl_set_hostname(&client->ssl, "localhost") == 0);
	mbedtls_ssl_set_bio(&client->ssl, client, client_sends, client_receives, NULL);
	return client;
}

static void client_free(struct client *client)
{
	tls_conn_free(client->server);
	mbedtls_ssl_free(&client->ssl);
	mbedtls_ssl_config_free(&client->config);
	free(client);
}

static void shake_hands(struct client *client)
{
	int code;
	while ((code = mbedtls_ssl_handshake(&client->ssl)) == MBEDTLS_ERR_SSL_WANT_READ)
		deliver(client);
	assert_int_equal(code, 0);
	deliver(client);
	assert_int_equal(client->state, TLS_OPEN);
}

/* Read what there is. Returns its length; client->end: why there is no more. mbedTLS stops at each
 * ticket of TLS 1.3, twice. */
static size_t client_reads(struct client *client, unsigned char *out, size_t size)
{
	size_t length = 0;
	for (int stops = 0; stops < 4; stops++) {
		int got = mbedtls_ssl_read(&client->ssl, out + length, size - length);
		if (got > 0) {
			length += (size_t)got;
			stops = 0;
		} else if (client->end != MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY) {
			client->end = got;
		}
	}
	return length;
}

static void client_writes(struct client *client, const void *data, size_t length)
{
	const unsigned char *at = data;
	while (length > 0) {
		int taken = mbedtls_ssl_write(&client->ssl, at, length);
		assert_true(taken > 0);
		at += taken;
		length -= (size_t)taken;
	}
}

static void text_passes_both_ways(void **state)
{
	(void)state;
	static const size_t PIECES[] = {TLS_INPUT_MAX, 1, 7, 16384};
	static unsigned char text[TEXT_BYTES], got[TEXT_BYTES + 1];
	random_bytes(text, sizeof(text));
	for (size_t i = 0; i < ARRAY_LEN(PIECES); i++) {
		struct client *client = client_new(contexts[0], PIECES[i]);
		shake_hands(client);
		client_writes(client, text, sizeof(text));
		deliver(client);
		assert_int_equal(client->text_length, sizeof(text));
		assert_memory_equal(client->text, text, sizeof(text));
		/* In parts of all sizes, which are gathered into records. */
		for (size_t at = 0, part = 1; at < sizeof(text);
		     at += part, part = part * 3 % 40000 + 1) {
			part = MIN_OF(part, sizeof(text) - at);
			tls_conn_write(client->server, text + at, part);
		}
		assert_true(tls_conn_flush(client->server));
		assert_int_equal(client_reads(client, got, sizeof(got)), sizeof(text));
		assert_memory_equal(got, text, sizeof(text));
		client_free(client);
	}
}

static void parts_are_gathered_into_whole_records(void **state)
{
	(void)state;
	struct client *client = client_new(contexts[0], TLS_INPUT_MAX);
	shake_hands(client);
	(void)client_reads(client, (unsigned char[64]){0}, 64);
	for (int i = 0; i < 1000; i++)
		tls_conn_write(client->server, "0123456789", 10);
	assert_int_equal(client->to_client.length, 0);
	assert_true(tls_conn_flush(client->server));
	assert_in_range(client->to_client.length, 10000, 10064);
	client_free(client);
}

static void a_ticket_is_taken_by_another_worker(void **state)
{
	(void)state;
	mbedtls_ssl_session session;
	mbedtls_ssl_session_init(&session);
	struct client *first = client_new(contexts[0], TLS_INPUT_MAX);
	shake_hands(first);
	assert_false(tls_conn_is_resumed(first->server));
	(void)client_reads(first, (unsigned char[64]){0}, 64);
	assert_int_equal(mbedtls_ssl_get_session(&first->ssl, &session), 0);
	struct client *second = client_new(contexts[1], TLS_INPUT_MAX);
	assert_int_equal(mbedtls_ssl_set_session(&second->ssl, &session), 0);
	shake_hands(second);
	assert_true(tls_conn_is_resumed(second->server));
	client_writes(second, "hello", 5);
	deliver(second);
	assert_memory_equal(second->text, "hello", 5);
	mbedtls_ssl_session_free(&session);
	client_free(first);
	client_free(second);
}

static void the_end_comes_after_the_text(void **state)
{
	(void)state;
	struct client *client = client_new(contexts[0], TLS_INPUT_MAX);
	unsigned char got[16];
	shake_hands(client);
	client_writes(client, "last", 4);
	assert_int_equal(mbedtls_ssl_close_notify(&client->ssl), 0);
	deliver(client);
	assert_int_equal(client->state, TLS_ENDED);
	assert_int_equal(client->text_length, 4);
	tls_conn_write(client->server, "answer", 6);
	assert_true(tls_conn_flush(client->server));
	tls_conn_end(client->server);
	assert_int_equal(client_reads(client, got, sizeof(got)), 6);
	assert_int_equal(client->end, MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY);
	client_free(client);
}

static void a_changed_byte_is_noticed(void **state)
{
	(void)state;
	struct client *client = client_new(contexts[0], TLS_INPUT_MAX);
	shake_hands(client);
	client_writes(client, "hello", 5);
	client->to_server.data[client->to_server.length - 1] ^= 1;
	deliver(client);
	assert_int_equal(client->state, TLS_FAILED);
	assert_int_equal(client->text_length, 0);
	assert_true(strlen(tls_conn_fault(client->server)) > 0);
	tls_conn_write(client->server, "lost", 4);
	assert_false(tls_conn_flush(client->server));
	client_free(client);
}

/* A client and a server of this module, each with what it has been sent. */
struct pair {
	struct tls_conn *conns[2]; /* the client, the server */
	struct pipe_bytes in[2];
	enum tls_state states[2];
};

static void client_of_pair_sends(void *owner, const void *data, size_t length)
{
	struct pair *pair = owner;
	pipe_add(&pair->in[1], data, length);
}

static void server_of_pair_sends(void *owner, const void *data, size_t length)
{
	struct pair *pair = owner;
	pipe_add(&pair->in[0], data, length);
}

/* Deliver what was sent, until nothing is; `read`, which may be NULL, gets the text. */
static void exchange(struct pair *pair, struct pipe_bytes *read)
{
	static unsigned char piece[TLS_INPUT_MAX];
	while (pair->in[0].length + pair->in[1].length > 0) {
		int to = pair->in[1].length > 0;
		const char *got;
		size_t length = pipe_take(&pair->in[to], piece, sizeof(piece));
		pair->states[to] = tls_conn_receive(pair->conns[to], piece, length, &got, &length);
		if (read)
			pipe_add(read, got, length);
	}
}

static struct pair *pair_new(struct tls_context *client, const char *host)
{
	struct pair *pair = calloc(1, sizeof(*pair));
	require(pair);
	pair->conns[1] = tls_conn_new(contexts[0], server_of_pair_sends, pair);
	pair->conns[0] = tls_conn_connect(client, host, client_of_pair_sends, pair);
	exchange(pair, NULL);
	return pair;
}

static void pair_free(struct pair *pair)
{
	tls_conn_free(pair->conns[0]);
	tls_conn_free(pair->conns[1]);
	free(pair);
}

static void a_client_talks_to_a_server(void **state)
{
	(void)state;
	static struct pipe_bytes read;
	struct tls_context *client = tls_context_new_client(trusts[0]);
	struct pair *pair = pair_new(client, "localhost");
	assert_int_equal(pair->states[0], TLS_OPEN);
	assert_int_equal(pair->states[1], TLS_OPEN);
	tls_conn_write(pair->conns[0], "question ", 9);
	assert_true(tls_conn_flush(pair->conns[0]));
	exchange(pair, &read);
	tls_conn_write(pair->conns[1], "answer", 6);
	assert_true(tls_conn_flush(pair->conns[1]));
	tls_conn_end(pair->conns[1]);
	exchange(pair, &read);
	assert_int_equal(read.length, strlen("question answer"));
	assert_memory_equal(read.data, "question answer", read.length);
	assert_int_equal(pair->states[0], TLS_ENDED);
	pair_free(pair);
	tls_context_free(client);
}

static void a_client_refuses_a_server(void **state)
{
	(void)state;
	static const struct {
		int trust;
		const char *host, *reason;
	} CASES[] = {
		{0, "other", "the certificate is for another host"},
		{0, "localhost.example", "the certificate is for another host"},
		{0, "127.0.0.1", "the certificate is for another host"},
		{0, "::1", "the certificate is for another host"},
		{1, "localhost", "no trusted authority has signed the certificate"},
		{1, "other", "no trusted authority has signed the certificate"},
	};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		struct tls_context *client = tls_context_new_client(trusts[CASES[i].trust]);
		struct pair *pair = pair_new(client, CASES[i].host);
		assert_int_equal(pair->states[0], TLS_FAILED);
		assert_true(tls_conn_is_refused(pair->conns[0]));
		assert_string_equal(tls_conn_fault(pair->conns[0]), CASES[i].reason);
		assert_int_not_equal(pair->states[1], TLS_OPEN);
		pair_free(pair);
		tls_context_free(client);
	}
}

static struct tls_trust *trust_in(const char *file)
{
	struct arena *arena = arena_new();
	struct tls_trust *trust;
	const char *reason;
	require(!tls_trust_new(&(struct tls_trust_files){.setting = "CA_FILE", .file = file}, arena,
	                       &trust, &reason));
	arena_free(arena);
	return trust;
}

static int start(void **state)
{
	(void)state;
	char folder[SCRATCH_PATH_MAX];
	scratch_new(folder, "tls");
	struct certificate_files files = certificate_make(folder);
	trusts[1] = trust_in(files.certificate);
	files = certificate_make(folder);
	trusts[0] = trust_in(files.certificate);
	const struct tls_settings settings = {.certificates = files.certificate,
	                                      .keys = files.key,
	                                      .min_version = "1.2"};
	struct arena *arena = arena_new();
	const char *reason;
	require(!tls_store_new(&settings, arena, &store, &reason));
	arena_free(arena);
	for (int i = 0; i < 2; i++)
		contexts[i] = tls_context_new(store);
	return remove(files.certificate) || remove(files.key) || remove(folder);
}

static int stop(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++)
		tls_context_free(contexts[i]);
	tls_store_free(store);
	for (int i = 0; i < 2; i++)
		tls_trust_free(trusts[i]);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_passes_both_ways),
		cmocka_unit_test(parts_are_gathered_into_whole_records),
		cmocka_unit_test(a_ticket_is_taken_by_another_worker),
		cmocka_unit_test(the_end_comes_after_the_text),
		cmocka_unit_test(a_changed_byte_is_noticed),
		cmocka_unit_test(a_client_talks_to_a_server),
		cmocka_unit_test(a_client_refuses_a_server),
	};
	return cmocka_run_group_tests(tests, start, stop);
}
