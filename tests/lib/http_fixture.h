/** A server that echoes, one client, and what the handler saw; for tests of the HTTP server. */
#pragma once

#include "http/server.h"
#include "http_client.h"

/** What the handler is to do, and what it saw. */
struct fixture {
	uv_loop_t loop;
	struct http_server *server;
	struct http_client *client;
	uint16_t port;
	void (*on_end)(struct http_exchange *x); /* NULL: echo */
	void (*on_head)(struct http_exchange *x);
	size_t heads, ends, dones, gones, drained;
	size_t content_bytes, content_calls;
	enum err_code gone_reason;
	struct http_exchange *held; /* the newest one that is open */
	char seen[512];             /* of the newest: method, target, content */
	bool is_drained;
};

/** Of the server; set back to the defaults for each test. */
extern struct http_limits fixture_limits;

/** Notes each call in the server's fixture. */
extern const struct http_handler *const fixture_handler;

struct fixture *fixture_of(struct http_exchange *x);

/** Answer at once with a text. */
void respond_text(struct http_exchange *x, int status, const char *text);

/** A server and a connected client. */
int fixture_setup(void **state);

/** Checks that every exchange was finished and that nothing of libuv's is left. */
int fixture_teardown(void **state);
