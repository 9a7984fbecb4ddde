/** A proxy with one client, one service made of raw sockets, and a key check without a database:
 * the bearer `good` is valid; the check of `slow` ends when the test calls fixture_answer_key();
 * the check of `down` fails with ERR_UNAVAILABLE; `good then slow` is valid at first, its later
 * checks are those of `slow`; all others are invalid. */
#pragma once

#include "fake_service.h"
#include "http_client.h"
#include "loop/worker.h"
#include "proxy/proxy.h"

#define LIST "/api/v1.0/experiments"

#define FIXTURE_SECRET "a secret of the tests, 32 characters or more"

/** A request with the valid key. */
#define GET_LIST "GET " LIST " HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer good\r\n\r\n"

struct fixture {
	uv_loop_t loop;
	struct http_server *server;
	struct http_client *client;
	struct fake_service *fake;
	struct upstream *service;
	struct upstream *services[API_SERVICE_COUNT];
	struct arena *arena;  /* of the addresses */
	struct worker worker; /* of the gateway's own operations */
	struct proxy *proxy;
	struct identity_signer *signers[API_SERVICE_COUNT];
	struct identity caller; /* the owner of the good key */
	struct rate_verdict rate;
	size_t rate_calls;
	key_check_cb *key_done; /* of the running lookup; NULL: none */
	void *key_context;
	size_t key_checks, key_cancels;
	size_t local_opens, local_ends, local_refusals, local_gones, local_dones, local_bytes;
	struct http_exchange *local; /* the newest */
	bool local_refuses;          /* content is answered 413, which does not end */
};

extern struct upstream_limits fixture_upstream_limits;
extern struct http_limits fixture_limits;

int fixture_setup(void **state);
int fixture_teardown(void **state);

/** Run the loop for some turns, before a test asserts that nothing happened. */
void fixture_settle(struct fixture *f);

/** Wait until a key lookup is running. */
void fixture_wait_key(struct fixture *f);

/** Wait for a key lookup and end it. */
void fixture_answer_key(struct fixture *f, enum err_code code);

/** Wait until the proxy has `count` connections to the service. */
void fixture_wait_connections(struct fixture *f, size_t count);

/** Wait for a request's head on the service's `index`-th connection, then answer with `bytes`. */
void fixture_answer(struct fixture *f, size_t index, const char *bytes);
