#include "client/service_call.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "crypto/identity.h"
#include "crypto/scope.h"
#include "fake_names.h"
#include "http/server.h"
#include "worker_fixture.h"

#include <unistd.h>

#define REPLICAS   3
#define TIMEOUT_MS 3000

enum behaviour {
	ANSWERS,
	IS_FROZEN,    /* accepts requests and does not answer */
	BREAKS,       /* closes the connection of each request */
	IS_BUSY,      /* 503 */
	IS_UNCERTAIN, /* 503 outcome_uncertain */
	IS_ENDING,    /* 408 without content: the request has crossed the end of the connection */
	IS_ANOTHER,   /* 421: the process of another service, which has the address now */
};

struct replica {
	struct http_server *server;
	enum behaviour behaviour;
	size_t requests;
};

static struct worker_fixture fixture;
static struct fake_names names;
static const struct identity_secret SECRET = {"svc-interests",
                                              "a secret of at least thirty-two bytes!"};
static struct identity_verifier *verifier; /* of svc-search */
static struct replica replicas[REPLICAS];
static uint16_t port;
static char url[64], socket_path[128];
static bool is_good; /* the newest request had the expected fields */

static bool is_expected(struct http_exchange *x)
{
	struct verified_identity got;
	const char *signature = http_head_get(&x->head, IDENTITY_HEADER);
	const char *id = http_head_get(&x->head, "X-Request-Id");
	const char *type = http_head_get(&x->head, "Content-Type");
	const struct identity_request request = {
		.method = x->head.method,
		.method_length = x->head.method_length,
		.target = x->head.target,
		.target_length = x->head.target_length,
		.id = id,
	};
	return signature && id && strcmp(id, "test") == 0 &&
	       http_head_get(&x->head, "traceparent") &&
	       (!x->head.has_content || (type && strcmp(type, "application/json") == 0)) &&
	       identity_verify(verifier, x->arena, signature, &request, time_now_ms(), &got) ==
	               ERR_NONE &&
	       got.identity.kind == KEY_SERVICE && got.identity.scopes == SCOPE_ALL;
}

static void respond(struct http_exchange *x, int status, const char *body)
{
	http_respond_start(x, status, NULL, 0, (int64_t)strlen(body));
	http_respond_content(x, body, strlen(body));
	http_respond_end(x);
}

static void on_head(struct http_exchange *x)
{
	is_good = is_expected(x);
}

static void on_end(struct http_exchange *x)
{
	struct replica *replica = http_server_context(x->server);
	replica->requests++;
	switch (replica->behaviour) {
	case ANSWERS:
		respond(x, 200, "{}");
		break;
	case IS_FROZEN:
		break;
	case BREAKS:
		http_respond_abort(x);
		break;
	case IS_BUSY:
		respond(x, 503, "{\"error\": \"unavailable\"}");
		break;
	case IS_UNCERTAIN:
		respond(x, 503, "{\"error\": \"outcome_uncertain\"}");
		break;
	case IS_ENDING:
		respond(x, 408, "");
		break;
	case IS_ANOTHER:
		respond(x, 421, "{}");
		break;
	}
}

static void on_done(struct http_exchange *x)
{
	(void)x;
}

static const struct http_handler HANDLER = {.on_head = on_head,
                                            .on_end = on_end,
                                            .on_done = on_done};

static void listen_at(struct replica *replica, const struct address *at)
{
	replica->server =
		http_server_new(&fixture.worker.loop, &HANDLER, &http_limits_default, replica);
	assert_int_equal(http_server_listen(replica->server, at, NULL), ERR_NONE);
}

/* Replica `i` listens at 127.0.0.(i + 2), all at the same port. */
static void replica_start(size_t i, enum behaviour behaviour)
{
	char host[16];
	snprintf(host, sizeof(host), "127.0.0.%zu", i + 2);
	const struct address at = {.host = host, .port = port};
	replicas[i].behaviour = behaviour;
	listen_at(&replicas[i], &at);
	port = http_server_port(replicas[i].server);
}

/* The service is at `address`; NULL: at `svc.test`, which has these addresses. */
static void connect_to(const char *address, const char *addresses)
{
	snprintf(url, sizeof(url), "http://svc.test:%u", (unsigned)port);
	if (addresses)
		fake_names_set(&names, "svc.test", addresses);
	fixture.settings.service_url[API_SEARCH] = address ? address : url;
	fixture.worker.services = service_client_new(&fixture.worker.loop, fixture.worker.peers);
}

static int setup(void **state)
{
	(void)state;
	(void)log_init("test", "error");
	memset(replicas, 0, sizeof(replicas));
	port = 0;
	fixture_start(&fixture);
	fake_names_start(&names);
	snprintf(socket_path, sizeof(socket_path), "%s/socket", names.folder);
	fixture.process.peers.signers[API_SEARCH] =
		identity_signer_new(SECRET.sender, "svc-search", SECRET.secret);
	verifier = identity_verifier_new("svc-search", &SECRET, 1);
	fixture.worker.fetch = fetcher_new(&fixture.worker.loop);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	service_client_free(fixture.worker.services);
	fetcher_free(fixture.worker.fetch);
	for (size_t i = 0; i < REPLICAS; i++)
		http_server_free(replicas[i].server);
	fixture_stop(&fixture);
	identity_signer_free(fixture.process.peers.signers[API_SEARCH]);
	identity_verifier_free(verifier);
	unlink(socket_path);
	fake_names_stop(&names);
	return 0;
}

struct probe {
	struct service_call call;
	enum err_code code;
	int status;
};

static void probe_run(struct request *rq)
{
	struct probe *probe = rq->user;
	struct fetch_response *answer = NULL;
	rq->caller.account = uuid_new();
	rq->traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
	probe->code = service_call(rq, &probe->call, &answer);
	probe->status = answer ? answer->status : 0;
}

static enum err_code call(const char *method, enum http_effect effect)
{
	struct probe probe = {
		.call =
			{
				.service = API_SEARCH,
				.method = method,
				.path = "/internal/x",
				.json_body = method ? "{}" : NULL,
				.timeout_ms = TIMEOUT_MS,
				.effect = effect,
			},
	};
	fixture_run(&fixture, probe_run, &probe);
	assert_true(probe.code != ERR_NONE || probe.status == 200);
	return probe.code;
}

static size_t requests(void)
{
	size_t sum = 0;
	for (size_t i = 0; i < REPLICAS; i++)
		sum += replicas[i].requests;
	return sum;
}

static void test_a_call_carries_an_identity(void **state)
{
	(void)state;
	replica_start(0, ANSWERS);
	connect_to(NULL, "127.0.0.2");
	assert_int_equal(call(NULL, HTTP_EFFECT_OF_METHOD), ERR_NONE);
	assert_true(is_good);
	assert_int_equal(call("POST", HTTP_EFFECT_OF_METHOD), ERR_NONE);
	assert_true(is_good);
}

static void test_a_unix_socket_is_called(void **state)
{
	(void)state;
	char address[160];
	const struct address at = {.host = socket_path, .is_unix = true};
	listen_at(&replicas[0], &at);
	snprintf(address, sizeof(address), "unix:%s", socket_path);
	connect_to(address, NULL);
	assert_int_equal(call(NULL, HTTP_EFFECT_OF_METHOD), ERR_NONE);
	assert_int_equal(call("POST", HTTP_EFFECT_OF_METHOD), ERR_NONE);
	assert_true(is_good);
}

static void test_a_service_without_an_address_is_unavailable(void **state)
{
	(void)state;
	connect_to("", NULL);
	assert_int_equal(call(NULL, HTTP_EFFECT_OF_METHOD), ERR_UNAVAILABLE);
}

static void test_an_unknown_name_is_unavailable(void **state)
{
	(void)state;
	connect_to(NULL, "");
	assert_int_equal(call(NULL, HTTP_EFFECT_OF_METHOD), ERR_UNAVAILABLE);
}

/* The frozen replica costs one call a part of its time, and is then left out. */
static void test_a_frozen_replica_is_replaced_by_another(void **state)
{
	(void)state;
	replica_start(0, IS_FROZEN);
	replica_start(1, ANSWERS);
	connect_to(NULL, "127.0.0.2 127.0.0.3");
	for (int i = 0; i < 6; i++)
		assert_int_equal(call("POST", HTTP_SAFE), ERR_NONE);
	assert_int_equal(replicas[0].requests, 1);
	assert_int_equal(replicas[1].requests, 6);
}

static void test_a_change_is_sent_once(void **state)
{
	static const struct {
		enum behaviour behaviour;
		enum err_code code;
	} CASES[] = {
		{IS_FROZEN, ERR_TIMEOUT},
		{BREAKS, ERR_UNCERTAIN},
		{IS_BUSY, ERR_UNAVAILABLE},
		{IS_UNCERTAIN, ERR_UNCERTAIN},
	};
	static const struct {
		const char *method;
		enum http_effect effect;
	} CHANGES[] = {
		{"POST", HTTP_EFFECT_OF_METHOD},
		{"PUT", HTTP_EFFECT_OF_METHOD},
		{"POST", HTTP_ONCE},
		{NULL, HTTP_ONCE},
	};
	size_t sent = 0;
	(void)state;
	replica_start(0, ANSWERS);
	replica_start(1, ANSWERS);
	connect_to(NULL, "127.0.0.2 127.0.0.3");
	for (size_t i = 0; i < ARRAY_LEN(CASES) * ARRAY_LEN(CHANGES); i++) {
		size_t a = i % ARRAY_LEN(CASES), b = i / ARRAY_LEN(CASES);
		replicas[0].behaviour = replicas[1].behaviour = CASES[a].behaviour;
		assert_int_equal(call(CHANGES[b].method, CHANGES[b].effect), CASES[a].code);
		assert_int_equal(requests(), ++sent);
	}
}

/* It may be the request that ends the service. */
static void test_a_read_is_sent_at_most_twice(void **state)
{
	static const enum behaviour BEHAVIOURS[] = {BREAKS, IS_BUSY, IS_UNCERTAIN};
	(void)state;
	for (size_t i = 0; i < REPLICAS; i++)
		replica_start(i, ANSWERS);
	connect_to(NULL, "127.0.0.2 127.0.0.3 127.0.0.4");
	for (size_t i = 0; i < ARRAY_LEN(BEHAVIOURS); i++) {
		for (size_t j = 0; j < REPLICAS; j++)
			replicas[j].behaviour = BEHAVIOURS[i];
		assert_int_equal(call("POST", HTTP_SAFE), ERR_UNAVAILABLE);
		assert_int_equal(requests(), 2 * (i + 1));
	}
}

/* Whether it was done stays unknown where the last answer was lost, or said so. */
static void test_an_idempotent_change_is_sent_twice_and_may_be_uncertain(void **state)
{
	static const struct {
		enum behaviour behaviour;
		enum err_code code;
	} CASES[] = {
		{BREAKS, ERR_UNCERTAIN},
		{IS_BUSY, ERR_UNAVAILABLE},
		{IS_UNCERTAIN, ERR_UNCERTAIN},
	};
	(void)state;
	replica_start(0, ANSWERS);
	replica_start(1, ANSWERS);
	connect_to(NULL, "127.0.0.2 127.0.0.3");
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		replicas[0].behaviour = replicas[1].behaviour = CASES[i].behaviour;
		assert_int_equal(call("POST", HTTP_IDEMPOTENT), CASES[i].code);
		assert_int_equal(requests(), 2 * (i + 1));
	}
	replicas[0].behaviour = BREAKS;
	replicas[1].behaviour = ANSWERS;
	for (int i = 0; i < 4; i++)
		assert_int_equal(call("POST", HTTP_IDEMPOTENT), ERR_NONE);
}

/* The first replica may have done it before it closed the connection; that the next one is busy
 * does not say that nothing was done. */
static void test_a_busy_replica_does_not_hide_that_a_change_may_be_done(void **state)
{
	(void)state;
	replica_start(0, BREAKS);
	replica_start(1, IS_BUSY);
	connect_to(NULL, "127.0.0.2 127.0.0.3");
	assert_int_equal(call("POST", HTTP_IDEMPOTENT), ERR_UNCERTAIN);
	assert_int_equal(requests(), 2);
}

/* Behind one address there may be several replicas. */
static void test_a_busy_address_is_asked_twice(void **state)
{
	(void)state;
	replica_start(0, IS_BUSY);
	connect_to(NULL, "127.0.0.2");
	assert_int_equal(call(NULL, HTTP_EFFECT_OF_METHOD), ERR_UNAVAILABLE);
	assert_int_equal(replicas[0].requests, 2);
}

static void test_a_refused_call_goes_to_another_replica(void **state)
{
	(void)state;
	replica_start(1, ANSWERS);
	connect_to(NULL, "127.0.0.2 127.0.0.3 127.0.0.4");
	for (int i = 0; i < 6; i++)
		assert_int_equal(call("POST", HTTP_EFFECT_OF_METHOD), ERR_NONE);
	assert_int_equal(replicas[1].requests, 6);
}

/* One replica does not handle its calls, then both. */
static void assert_sent_elsewhere(enum behaviour unhandled)
{
	replica_start(0, unhandled);
	replica_start(1, ANSWERS);
	connect_to(NULL, "127.0.0.2 127.0.0.3");
	for (int i = 0; i < 4; i++)
		assert_int_equal(call("POST", HTTP_EFFECT_OF_METHOD), ERR_NONE);
	assert_int_equal(replicas[1].requests, 4);
	replicas[1].behaviour = unhandled;
	assert_int_equal(call("POST", HTTP_EFFECT_OF_METHOD), ERR_UNAVAILABLE);
}

static void test_a_call_that_crosses_the_end_of_a_connection_goes_to_another_replica(void **state)
{
	(void)state;
	assert_sent_elsewhere(IS_ENDING);
}

static void test_a_call_to_another_process_goes_to_another_replica(void **state)
{
	(void)state;
	assert_sent_elsewhere(IS_ANOTHER);
}

static void test_replicas_share_the_calls(void **state)
{
	(void)state;
	for (size_t i = 0; i < REPLICAS; i++)
		replica_start(i, ANSWERS);
	connect_to(NULL, "127.0.0.2 127.0.0.3 127.0.0.4");
	for (int i = 0; i < 4 * REPLICAS; i++)
		assert_int_equal(call("POST", HTTP_EFFECT_OF_METHOD), ERR_NONE);
	for (size_t i = 0; i < REPLICAS; i++)
		assert_int_equal(replicas[i].requests, 4);
}

static void test_a_change_leaves_no_connection(void **state)
{
	(void)state;
	replica_start(0, ANSWERS);
	connect_to(NULL, "127.0.0.2");
	for (int i = 0; i < 10; i++)
		assert_int_equal(call("POST", HTTP_EFFECT_OF_METHOD), ERR_NONE);
	fixture_wait_start(&fixture);
	while (http_server_connections(replicas[0].server) > 0)
		fixture_turn(&fixture);
	uv_timer_stop(&fixture.tick);
	for (int i = 0; i < 10; i++)
		assert_int_equal(call("POST", HTTP_SAFE), ERR_NONE);
	assert_int_equal(http_server_connections(replicas[0].server), 1);
}

int main(void)
{
	/* The tests must not use a proxy of the environment. */
	setenv("no_proxy", "*", 1);
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_a_call_carries_an_identity),
		CASE(test_a_unix_socket_is_called),
		CASE(test_a_service_without_an_address_is_unavailable),
		CASE(test_an_unknown_name_is_unavailable),
		CASE(test_a_frozen_replica_is_replaced_by_another),
		CASE(test_a_change_is_sent_once),
		CASE(test_a_read_is_sent_at_most_twice),
		CASE(test_an_idempotent_change_is_sent_twice_and_may_be_uncertain),
		CASE(test_a_busy_replica_does_not_hide_that_a_change_may_be_done),
		CASE(test_a_busy_address_is_asked_twice),
		CASE(test_a_refused_call_goes_to_another_replica),
		CASE(test_a_call_that_crosses_the_end_of_a_connection_goes_to_another_replica),
		CASE(test_a_call_to_another_process_goes_to_another_replica),
		CASE(test_replicas_share_the_calls),
		CASE(test_a_change_leaves_no_connection),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
