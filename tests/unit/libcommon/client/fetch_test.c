#include "client/fetch.h"

#include "client/guard.h"
#include "scratch.h"
#include "worker_fixture.h"

#include <dlfcn.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Responses of the test server: each path has a fixed one, after which the connection stays open or
 * is closed. */
static const struct canned {
	const char *path, *answer;
	bool is_closed;
} CANNED[] = {
	{"/ok",
         "HTTP/1.1 200 OK\r\nX-One: 1\r\nx-two:  two \r\nX-None:\r\nContent-Length: 5\r\n\r\nhello",
         false},
	{"/none", "HTTP/1.1 204 No Content\r\n\r\n", false},
	{"/busy", "HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\n{}", false},
	{"/hints",
         "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: "
         "1\r\n\r\nx",
         false},
	{"/moved", "HTTP/1.1 302 Found\r\nLocation: /ok\r\nContent-Length: 4\r\n\r\ngone", false},
	{"/ring", "HTTP/1.1 302 Found\r\nLocation: /ring\r\nContent-Length: 0\r\n\r\n", false},
	{"/file", "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n",
         false},
	{"/away",
         "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", false},
	{"/chunks",
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n",
         false},
	{"/cut", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", true},
	{"/closed", "", true},
	{"/garbage", "these are not the fields you are looking for\r\n\r\n", true},
	{"/silent", "", false},
	{"/slow", "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n", true},
};

static struct worker_fixture fixture;

static struct {
	uv_tcp_t tcp;
	uv_pipe_t pipe;
	char folder[SCRATCH_PATH_MAX], socket_path[96], url[64];
	uint16_t port;
	int accepted, requests;
	char last[4096]; /* the newest request, head and body */
	struct client *newest;
} server;

struct client {
	union {
		uv_tcp_t tcp;
		uv_pipe_t pipe;
	};
	char text[4096];
	size_t length;
};

static void client_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static void client_close(struct client *client)
{
	if (!uv_is_closing((uv_handle_t *)&client->tcp))
		uv_close((uv_handle_t *)&client->tcp, client_closed);
}

static void answer_with(struct client *client, const char *text, size_t length, bool is_closed)
{
	uv_buf_t buf = uv_buf_init((char *)(uintptr_t)text, (unsigned)length);
	if (length > 0)
		assert_int_equal(uv_try_write((uv_stream_t *)&client->tcp, &buf, 1), length);
	if (is_closed)
		client_close(client);
}

static void answer(struct client *client)
{
	char path[64], echo[4200];
	const char *target = strchr(client->text, ' ') + 1;
	snprintf(path, sizeof(path), "%.*s", (int)strcspn(target, " "), target);
	server.requests++;
	memcpy(server.last, client->text, sizeof(server.last));
	for (size_t i = 0; i < ARRAY_LEN(CANNED); i++) {
		if (strcmp(CANNED[i].path, path) == 0) {
			answer_with(client, CANNED[i].answer, strlen(CANNED[i].answer),
			            CANNED[i].is_closed);
			return;
		}
	}
	int length =
		snprintf(echo, sizeof(echo), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s",
	                 strlen(client->text), client->text);
	answer_with(client, echo, (size_t)length, false);
}

/* Length of the complete request at the start of the text; 0: it is not complete. */
static size_t request_bytes(const struct client *client)
{
	const char *end = strstr(client->text, "\r\n\r\n");
	if (!end)
		return 0;
	size_t head = (size_t)(end - client->text) + 4;
	const char *field = strstr(client->text, "Content-Length: ");
	size_t body = field && field < end ? strtoul(field + 16, NULL, 10) : 0;
	return client->length >= head + body ? head + body : 0;
}

static void on_read(uv_stream_t *stream, ssize_t bytes, const uv_buf_t *buf)
{
	struct client *client = stream->data;
	(void)buf;
	if (bytes < 0) {
		client_close(client);
		return;
	}
	client->length += (size_t)bytes;
	client->text[client->length] = '\0';
	if (client->text[0] == 0x16) { /* a TLS handshake record */
		answer_with(client, "what?", 5, true);
	} else if (request_bytes(client) > 0) {
		answer(client);
		client->length = 0;
		client->text[0] = '\0';
	}
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	struct client *client = handle->data;
	(void)suggested;
	*buf = uv_buf_init(client->text + client->length,
	                   (unsigned)(sizeof(client->text) - client->length - 1));
}

static void on_connection(uv_stream_t *listener, int status)
{
	struct client *client = calloc(1, sizeof(*client));
	assert_int_equal(status, 0);
	if (listener == (uv_stream_t *)&server.pipe)
		uv_pipe_init(listener->loop, &client->pipe, 0);
	else
		uv_tcp_init(listener->loop, &client->tcp);
	client->tcp.data = client;
	assert_int_equal(uv_accept(listener, (uv_stream_t *)&client->tcp), 0);
	assert_int_equal(uv_read_start((uv_stream_t *)&client->tcp, on_alloc, on_read), 0);
	server.accepted++;
	server.newest = client;
}

static void server_start(uv_loop_t *loop)
{
	struct sockaddr_in address;
	int length = sizeof(address);
	memset(&server, 0, sizeof(server));
	uv_ip4_addr("127.0.0.1", 0, &address);
	uv_tcp_init(loop, &server.tcp);
	assert_int_equal(uv_tcp_bind(&server.tcp, (struct sockaddr *)&address, 0), 0);
	assert_int_equal(uv_listen((uv_stream_t *)&server.tcp, 512, on_connection), 0);
	uv_tcp_getsockname(&server.tcp, (struct sockaddr *)&address, &length);
	server.port = ntohs(address.sin_port);
	snprintf(server.url, sizeof(server.url), "http://127.0.0.1:%u", server.port);
	scratch_new(server.folder, "expops-fetch");
	snprintf(server.socket_path, sizeof(server.socket_path), "%s/socket", server.folder);
	uv_pipe_init(loop, &server.pipe, 0);
	assert_int_equal(uv_pipe_bind(&server.pipe, server.socket_path), 0);
	assert_int_equal(uv_listen((uv_stream_t *)&server.pipe, 512, on_connection), 0);
}

static int setup(void **state)
{
	(void)state;
	fixture_start(&fixture);
	fixture.worker.fetch = fetcher_new(&fixture.worker.loop);
	server_start(&fixture.worker.loop);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fetcher_free(fixture.worker.fetch);
	uv_close((uv_handle_t *)&server.tcp, NULL);
	uv_close((uv_handle_t *)&server.pipe, NULL);
	fixture_stop(&fixture);
	unlink(server.socket_path);
	rmdir(server.folder);
	return 0;
}

/* A call and its outcome, copied because the request's arena is freed. */
struct probe {
	struct fetch_call call;
	const char *url; /* NULL: `path` on the test server */
	const char *path;
	enum err_code code;
	int status;
	char body[8192];
	char one[16], two[16];
	bool has_none, has_link;
	size_t field_count;
};

static void probe_run(struct request *rq)
{
	struct probe *probe = rq->user;
	struct fetch_response *answer = NULL;
	probe->call.url =
		probe->url ? probe->url : arena_printf(rq->arena, "%s%s", server.url, probe->path);
	probe->code = fetch_try(rq, &probe->call, &answer);
	if (probe->code != ERR_NONE)
		return;
	const char *one = fetch_field(answer, "x-one"), *two = fetch_field(answer, "X-TWO");
	probe->status = answer->status;
	probe->field_count = answer->field_count;
	probe->has_none = fetch_field(answer, "X-None");
	probe->has_link = fetch_field(answer, "Link");
	snprintf(probe->body, sizeof(probe->body), "%s", answer->body);
	snprintf(probe->one, sizeof(probe->one), "%s", one ? one : "");
	snprintf(probe->two, sizeof(probe->two), "%s", two ? two : "");
}

static struct probe probe_of(const char *method, const char *path)
{
	struct probe probe = {.path = path};
	probe.call.method = method;
	fixture_run(&fixture, probe_run, &probe);
	return probe;
}

static void test_fields_and_body_are_read(void **state)
{
	(void)state;
	struct probe probe = probe_of(NULL, "/ok");
	assert_int_equal(probe.code, ERR_NONE);
	assert_int_equal(probe.status, 200);
	assert_string_equal(probe.body, "hello");
	assert_string_equal(probe.one, "1");
	assert_string_equal(probe.two, "two");
	assert_true(probe.has_none);
	assert_int_equal(probe.field_count, 4);
	probe = probe_of("HEAD", "/ok");
	assert_int_equal(probe.code, ERR_NONE);
	assert_string_equal(probe.body, "");
	probe = probe_of("DELETE", "/none");
	assert_int_equal(probe.status, 204);
	assert_string_equal(probe.body, "");
	assert_memory_equal(server.last, "DELETE /none HTTP/1.1\r\n", 23);
	probe = probe_of("GET", "/chunks");
	assert_string_equal(probe.body, "abcdefg");
	probe = probe_of("GET", "/busy");
	assert_int_equal(probe.status, 503);
	probe = probe_of("GET", "/hints");
	assert_int_equal(probe.status, 200);
	assert_false(probe.has_link);
}

static void test_the_request_is_sent(void **state)
{
	(void)state;
	const struct http_field fields[] = {
		http_field_of("Content-Type", "application/json"),
		http_field_of("X-Empty", ""),
	};
	struct probe probe = {
		.path = "/echo?a=b%20c",
		.call = {.method = "PATCH",
	                 .fields = fields,
	                 .field_count = 2,
	                 .body = "{\"a\":1}",
	                 .body_length = 7},
	};
	fixture_run(&fixture, probe_run, &probe);
	assert_int_equal(probe.status, 200);
	assert_non_null(strstr(probe.body, "PATCH /echo?a=b%20c HTTP/1.1\r\n"));
	assert_non_null(strstr(probe.body, "Content-Type: application/json\r\n"));
	assert_non_null(strstr(probe.body, "X-Empty:\r\n"));
	assert_non_null(strstr(probe.body, "User-Agent: expops/"));
	assert_null(strstr(probe.body, "Expect"));
	assert_non_null(strstr(probe.body, "\r\n\r\n{\"a\":1}"));
	probe = probe_of("POST", "/echo");
	assert_non_null(strstr(probe.body, "Content-Length: 0\r\n"));
}

/* A token of another server, or a key of a user, must not become two fields. */
static void test_control_characters_in_fields_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *value;
		enum err_code code;
	} CASES[] = {
		{"a\tb \xc3\xa4", ERR_NONE},
		{"a\r\nX-Evil: 1", ERR_UPSTREAM},
		{"a\nX-Evil: 1", ERR_UPSTREAM},
		{"a\r", ERR_UPSTREAM},
		{"a\x01"
	         "b",
	         ERR_UPSTREAM},
		{"a\x7f", ERR_UPSTREAM},
	};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		const struct http_field field = http_field_of("X-One", CASES[i].value);
		struct probe probe = {.path = "/echo",
		                      .call = {.fields = &field, .field_count = 1}};
		int before = server.requests;
		fixture_run(&fixture, probe_run, &probe);
		assert_int_equal(probe.code, CASES[i].code);
		assert_int_equal(server.requests - before, CASES[i].code == ERR_NONE);
	}
}

static void test_redirects(void **state)
{
	(void)state;
	struct probe probe = probe_of("GET", "/moved");
	assert_int_equal(probe.status, 302);
	probe = (struct probe){.path = "/moved", .call = {.follow_redirects = true}};
	fixture_run(&fixture, probe_run, &probe);
	assert_int_equal(probe.status, 200);
	assert_string_equal(probe.body, "hello");
	server.requests = 0;
	probe = (struct probe){.path = "/ring", .call = {.follow_redirects = true}};
	fixture_run(&fixture, probe_run, &probe);
	assert_int_equal(probe.code, ERR_UPSTREAM);
	assert_int_equal(server.requests, 6);
	probe = (struct probe){.path = "/file", .call = {.follow_redirects = true}};
	fixture_run(&fixture, probe_run, &probe);
	assert_int_equal(probe.code, ERR_UPSTREAM);
}

/* The test server is on a loopback address. */
static void test_private_addresses_are_refused(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	const struct ip_networks *loopback;
	struct probe probe = {.path = "/ok", .call = {.guard = FETCH_GUARD_ALL}};
	fixture_run(&fixture, probe_run, &probe);
	assert_int_equal(probe.code, ERR_FORBIDDEN);
	assert_int_equal(server.accepted, 0);
	/* A name, which only the resolver knows to be private. */
	probe.url = arena_printf(arena, "http://localhost:%u/ok", server.port);
	fixture_run(&fixture, probe_run, &probe);
	assert_int_equal(probe.code, ERR_FORBIDDEN);
	probe.url = arena_printf(arena, "http://[::ffff:127.0.0.1]:%u/ok", server.port);
	fixture_run(&fixture, probe_run, &probe);
	assert_int_equal(probe.code, ERR_FORBIDDEN);
	assert_int_equal(server.accepted, 0);
	assert_int_equal(ip_networks_parse(arena, "127.0.0.0/8", NULL, NULL, &loopback), ERR_NONE);
	fetch_guard_allow(loopback);
	probe = (struct probe){.path = "/ok", .call = {.guard = FETCH_GUARD_ALL}};
	fixture_run(&fixture, probe_run, &probe);
	assert_int_equal(probe.status, 200);
	fetch_guard_allow(NULL);
	arena_free(arena);
}

static const char *address_of_changing; /* of the name changing.test */

/* In place of the resolver's, for libcurl too. */
int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **ret_found)
{
	int (*resolve)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
	*(void **)&resolve = dlsym(RTLD_NEXT, "getaddrinfo");
	if (name && strcmp(name, "changing.test") == 0)
		name = address_of_changing;
	return resolve(name, service, hints, ret_found);
}

/* A name that resolves to another address the second time: each address is asked for itself. */
static void test_a_name_that_changes_its_address_is_guarded(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	const struct ip_networks *listed;
	assert_int_equal(ip_networks_parse(arena, "127.0.0.1/32", NULL, NULL, &listed), ERR_NONE);
	fetch_guard_allow(listed);
	struct probe probe = {
		.url = arena_printf(arena, "http://changing.test:%u/ok", server.port),
		.call = {.guard = FETCH_GUARD_ALL},
	};
	address_of_changing = "127.0.0.1";
	fixture_run(&fixture, probe_run, &probe);
	assert_int_equal(probe.status, 200);
	address_of_changing = "127.0.0.2";
	fetcher_free(fixture.worker.fetch); /* with what it remembers of names */
	fixture.worker.fetch = fetcher_new(&fixture.worker.loop);
	fixture_run(&fixture, probe_run, &probe);
	assert_int_equal(probe.code, ERR_FORBIDDEN);
	assert_int_equal(server.requests, 1);
	fetch_guard_allow(NULL);
	arena_free(arena);
}

/* A connection that an unguarded call has left open does not serve a guarded one. */
static void test_kept_connections_are_guarded(void **state)
{
	(void)state;
	assert_int_equal(probe_of("GET", "/ok").status, 200);
	struct probe probe = {.path = "/ok", .call = {.guard = FETCH_GUARD_ALL}};
	fixture_run(&fixture, probe_run, &probe);
	assert_int_equal(probe.code, ERR_FORBIDDEN);
	assert_int_equal(server.requests, 1);
}

static void test_redirects_are_guarded(void **state)
{
	(void)state;
	struct probe probe = {.path = "/away",
	                      .call = {.follow_redirects = true, .guard = FETCH_GUARD_REDIRECTS}};
	fixture_run(&fixture, probe_run, &probe);
	assert_int_equal(probe.code, ERR_FORBIDDEN);
	assert_int_equal(server.requests, 1);
	probe.path = "/moved"; /* on the same server */
	fixture_run(&fixture, probe_run, &probe);
	assert_int_equal(probe.status, 200);
}

static void test_failures_have_their_codes(void **state)
{
	(void)state;
	static const struct {
		const char *method, *path;
		enum err_code code;
	} CASES[] = {
		{"GET", "/cut", ERR_UNAVAILABLE},    {"POST", "/cut", ERR_UNCERTAIN},
		{"GET", "/closed", ERR_UNAVAILABLE}, {"POST", "/closed", ERR_UNCERTAIN},
		{"PUT", "/closed", ERR_UNCERTAIN},   {"DELETE", "/closed", ERR_UNCERTAIN},
		{"GET", "/garbage", ERR_UPSTREAM},   {"POST", "/garbage", ERR_UPSTREAM},
	};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		struct probe probe = probe_of(CASES[i].method, CASES[i].path);
		if (probe.code != CASES[i].code)
			fail_msg("%s %s: %d", CASES[i].method, CASES[i].path, probe.code);
	}
	static const struct {
		const char *url;
		enum err_code code;
	} URLS[] = {
		{"http://127.0.0.1:1/", ERR_UNAVAILABLE},
		{"http://host.invalid/", ERR_UNAVAILABLE},
		{"ftp://127.0.0.1/", ERR_UPSTREAM},
		{"file:///etc/passwd", ERR_UPSTREAM},
		{"http://", ERR_UPSTREAM},
		{"", ERR_UPSTREAM},
	};
	for (size_t i = 0; i < ARRAY_LEN(URLS); i++) {
		struct probe probe = {.url = URLS[i].url, .call = {.method = "POST"}};
		fixture_run(&fixture, probe_run, &probe);
		if (probe.code != URLS[i].code)
			fail_msg("%s: %d", URLS[i].url, probe.code);
	}
}

static void test_a_server_without_tls_is_refused(void **state)
{
	(void)state;
	char url[80];
	snprintf(url, sizeof(url), "https://127.0.0.1:%u/", server.port);
	struct probe probe = {.url = url};
	fixture_run(&fixture, probe_run, &probe);
	assert_int_equal(probe.code, ERR_UPSTREAM);
}

static void test_the_size_of_answers_is_limited(void **state)
{
	(void)state;
	static const char *const PATHS[] = {"/ok", "/chunks"};
	for (size_t i = 0; i < ARRAY_LEN(PATHS); i++) {
		struct probe probe = {.path = PATHS[i], .call = {.response_max_bytes = 4}};
		fixture_run(&fixture, probe_run, &probe);
		assert_int_equal(probe.code, ERR_UPSTREAM);
		probe = (struct probe){.path = PATHS[i], .call = {.response_max_bytes = 7}};
		fixture_run(&fixture, probe_run, &probe);
		assert_int_equal(probe.code, ERR_NONE);
	}
}

static void test_a_silent_server_times_out(void **state)
{
	(void)state;
	struct probe probe = {.path = "/silent", .call = {.timeout_ms = 20}};
	fixture_run(&fixture, probe_run, &probe);
	assert_int_equal(probe.code, ERR_TIMEOUT);
}

static bool has_request;

static void note_request(uv_check_t *check)
{
	(void)check;
	has_request = server.requests > 0;
}

static void test_a_call_can_be_cancelled(void **state)
{
	(void)state;
	uv_check_t check;
	struct probe probe = {.path = "/silent"};
	has_request = false;
	uv_check_init(&fixture.worker.loop, &check);
	uv_check_start(&check, note_request);
	struct request *rq = fixture_spawn(&fixture, probe_run, NULL, &probe);
	fixture_until(&fixture, &has_request);
	fiber_cancel(rq->fiber, ERR_CLIENT_GONE);
	fixture_idle(&fixture);
	assert_int_equal(probe.code, ERR_CLIENT_GONE);
	uv_close((uv_handle_t *)&check, NULL);
	assert_int_equal(probe_of("GET", "/ok").status, 200);
}

/* A request that may change something takes a new connection and leaves none, because libcurl could
 * silently repeat it on a kept one. */
static void test_connections_are_reused(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++)
		assert_int_equal(probe_of("GET", "/ok").status, 200);
	assert_int_equal(server.accepted, 1);
	assert_int_equal(probe_of("PUT", "/ok").status, 200);
	assert_int_equal(server.accepted, 2);
	assert_int_equal(probe_of("POST", "/ok").status, 200);
	assert_int_equal(server.accepted, 3);
	struct probe search = {.path = "/ok", .call = {.method = "POST", .effect = HTTP_SAFE}};
	fixture_run(&fixture, probe_run, &search);
	assert_int_equal(search.status, 200);
	assert_int_equal(server.accepted, 3);
	server.requests = 0;
	assert_int_equal(probe_of("POST", "/closed").code, ERR_UNCERTAIN);
	assert_int_equal(server.requests, 1);
	struct probe put = {.path = "/closed",
	                    .call = {.method = "POST", .effect = HTTP_IDEMPOTENT}};
	fixture_run(&fixture, probe_run, &put);
	assert_int_equal(put.code, ERR_UNCERTAIN);
}

/* A server that ends an idle connection may say so with a 408, which stays unread until the next
 * call. */
static void test_a_call_over_an_ended_connection_is_made_again(void **state)
{
	(void)state;
	static const char FAREWELL[] =
		"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
	assert_int_equal(probe_of("GET", "/ok").status, 200);
	answer_with(server.newest, FAREWELL, strlen(FAREWELL), false);
	assert_int_equal(probe_of("GET", "/ok").status, 200);
	assert_int_equal(server.accepted, 2);
	assert_int_equal(probe_of("GET", "/slow").status, 408);
	assert_int_equal(server.accepted, 3);
}

#define MANY 200

static void test_many_calls_at_once(void **state)
{
	(void)state;
	struct probe *probes = calloc(MANY, sizeof(*probes));
	for (int i = 0; i < MANY; i++) {
		probes[i].path = "/ok";
		request_spawn(&fixture.worker, "test", FIXTURE_TIMEOUT_MS, probe_run, NULL,
		              &probes[i]);
	}
	fixture_idle(&fixture);
	for (int i = 0; i < MANY; i++)
		assert_string_equal(probes[i].body, "hello");
	free(probes);
}

static void test_unix_sockets_are_called(void **state)
{
	(void)state;
	struct probe probe = {.url = "http://there/echo",
	                      .call = {.unix_path = server.socket_path}};
	fixture_run(&fixture, probe_run, &probe);
	assert_int_equal(probe.code, ERR_NONE);
	assert_non_null(strstr(probe.body, "GET /echo HTTP/1.1\r\nHost: there\r\n"));
}

static void test_retry_after_is_read(void **state)
{
	static const struct {
		const char *value;
		uint64_t ms;
	} CASES[] = {
		{"5", 5000},
		{"999999999", 3600000},
		{"Fri, 31 Dec 9999 23:59:59 GMT", 3600000},
		{"Thu, 01 Jan 1998 00:00:00 GMT", 0},
		{"-5", 0},
		{"soon", 0},
		{"", 0},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		struct http_field field = http_field_of("Retry-After", CASES[i].value);
		const struct fetch_response answer = {.fields = &field, .field_count = 1};
		if (fetch_retry_after_ms(&answer) != CASES[i].ms)
			fail_msg("%s", CASES[i].value);
	}
	assert_int_equal(fetch_retry_after_ms(&(struct fetch_response){0}), 0);
}

int main(void)
{
	/* The tests must not use a proxy of the environment. */
	setenv("no_proxy", "*", 1);
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_fields_and_body_are_read),
		CASE(test_the_request_is_sent),
		CASE(test_control_characters_in_fields_are_refused),
		CASE(test_redirects),
		CASE(test_private_addresses_are_refused),
		CASE(test_a_name_that_changes_its_address_is_guarded),
		CASE(test_kept_connections_are_guarded),
		CASE(test_redirects_are_guarded),
		CASE(test_failures_have_their_codes),
		CASE(test_a_server_without_tls_is_refused),
		CASE(test_the_size_of_answers_is_limited),
		CASE(test_a_silent_server_times_out),
		CASE(test_a_call_can_be_cancelled),
		CASE(test_connections_are_reused),
		CASE(test_a_call_over_an_ended_connection_is_made_again),
		CASE(test_many_calls_at_once),
		CASE(test_unix_sockets_are_called),
		CASE(test_retry_after_is_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
