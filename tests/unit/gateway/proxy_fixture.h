/** A gateway with one service of raw sockets behind it, a client before it, and keys that need no
 * database. */
#pragma once

#include "fake_service.h"
#include "http_client.h"
#include "proxy/proxy.h"

#define LIST "/api/v1.0/experiments"

/** A request by the key that may do everything. */
#define GET_LIST "GET " LIST " HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer good\r\n\r\n"

struct fixture {
	uv_loop_t loop;
	struct http_server *server;
	struct http_client *client;
	struct fake_service *fake;
	struct upstream *service;
	struct upstream *services[API_SERVICE_COUNT];
	struct arena *arena; /* of the addresses */
	struct proxy *proxy;
	struct identity_signer *signer;
	struct identity caller; /* whom the good key belongs to */
	struct rate_verdict rate;
	size_t rate_calls;
	auth_done_cb *auth_done; /* a look-up that is under way */
	void *auth_context;
	size_t auth_cancels;
	size_t local_opens, local_ends, local_gones, local_dones, local_bytes;
};

extern struct upstream_limits fixture_upstream_limits;
extern struct http_limits fixture_limits;

int fixture_setup(void **state);
int fixture_teardown(void **state);

/** Run the loop a little, so that what must not happen could. */
void fixture_settle(struct fixture *f);

/** Wait until a look-up is under way. */
void fixture_wait_auth(struct fixture *f);

/** Wait for a look-up, and answer it. */
void fixture_answer_auth(struct fixture *f, enum err_code code);

/** Wait until the gateway has so many connections to the service. */
void fixture_wait_connections(struct fixture *f, size_t count);

/** The service answers `bytes` on its `index`-th connection, once a whole head has come there. */
void fixture_answer(struct fixture *f, size_t index, const char *bytes);
