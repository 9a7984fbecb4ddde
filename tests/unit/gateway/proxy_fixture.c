#include "proxy_fixture.h"

#include "crypto/scope.h"
#include "observe/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct upstream_limits fixture_upstream_limits;
struct http_limits fixture_limits;

struct key_wait {
	struct fixture *fixture;
};

static struct key_wait wait;

static enum err_code on_key_check(void *context, const struct key_query *query,
                                  struct identity *ret_caller, struct key_wait **ret_wait,
                                  key_check_cb *done, void *done_context)
{
	struct fixture *f = context;
	const char *bearer = query->text;
	*ret_wait = NULL;
	f->key_checks++;
	if (f->key_checks > 1 && strcmp(bearer, "good then slow") == 0)
		bearer = "slow";
	else if (strcmp(bearer, "good then slow") == 0)
		bearer = "good";
	if (strcmp(bearer, "slow") == 0) {
		f->key_done = done;
		f->key_context = done_context;
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

static void on_key_check_cancel(struct key_wait *waiting)
{
	waiting->fixture->key_cancels++;
	waiting->fixture->key_done = NULL;
}

static struct rate_verdict rate(void *context, const struct identity *caller)
{
	struct fixture *f = context;
	assert_true(uuid_equal(&caller->key_id, &f->caller.key_id));
	f->rate_calls++;
	return f->rate;
}

static struct rate_verdict rate_open(void *context, const char *client)
{
	struct fixture *f = context;
	assert_string_equal(client, "127.0.0.1");
	return f->rate;
}

/* One of the gateway's own operations. Like a request, it takes the arena of the exchange, in which
 * it is itself. */
struct operation {
	struct fixture *fixture;
	struct http_exchange *x;
	struct arena *arena;
};

static void *local_open(void *context, struct http_exchange *x, const struct api_match *match,
                        const struct identity *caller, const char *request_id,
                        const struct http_field *fields, size_t field_count)
{
	struct fixture *f = context;
	assert_int_equal(match->op->service, API_GATEWAY);
	assert_true(caller->scopes == f->caller.scopes || (match->op->flags & API_OPEN) != 0);
	assert_non_null(request_id);
	assert_true(field_count == 0 || strcmp(fields[0].name, "RateLimit") == 0);
	f->local_opens++;
	struct operation *operation = arena_new_of(x->arena, struct operation);
	*operation = (struct operation){f, x, x->arena};
	x->arena = NULL;
	return operation;
}

static void local_content(void *local, const char *data, size_t length)
{
	(void)data;
	((struct operation *)local)->fixture->local_bytes += length;
}

static void local_end(void *local, const struct identity *caller)
{
	struct operation *operation = local;
	(void)caller;
	operation->fixture->local_ends++;
	http_respond_start(operation->x, 200, NULL, 0, 5);
	http_respond_content(operation->x, "local", 5);
	http_respond_end(operation->x);
}

static void local_refuse(void *local, const struct problem *problem)
{
	struct operation *operation = local;
	operation->fixture->local_refusals++;
	http_respond_start(operation->x, err_info(problem->code)->status, NULL, 0, 0);
	http_respond_end(operation->x);
}

static void local_gone(void *local, enum err_code reason)
{
	(void)reason;
	((struct operation *)local)->fixture->local_gones++;
}

static void local_done(void *local)
{
	struct operation *operation = local;
	operation->fixture->local_dones++;
	arena_free(operation->arena);
}

static const struct proxy_hooks HOOKS = {
	.key_check = on_key_check,
	.key_check_cancel = on_key_check_cancel,
	.rate = rate,
	.rate_open = rate_open,
	.local_open = local_open,
	.local_content = local_content,
	.local_end = local_end,
	.local_refuse = local_refuse,
	.local_gone = local_gone, /* local_drained: the answers are short */
	.local_done = local_done,
};

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
	f->proxy = proxy_new(f->signers, f->services, &HOOKS, f);
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
