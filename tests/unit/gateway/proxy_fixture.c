#include "proxy_fixture.h"

#include "crypto/scope.h"
#include "observe/log.h"
#include "request/http_request.h"
#include "request/http_service.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct upstream_limits fixture_upstream_limits;
struct http_limits fixture_limits;

/* --- Stand-ins, which the linker takes before those of the libraries ------------------------- */

struct key_checker {
	struct fixture *fixture;
};

struct key_wait {
	struct fixture *fixture;
};

struct rate_limits {
	struct fixture *fixture;
};

static struct key_checker keys;
static struct key_wait wait;
static struct rate_limits limits;

enum err_code key_check(struct key_checker *checker, const struct key_query *query,
                        struct identity *ret_caller, struct key_wait **ret_wait, key_check_cb *done,
                        void *context)
{
	struct fixture *f = checker->fixture;
	const char *bearer = query->text;
	*ret_wait = NULL;
	f->key_checks++;
	if (f->key_checks > 1 && strcmp(bearer, "good then slow") == 0)
		bearer = "slow";
	else if (strcmp(bearer, "good then slow") == 0)
		bearer = "good";
	if (strcmp(bearer, "slow") == 0) {
		f->key_done = done;
		f->key_context = context;
		wait.fixture = f;
		*ret_wait = &wait;
		return ERR_NONE;
	}
	if (strcmp(bearer, "down") == 0)
		return ERR_UNAVAILABLE;
	if (strcmp(bearer, "good") != 0)
		return ERR_UNAUTHENTICATED;
	*ret_caller = f->caller;
	return ERR_NONE;
}

void key_check_cancel(struct key_wait *waiting)
{
	waiting->fixture->key_cancels++;
	waiting->fixture->key_done = NULL;
}

struct rate_verdict rate_limits_take(struct rate_limits *of, const struct uuid *key_id,
                                     const struct uuid *account, uint64_t now_us)
{
	struct fixture *f = of->fixture;
	(void)account;
	(void)now_us;
	assert_true(uuid_equal(key_id, &f->caller.key_id));
	f->rate_calls++;
	return f->rate;
}

struct rate_verdict rate_limits_take_open(struct rate_limits *of, const char *address,
                                          uint64_t now_us)
{
	(void)now_us;
	assert_string_equal(address, "127.0.0.1");
	return of->fixture->rate;
}

/* The request of one of the gateway's own operations. Like others, it takes the arena of the
 * exchange, in which it is itself. */
static struct fixture *fixture_of(const struct request *rq)
{
	return rq->worker->user;
}

request_fn *http_service_route(const struct api_op *op)
{
	assert_int_equal(op->service, API_GATEWAY);
	return NULL;
}

struct request *http_request_new(struct worker *worker, struct http_exchange *exchange,
                                 const struct api_match *match, const struct identity *caller,
                                 const char *client, const char *request_id, request_fn *handle,
                                 size_t body_max_bytes)
{
	struct fixture *f = worker->user;
	(void)client;
	(void)handle;
	(void)body_max_bytes;
	assert_true(caller->scopes == f->caller.scopes || (match->op->flags & API_OPEN) != 0);
	assert_non_null(request_id);
	f->local_opens++;
	f->local = exchange;
	struct request *rq = arena_new_of(exchange->arena, struct request);
	rq->worker = worker;
	rq->arena = exchange->arena;
	rq->http = arena_new_of(exchange->arena, struct http_call);
	rq->http->exchange = exchange;
	exchange->arena = NULL;
	return rq;
}

void http_request_content(struct request *rq, const char *data, size_t length)
{
	struct fixture *f = fixture_of(rq);
	(void)data;
	f->local_bytes += length;
	if (!f->local_refuses)
		return;
	http_respond_start(f->local, 413, NULL, 0, 0);
	f->local_refuses = false;
}

void http_request_end(struct request *rq)
{
	struct http_exchange *x = rq->http->exchange;
	if (x->status)
		return;
	assert_true(rq->http->field_count == 0 ||
	            strcmp(rq->http->fields[0].name, "RateLimit") == 0);
	fixture_of(rq)->local_ends++;
	http_respond_start(x, 200, NULL, 0, 5);
	http_respond_content(x, "local", 5);
	http_respond_end(x);
}

void http_request_refuse(struct request *rq, const struct problem *problem)
{
	fixture_of(rq)->local_refusals++;
	http_respond_start(rq->http->exchange, err_info(problem->code)->status, NULL, 0, 0);
	http_respond_end(rq->http->exchange);
}

void http_request_drained(struct request *rq)
{
	(void)rq; /* the answers are short */
}

void http_request_gone(struct request *rq, enum err_code reason)
{
	(void)reason;
	fixture_of(rq)->local_gones++;
}

void http_request_done(struct request *rq)
{
	fixture_of(rq)->local_dones++;
	arena_free(rq->arena);
}

/* --- The fixture ------------------------------------------------------------------------------ */

static void on_head(struct http_exchange *x)
{
	struct fixture *f = http_server_context(x->server);
	proxy_head(f->proxy, x);
}

static const struct http_handler HANDLER = {
	.on_head = on_head,
	.on_content = proxy_content,
	.on_end = proxy_end,
	.on_drained = proxy_drained,
	.on_gone = proxy_gone,
	.on_done = proxy_done,
};

static void listen_and_connect(struct fixture *f)
{
	const struct address any = {.host = "127.0.0.1"};
	f->server = http_server_new(&f->loop, &HANDLER, &fixture_limits, f);
	assert_int_equal(http_server_listen(f->server, &any, NULL), ERR_NONE);
	f->client = http_client_new(&f->loop, http_server_port(f->server));
}

int fixture_setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	api_init();
	(void)log_init("test", "error");
	fixture_limits = http_limits_default;
	fixture_upstream_limits = upstream_limits_default;
	uv_loop_init(&f->loop);
	f->arena = arena_new();
	f->caller = (struct identity){.account = uuid_new(),
	                              .key_id = uuid_new(),
	                              .scopes = SCOPE_ALL,
	                              .repo = "o/r"};
	f->signers[API_EXPERIMENTS] =
		identity_signer_new("gateway", "svc-experiments", FIXTURE_SECRET);
	f->signers[API_SEARCH] = identity_signer_new("gateway", "svc-search", FIXTURE_SECRET);
	f->fake = fake_service_new(&f->loop);
	struct address *address = arena_new_of(f->arena, struct address);
	*address = (struct address){.host = "127.0.0.1", .port = f->fake->port};
	f->service = upstream_new(&f->loop, "fake", address, &fixture_upstream_limits);
	f->services[API_EXPERIMENTS] = f->services[API_SEARCH] = f->service;
	f->worker.user = keys.fixture = limits.fixture = f;
	f->proxy = proxy_new(&(struct proxy_parts){
		.worker = &f->worker,
		.keys = &keys,
		.limits = &limits,
		.signers = f->signers,
		.services = f->services,
	});
	listen_and_connect(f);
	*state = f;
	return 0;
}

int fixture_teardown(void **state)
{
	struct fixture *f = *state;
	if (f->client)
		http_client_free(f->client);
	http_server_free(f->server);
	proxy_free(f->proxy);
	upstream_free(f->service);
	fake_service_free(f->fake);
	uv_run(&f->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&f->loop), 0);
	assert_int_equal(f->local_opens, f->local_dones);
	identity_signer_free(f->signers[API_EXPERIMENTS]);
	identity_signer_free(f->signers[API_SEARCH]);
	arena_free(f->arena);
	free(f);
	return 0;
}

void fixture_settle(struct fixture *f)
{
	for (int i = 0; i < 20; i++)
		uv_run(&f->loop, UV_RUN_NOWAIT);
}

void fixture_wait_key(struct fixture *f)
{
	loop_until(&f->loop, f->key_done);
}

void fixture_answer_key(struct fixture *f, enum err_code code)
{
	fixture_wait_key(f);
	key_check_cb *done = f->key_done;
	f->key_done = NULL;
	done(f->key_context, code, code ? NULL : &f->caller);
}

void fixture_wait_connections(struct fixture *f, size_t count)
{
	loop_until(&f->loop, upstream_connections(f->service) == count);
}

void fixture_answer(struct fixture *f, size_t index, const char *bytes)
{
	struct http_client *conn = fake_service_conn(f->fake, index);
	http_client_wait_text(conn, "\r\n\r\n", 1);
	http_client_puts(conn, bytes);
}
