/* The proxy with several replicas of a service, which a host name lists in changing ways. */
#include "base/base.h"
#include "fake_names.h"
#include "proxy_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPLICAS 20
#define REQUESTS 3600

struct replica {
	char host[16];
	struct http_server *server; /* NULL: it is down */
	size_t requests;
};

struct replicas {
	struct fixture *fixture;
	struct fake_names names;
	struct address address; /* of the service */
	struct upstream *service;
	struct replica replica[REPLICAS];
};

static struct replicas all;

static void on_head(struct http_exchange *x)
{
	struct replica *replica = http_server_context(x->server);
	replica->requests++;
	http_respond_start(x, 200, NULL, 0, 5);
	http_respond_content(x, "hello", 5);
	http_respond_end(x);
}

static void on_done(struct http_exchange *x)
{
	(void)x;
}

static const struct http_handler REPLICA_HANDLER = {.on_head = on_head, .on_done = on_done};

/* Replica `i` listens at 127.0.0.(i + 2); the port is that of the first one. */
static void replica_start(size_t i)
{
	struct replica *replica = &all.replica[i];
	snprintf(replica->host, sizeof(replica->host), "127.0.0.%zu", i + 2);
	const struct address at = {.host = replica->host, .port = all.address.port};
	replica->server = http_server_new(&all.fixture->loop, &REPLICA_HANDLER,
	                                  &http_limits_default, replica);
	assert_int_equal(http_server_listen(replica->server, &at, NULL), ERR_NONE);
	all.address.port = http_server_port(replica->server);
}

static void replica_stop(size_t i)
{
	http_server_free(all.replica[i].server);
	all.replica[i].server = NULL;
	fixture_settle(all.fixture);
}

/* The name lists `count` replicas, beginning with number `first`. */
static void list(size_t first, size_t count, size_t started)
{
	char addresses[REPLICAS * 16] = "";
	for (size_t i = 0; i < count; i++) {
		size_t used = strlen(addresses);
		snprintf(addresses + used, sizeof(addresses) - used, "%s ",
		         all.replica[(first + i) % started].host);
	}
	fake_names_set(&all.names, "svc.test", addresses);
}

static int setup(void **state)
{
	assert_int_equal(fixture_setup(state), 0);
	all = (struct replicas){.fixture = *state};
	fake_names_start(&all.names);
	all.address.host = "svc.test";
	fixture_upstream_limits.endpoints.lookup_ms = 0; /* a look-up whenever none is running */
	all.service = upstream_new(&all.fixture->loop, "replicas", &all.address,
	                           &fixture_upstream_limits);
	all.fixture->services[API_EXPERIMENTS] = all.service;
	return 0;
}

static int teardown(void **state)
{
	http_server_free(all.fixture->server);
	all.fixture->server = NULL;
	upstream_free(all.service);
	for (size_t i = 0; i < REPLICAS; i++)
		http_server_free(all.replica[i].server);
	fake_names_stop(&all.names);
	return fixture_teardown(state);
}

/* Send a request and wait for its response: 200. */
static void request(const char *text)
{
	struct http_client *client = all.fixture->client;
	client->length = 0;
	http_client_puts(client, text);
	http_client_wait_text(client, "\r\n\r\n", 1);
	if (http_client_status(client, 0) != 200)
		fail_msg("%s", client->received);
	http_client_wait_text(client, "hello", 1);
}

/* Kubernetes rotates the answers, and a large one can be cut. */
static void no_request_fails_while_look_ups_rotate_and_shrink(void **state)
{
	(void)state;
	for (size_t i = 0; i < REPLICAS; i++)
		replica_start(i);
	for (size_t i = 0; i < REQUESTS; i++) {
		list(i, 1 + i * 7 % REPLICAS, REPLICAS);
		request(GET_LIST);
	}
	for (size_t i = 0; i < REPLICAS; i++) /* all stay in use */
		assert_in_range(all.replica[i].requests, REQUESTS / REPLICAS / 2,
		                2 * REQUESTS / REPLICAS);
}

static void a_replica_that_is_down_fails_no_request(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++)
		replica_start(i);
	list(0, 3, 3);
	for (size_t i = 0; i < 30; i++)
		request(GET_LIST);
	replica_stop(1);
	for (size_t i = 0; i < 300; i++)
		request(i % 2 ? GET_LIST
		              : "DELETE " LIST
		                "/x HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer good\r\n\r\n");
}

static void a_replica_that_starts_again_gets_its_share(void **state)
{
	(void)state;
	fixture_upstream_limits.endpoints.backoff_ms = 1;
	fixture_upstream_limits.endpoints.backoff_max_ms = 1;
	for (size_t i = 0; i < 2; i++)
		replica_start(i);
	list(0, 2, 2);
	for (size_t i = 0; i < 100; i++)
		request(GET_LIST);
	replica_stop(1);
	for (size_t i = 0; i < 100; i++)
		request(GET_LIST);
	replica_start(1);
	while (all.replica[1].requests == 50) /* until a trial finds it */
		request(GET_LIST);
	size_t before = all.replica[0].requests;
	all.replica[1].requests = 0;
	for (size_t i = 0; i < 100; i++)
		request(GET_LIST);
	assert_int_equal(all.replica[0].requests - before, 50);
	assert_int_equal(all.replica[1].requests, 50);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_request_fails_while_look_ups_rotate_and_shrink),
		TEST(a_replica_that_is_down_fails_no_request),
		TEST(a_replica_that_starts_again_gets_its_share),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
