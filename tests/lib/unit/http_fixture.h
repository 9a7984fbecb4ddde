/** An echo server and a client, for tests of the HTTP server. */
#pragma once

#include "http/server.h"
#include "http_client.h"

/** Callbacks that override the handler, and what the handler has seen. */
struct fixture {
	uv_loop_t loop;
	struct http_server *server;
	struct http_client *client;
	uint16_t port;
	void (*on_end)(struct http_exchange *x); /* NULL: echo */
	void (*on_head)(struct http_exchange *x);
	void (*on_content)(struct http_exchange *x); /* NULL: it is only kept */
	void (*on_drained)(struct http_exchange *x); /* NULL: only counted */
	size_t heads, ends, dones, gones, drained;
	size_t content_bytes, content_calls;
	enum err_code gone_reason;
	struct http_exchange *held; /* the newest open exchange */
	char seen[512];             /* method, target and content of the newest exchange */
	bool is_drained;
};

/** Limits of the server; reset to the defaults before each test. */
extern struct http_limits fixture_limits;

/** Records each call in the server's fixture. */
extern const struct http_handler *const fixture_handler;

struct fixture *fixture_of(struct http_exchange *x);

/** Send a complete response with a text. */
void respond_text(struct http_exchange *x, int status, const char *text);

/** Start a server and connect a client. */
int fixture_setup(void **state);

/** Stop both; checks that every exchange was finished and that no libuv handle is left. */
int fixture_teardown(void **state);
