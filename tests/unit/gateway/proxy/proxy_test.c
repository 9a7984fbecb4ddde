#include "proxy/proxy.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "crypto/scope.h"
#include "proxy_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#define OK_HELLO "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"
#define KEY      "Host: gw\r\nAuthorization: Bearer good\r\n"
#define LARGE    (6 << 20)

static char large[LARGE];

static void requests_are_passed_on(void **state)
{
	struct fixture *f = *state;
	http_client_puts(f->client, GET_LIST);
	fixture_answer(f, 0, OK_HELLO);
	http_client_wait_text(f->client, "hello", 1);
	assert_int_equal(http_client_status(f->client, 0), 200);
	assert_int_equal(http_client_count(f->client, "Content-Type: text/plain\r\n"), 1);
	assert_int_equal(http_client_count(f->client, "X-Request-Id: "), 1);
	assert_int_equal(upstream_idle(f->service), 1);

	http_client_puts(f->client, GET_LIST);
	http_client_wait_text(f->fake->conns[0], "\r\n\r\n", 2);
	http_client_puts(f->fake->conns[0], OK_HELLO);
	http_client_wait_text(f->client, "hello", 2);
	assert_int_equal(f->fake->count, 1); /* the connection was reused */
}

/* The value of a field that the service received. NULL: none. */
static char *seen_field(struct fixture *f, const char *name)
{
	char *start = strstr(f->fake->conns[0]->received, arena_printf(f->arena, "\r\n%s: ", name));
	if (!start)
		return NULL;
	start += strlen(name) + 4;
	return arena_strndup(f->arena, start, strcspn(start, "\r"));
}

/* The identity that svc-experiments received, for this request. */
static struct identity seen_identity(struct fixture *f, const char *method, const char *target)
{
	const struct identity_secret secret = {"gateway", FIXTURE_SECRET};
	const struct identity_request request = {
		.method = method,
		.method_length = strlen(method),
		.target = target,
		.target_length = strlen(target),
		.id = seen_field(f, "X-Request-Id"),
	};
	struct verified_identity read;
	struct identity_verifier *verifier = identity_verifier_new("svc-experiments", &secret, 1);
	assert_int_equal(identity_verify(verifier, f->arena, seen_field(f, "X-Expops-Identity"),
	                                 &request, time_now_ms(), &read),
	                 ERR_NONE);
	identity_verifier_free(verifier);
	return read.identity;
}

static void request_fields_are_filtered_and_added(void **state)
{
	struct fixture *f = *state;
	http_client_puts(
		f->client,
		"GET " LIST "?a=%20b HTTP/1.1\r\n" KEY
		"Accept: x\r\naccept: y\r\nConnection: close, X-Secret\r\nX-Secret: 1\r\n"
		"Keep-Alive: 1\r\nTE: trailers\r\nTrailer: a\r\nUpgrade: h2c\r\n"
		"Proxy-Authorization: 1\r\nProxy-Connection: 1\r\nHTTP2-Settings: a\r\n"
		"x-expops-identity: forged\r\nX-Expops-Other: forged\r\n"
		"X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Host: evil\r\nForwarded: for=6\r\n"
		"X-Request-Id: my.id-1_2\r\ntraceparent: 00-a-b-01\r\nX-Real-IP: 6\r\n\r\n");
	fixture_answer(f, 0, OK_HELLO);
	const struct http_client *seen = f->fake->conns[0];
	assert_int_equal(http_client_count(seen, "GET " LIST "?a=%20b HTTP/1.1\r\nHost: gw\r\n"),
	                 1);
	static const char *const ABSENT[] = {
		"Connection",
		"X-Secret",
		"Keep-Alive",
		"TE:",
		"Trailer",
		"Upgrade",
		"Proxy-",
		"HTTP2",
		"forged",
		"6.6.6.6",
		"evil",
		"for=6",
		"Real-IP",
		"Authorization",
		"good",
		"Content-Length",
		"Transfer-Encoding",
	};
	for (size_t i = 0; i < ARRAY_LEN(ABSENT); i++)
		if (http_client_count(seen, ABSENT[i]) != 0)
			fail_msg("%s was passed on: %s", ABSENT[i], seen->received);
	assert_string_equal(seen_field(f, "Accept"), "x");
	assert_string_equal(seen_field(f, "accept"), "y");
	assert_string_equal(seen_field(f, "X-Request-Id"), "my.id-1_2");
	assert_string_equal(seen_field(f, "traceparent"), "00-a-b-01");
	assert_string_equal(seen_field(f, "X-Forwarded-For"), "127.0.0.1");
	assert_string_equal(seen_field(f, "X-Forwarded-Host"), "gw");
	struct identity identity = seen_identity(f, "GET", LIST "?a=%20b");
	assert_true(uuid_equal(&identity.account, &f->caller.account));
	assert_string_equal(identity.repo, "o/r");
	http_client_wait_end(f->client);
	assert_int_equal(http_client_count(f->client, "X-Request-Id: my.id-1_2\r\n"), 1);
}

static void answer_fields_are_filtered(void **state)
{
	struct fixture *f = *state;
	http_client_puts(f->client, GET_LIST);
	fixture_answer(
		f, 0,
		"HTTP/1.1 201 Created\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nServer: s\r\n"
		"Date: then\r\nX-Request-Id: other\r\nX-Expops-Debug: 1\r\nETag: \"e\"\r\n"
		"Keep-Alive: 1\r\nContent-Length: 2\r\nX-Total-Count: 7\r\n\r\nhi");
	http_client_wait_text(f->client, "hi", 1);
	assert_int_equal(http_client_status(f->client, 0), 201);
	static const char *const ABSENT[] = {"X-Hop",    "Server",     "then",      "other",
	                                     "X-Expops", "Keep-Alive", "Connection"};
	for (size_t i = 0; i < ARRAY_LEN(ABSENT); i++)
		assert_int_equal(http_client_count(f->client, ABSENT[i]), 0);
	assert_int_equal(http_client_count(f->client, "ETag: \"e\"\r\n"), 1);
	assert_int_equal(http_client_count(f->client, "X-Total-Count: 7\r\n"), 1);
	assert_int_equal(http_client_count(f->client, "Content-Length: 2\r\n"), 1);
	assert_int_equal(upstream_connections(f->service), 0);
}

static void invalid_request_ids_are_replaced(void **state)
{
	static const char *const BAD[] = {"", "a b", "a\"b", "\xc3\xa9", "<x>"};
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		http_client_puts(
			f->client,
			arena_printf(f->arena,
		                     "GET /none HTTP/1.1\r\nHost: gw\r\nX-Request-Id: %s\r\n\r\n",
		                     BAD[i]));
		http_client_wait_text(f->client, "X-Request-Id: 0", i + 1);
	}
	char long_id[200] = {0};
	memset(long_id, 'a', 129);
	http_client_puts(f->client,
	                 arena_printf(f->arena,
	                              "GET /none HTTP/1.1\r\nHost: gw\r\nX-Request-Id: %s\r\n\r\n",
	                              long_id));
	http_client_wait_text(f->client, "X-Request-Id: 0", ARRAY_LEN(BAD) + 1);
	http_client_puts(f->client,
	                 arena_printf(f->arena,
	                              "GET /none HTTP/1.1\r\nHost: gw\r\nX-Request-Id: %s\r\n\r\n",
	                              long_id + 1));
	http_client_wait_text(f->client,
	                      arena_printf(f->arena, "X-Request-Id: %s\r\n", long_id + 1), 1);
}

/* Requests that are not passed on, their status, and a text of the reply. */
static const struct {
	const char *request;
	int status;
	const char *text;
} REFUSALS[] = {
	{"GET /none HTTP/1.1\r\n" KEY "\r\n", 404, "\"error\":\"not_found\""},
	{"GET " LIST "/ HTTP/1.1\r\n" KEY "\r\n", 404, "not_found"},
	{"GET /api/v1.0/../v1.0/experiments HTTP/1.1\r\n" KEY "\r\n", 404, "not_found"},
	{"PATCH " LIST " HTTP/1.1\r\n" KEY "\r\n", 405, "Allow: GET, HEAD, POST\r\n"},
	{"OPTIONS " LIST " HTTP/1.1\r\n" KEY "\r\n", 405, "Allow: GET, HEAD, POST\r\n"},
	{"GET /api/v1.0/account/tokens/x HTTP/1.1\r\nHost: gw\r\n\r\n", 410, "\"error\":\"gone\""},
	{"GET " LIST " HTTP/1.1\r\nHost: gw\r\n\r\n", 401,
         "WWW-Authenticate: Bearer realm=\"expops\", error=\"invalid_token\"\r\n"},
	{"GET " LIST " HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer bad\r\n\r\n", 401,
         "invalid_token"},
	{"GET " LIST " HTTP/1.1\r\nHost: gw\r\nAuthorization: Basic good\r\n\r\n", 401,
         "invalid_token"},
	{"GET " LIST " HTTP/1.1\r\nHost: gw\r\nAuthorization: good\r\n\r\n", 401, "invalid_token"},
	{"GET " LIST " HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer\r\n\r\n", 401,
         "invalid_token"},
	{"GET " LIST " HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer good bad\r\n\r\n", 401,
         "invalid_token"},
	{"GET " LIST " HTTP/1.1\r\n" KEY "Authorization: Bearer good\r\n\r\n", 401,
         "invalid_token"},
	{"GET " LIST " HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer down\r\n\r\n", 503,
         "Retry-After: "},
	{"POST /api/v1.0/github/webhooks HTTP/1.1\r\nHost: gw\r\nContent-Length: 0\r\n\r\n", 503,
         "Retry-After: "},
	{"GET /api/v1.0/fleet/runs HTTP/1.1\r\n" KEY "\r\n", 503, "Retry-After: 1\r\n"},
	{"POST " LIST " HTTP/1.1\r\n" KEY "Content-Length: 1048577\r\n\r\n", 413,
         "content_too_large"},
};

static void refused_requests_get_a_problem_reply(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_LEN(REFUSALS); i++) {
		struct http_client *client = http_client_new(&f->loop, http_server_port(f->server));
		http_client_puts(client, REFUSALS[i].request);
		http_client_wait_text(client, "\"type\":\"about:blank\"", 1);
		if (http_client_status(client, 0) != REFUSALS[i].status ||
		    http_client_count(client, REFUSALS[i].text) == 0)
			fail_msg("%s gave %s", REFUSALS[i].request, client->received);
		assert_int_equal(http_client_count(client, "application/problem+json\r\n"), 1);
		assert_int_equal(http_client_count(client, "X-Request-Id: "), 1);
		assert_int_equal(http_client_count(client, "\"instance\":\""), 1);
		http_client_free(client);
	}
	assert_int_equal(f->fake->count, 0);
}

static void a_missing_scope_is_named(void **state)
{
	struct fixture *f = *state;
	f->caller.scopes = scope_mask("experiments:write");
	http_client_puts(f->client, GET_LIST);
	http_client_wait_text(f->client, "insufficient_scope\",\"scope\":\"experiments:read\"", 1);
	assert_int_equal(http_client_status(f->client, 0), 403);
	assert_int_equal(http_client_count(f->client, "WWW-Authenticate: Bearer "), 1);
	assert_int_equal(f->fake->count, 0);
}

static void rate_limits_are_reported_and_enforced(void **state)
{
	struct fixture *f = *state;
	f->rate = (struct rate_verdict){true, 100, 97, 1, 0, "key", "\"key\";q=100;w=1"};
	http_client_puts(f->client, GET_LIST);
	fixture_answer(f, 0, OK_HELLO);
	http_client_wait_text(f->client, "hello", 1);
	assert_int_equal(http_client_count(f->client, "RateLimit: \"key\";r=97;t=1\r\n"), 1);
	assert_int_equal(http_client_count(f->client, "RateLimit-Policy: \"key\";q=100;w=1\r\n"),
	                 1);
	f->rate = (struct rate_verdict){false, 100, 0, 1, 2, "key", "\"key\";q=100;w=1"};
	http_client_puts(f->client, GET_LIST);
	http_client_wait_text(f->client, "more than 100 requests", 1);
	assert_int_equal(http_client_status(f->client, 1), 429);
	assert_int_equal(http_client_count(f->client, "Retry-After: 2\r\n"), 1);
	assert_int_equal(f->rate_calls, 2);
}

static void clients_without_a_key_are_limited(void **state)
{
	struct fixture *f = *state;
	f->rate = (struct rate_verdict){false, 100, 0, 1, 2, "address", "\"address\";q=100;w=1"};
	http_client_puts(f->client, "GET /api/v1.0/openapi.json HTTP/1.1\r\nHost: gw\r\n\r\n");
	http_client_wait_text(f->client, "more than 100 requests a second from this address", 1);
	assert_int_equal(http_client_status(f->client, 0), 429);
	assert_int_equal(http_client_count(f->client, "Retry-After: 2\r\n"), 1);
	assert_int_equal(f->local_opens, 0);
}

static void a_request_waits_for_its_key(void **state)
{
	struct fixture *f = *state;
	http_client_puts(f->client,
	                 "POST " LIST " HTTP/1.1\r\nHost: gw\r\nAuthorization: bearer slow\r\n"
	                 "Content-Length: 4\r\n\r\nbody");
	fixture_wait_key(f);
	assert_int_equal(f->fake->count, 0);
	fixture_answer_key(f, ERR_NONE);
	fixture_answer_key(f, ERR_NONE);
	fixture_answer(f, 0, OK_HELLO);
	http_client_wait_text(f->fake->conns[0], "\r\n\r\nbody", 1);
	http_client_wait_text(f->client, "hello", 1);
}

static void an_unknown_key_is_refused(void **state)
{
	struct fixture *f = *state;
	http_client_puts(f->client,
	                 "GET " LIST " HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer slow\r\n\r\n");
	fixture_answer_key(f, ERR_UNAUTHENTICATED);
	http_client_wait_text(f->client, "invalid_token", 1);
	assert_int_equal(http_client_status(f->client, 0), 401);
}

static void a_disconnect_cancels_the_key_check(void **state)
{
	struct fixture *f = *state;
	http_client_puts(f->client,
	                 "GET " LIST " HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer slow\r\n\r\n");
	fixture_wait_key(f);
	http_client_reset(f->client);
	f->client = NULL;
	loop_until(&f->loop, f->key_cancels == 1);
}

static void operations_of_the_gateway_run_in_it(void **state)
{
	struct fixture *f = *state;
	f->caller.repo = NULL;
	http_client_puts(f->client, "POST /api/v1.0/account/api-keys HTTP/1.1\r\n" KEY
	                            "Content-Length: 4\r\n\r\nbody"
	                            "GET /api/v1.0/openapi.json HTTP/1.1\r\nHost: gw\r\n\r\n");
	http_client_wait_text(f->client, "local", 2);
	assert_int_equal(f->local_bytes, 4);
	assert_int_equal(f->local_ends, 2);
	assert_int_equal(f->fake->count, 0);
}

static void operations_of_the_gateway_wait_for_the_key(void **state)
{
	struct fixture *f = *state;
	f->caller.repo = NULL;
	http_client_puts(f->client, "GET /api/v1.0/account/api-keys HTTP/1.1\r\nHost: gw\r\n"
	                            "Authorization: Bearer slow\r\n\r\n"
	                            "POST /api/v1.0/account/api-keys HTTP/1.1\r\nHost: gw\r\n"
	                            "Authorization: Bearer slow\r\nContent-Length: 4\r\n\r\nbody");
	fixture_answer_key(f, ERR_NONE);
	http_client_wait_text(f->client, "local", 1);
	fixture_answer_key(f, ERR_NONE);
	fixture_answer_key(f, ERR_NONE);
	http_client_wait_text(f->client, "local", 2);
	assert_int_equal(f->local_ends, 2);
	assert_int_equal(f->local_bytes, 4);
}

static void operations_of_the_gateway_are_notified_of_a_disconnect(void **state)
{
	struct fixture *f = *state;
	f->caller.repo = NULL;
	http_client_puts(f->client, "POST /api/v1.0/account/api-keys HTTP/1.1\r\n" KEY
	                            "Content-Length: 4\r\n\r\nbo");
	loop_until(&f->loop, f->local_opens == 1);
	http_client_free(f->client);
	f->client = NULL;
	loop_until(&f->loop, f->local_dones == 1);
	assert_int_equal(f->local_gones, 1);
}

static void a_HEAD_request_is_passed_on(void **state)
{
	struct fixture *f = *state;
	http_client_puts(f->client, "HEAD " LIST " HTTP/1.1\r\n" KEY "\r\n");
	fixture_answer(f, 0, "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n");
	http_client_wait_text(f->client, "Content-Length: 500\r\n", 1);
	http_client_puts(f->client, GET_LIST);
	http_client_wait_text(f->fake->conns[0], "GET ", 1);
	http_client_puts(f->fake->conns[0], OK_HELLO);
	http_client_wait_text(f->client, "hello", 1);
	assert_int_equal(f->fake->count, 1);
}

static void content_is_passed_on_with_either_framing(void **state)
{
	struct fixture *f = *state;
	http_client_puts(f->client,
	                 "POST " LIST " HTTP/1.1\r\n" KEY "Content-Length: 5\r\n\r\nfirst");
	fixture_answer(f, 0, OK_HELLO);
	http_client_wait_text(f->client, "hello", 1);
	assert_int_equal(http_client_count(f->fake->conns[0], "Content-Length: 5\r\n"), 1);
	assert_int_equal(http_client_count(f->fake->conns[0], "\r\n\r\nfirst"), 1);

	http_client_puts(f->client,
	                 "POST " LIST " HTTP/1.1\r\n" KEY
	                 "Transfer-Encoding: chunked\r\n\r\n3;x=y\r\nsec\r\n2\r\non\r\n");
	http_client_wait_text(f->fake->conns[0], "5\r\nsecon\r\n", 1);
	http_client_puts(f->client, "1\r\nd\r\n0\r\nX-Trailer: x\r\n\r\n");
	http_client_wait_text(f->fake->conns[0], "1\r\nd\r\n0\r\n\r\n", 1);
	http_client_puts(f->fake->conns[0], OK_HELLO);
	http_client_wait_text(f->client, "hello", 2);
	assert_int_equal(http_client_count(f->fake->conns[0], "Trailer"), 0);

	http_client_puts(f->client, "POST " LIST " HTTP/1.1\r\n" KEY "\r\n");
	http_client_wait_text(f->fake->conns[0], "Content-Length: 0\r\n", 1);
	http_client_puts(f->fake->conns[0], OK_HELLO);
	http_client_wait_text(f->client, "hello", 3);
	assert_int_equal(f->fake->count, 1);
}

static void content_that_the_operation_does_not_read_is_dropped(void **state)
{
	struct fixture *f = *state;
	http_client_puts(f->client,
	                 "DELETE " LIST "/x HTTP/1.1\r\n" KEY "Content-Length: 5\r\n\r\nextra");
	fixture_answer(f, 0, OK_HELLO);
	http_client_wait_text(f->client, "hello", 1);
	assert_int_equal(http_client_count(f->fake->conns[0], "extra"), 0);
	assert_int_equal(http_client_count(f->fake->conns[0], "Content-Length: 0\r\n"), 1);
	http_client_puts(f->client, "GET /none HTTP/1.1\r\nHost: gw\r\n\r\n");
	http_client_wait_text(f->client, "not_found", 1);
}

static void streamed_content_is_limited(void **state)
{
	struct fixture *f = *state;
	http_client_puts(f->client, "POST " LIST " HTTP/1.1\r\n" KEY
	                            "Transfer-Encoding: chunked\r\n\r\n100001\r\n");
	http_client_send(f->client, large, 0x100000);
	fixture_settle(f);
	assert_int_equal(http_client_status(f->client, 0), 0);
	http_client_puts(f->client, "x");
	http_client_wait_text(f->client, "content_too_large", 1);
	assert_int_equal(http_client_status(f->client, 0), 413);
	assert_int_equal(upstream_connections(f->service), 0);
	http_client_puts(f->client, "\r\n0\r\n\r\nGET /none HTTP/1.1\r\nHost: gw\r\n\r\n");
	http_client_wait_text(f->client, "not_found", 1);
}

static void the_gateway_answers_Expect_itself(void **state)
{
	struct fixture *f = *state;
	http_client_puts(f->client, "POST " LIST " HTTP/1.1\r\n" KEY
	                            "Expect: 100-continue\r\nContent-Length: 4\r\n\r\n");
	http_client_wait_text(f->client, "HTTP/1.1 100 Continue\r\n\r\n", 1);
	http_client_puts(f->client, "body");
	fixture_answer(f, 0, "HTTP/1.1 100 Continue\r\n\r\n" OK_HELLO);
	http_client_wait_text(f->client, "hello", 1);
	assert_int_equal(http_client_count(f->fake->conns[0], "Expect"), 0);
	assert_int_equal(http_client_count(f->client, "100 Continue"), 1);
}

#define AGAIN "Host: gw\r\nAuthorization: Bearer good then slow\r\n"

/* A request whose key is valid when its head is there and refused when the rest is: the service
 * gets the beginning of the content and not its end. */
static void refuse_at_the_end(struct fixture *f, const char *framing, const char *begin,
                              const char *end)
{
	http_client_puts(f->client,
	                 arena_printf(f->arena, "POST " LIST " HTTP/1.1\r\n" AGAIN "%s\r\n\r\n%s",
	                              framing, begin));
	http_client_wait_text(fake_service_conn(f->fake, 0), "begin", 1);
	http_client_puts(f->client, end);
	fixture_wait_key(f);
	fixture_settle(f);
	assert_int_equal(http_client_count(f->fake->conns[0], "begin"), 1);
	assert_int_equal(http_client_count(f->fake->conns[0], "0\r\n\r\n"), 0);
	assert_int_equal(http_client_count(f->fake->conns[0], "!"), 0);
	fixture_answer_key(f, ERR_UNAUTHENTICATED);
	http_client_wait_text(f->client, "invalid_token", 1);
	assert_int_equal(http_client_status(f->client, 0), 401);
	http_client_wait_end(f->fake->conns[0]);
	assert_int_equal(http_client_count(f->fake->conns[0], "!"), 0);
}

static void a_key_revoked_during_the_content_stops_the_request(void **state)
{
	refuse_at_the_end(*state, "Content-Length: 6", "begin", "!");
}

static void a_key_revoked_during_chunked_content_stops_the_request(void **state)
{
	refuse_at_the_end(*state, "Transfer-Encoding: chunked", "5\r\nbegin\r\n", "0\r\n\r\n");
}

static void the_end_is_sent_when_the_key_is_still_valid(void **state)
{
	struct fixture *f = *state;
	http_client_puts(f->client,
	                 "POST " LIST " HTTP/1.1\r\n" AGAIN "Content-Length: 6\r\n\r\nbegin");
	http_client_wait_text(fake_service_conn(f->fake, 0), "begin", 1);
	http_client_puts(f->client, "!");
	fixture_answer_key(f, ERR_NONE);
	http_client_wait_text(f->fake->conns[0], "begin!", 1);
	http_client_puts(f->fake->conns[0], OK_HELLO);
	http_client_wait_text(f->client, "hello", 1);
	assert_int_equal(f->rate_calls, 1);
}

/* What the second check of a key finds, and the answer of the operation; 200: it is let through. */
struct second_check {
	enum err_code code;
	uint64_t scopes;
	const char *repo; /* of an automation key; NULL: a personal key */
	int local_status; /* of an operation of the gateway's own that concerns the whole account */
	int sent_status;  /* of an operation of a service */
};

static const struct second_check SECOND_CHECKS[] = {
	{ERR_NONE, SCOPE_ALL, NULL, 200, 200},
	{ERR_NONE, SCOPE_ALL, "o/r", 403, 200},
	{ERR_NONE, 0, NULL, 403, 403},
	{ERR_NONE, 0, "o/r", 403, 403},
	{ERR_UNAUTHENTICATED, 0, NULL, 401, 401},
	{ERR_RATE_LIMITED, 0, NULL, 429, 429},
	{ERR_UNAVAILABLE, 0, NULL, 503, 503},
};

static void check_again(struct fixture *f, const struct second_check *row, const char *path)
{
	f->key_checks = 0;
	f->caller.scopes = SCOPE_ALL;
	f->caller.repo = NULL;
	http_client_puts(f->client,
	                 arena_printf(f->arena,
	                              "POST %s HTTP/1.1\r\n" AGAIN "Content-Length: 5\r\n\r\nbegi",
	                              path));
	loop_until(&f->loop, f->key_checks == 1);
	f->caller.scopes = row->scopes;
	f->caller.repo = row->repo;
	http_client_puts(f->client, "n");
	fixture_answer_key(f, row->code);
}

static void the_gateway_s_operations_check_the_key_again(void **state)
{
	struct fixture *f = *state;
	size_t ends = 0;
	for (size_t i = 0; i < ARRAY_LEN(SECOND_CHECKS); i++) {
		check_again(f, &SECOND_CHECKS[i], "/api/v1.0/account/api-keys");
		loop_until(&f->loop, f->local_dones == i + 1);
		assert_int_equal(http_client_status(f->client, i), SECOND_CHECKS[i].local_status);
		ends += SECOND_CHECKS[i].local_status == 200;
		assert_int_equal(f->local_ends, ends);
		assert_int_equal(f->local_refusals, i + 1 - ends);
	}
}

static void requests_to_services_check_the_key_again(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_LEN(SECOND_CHECKS); i++) {
		check_again(f, &SECOND_CHECKS[i], LIST);
		struct http_client *conn = fake_service_conn(f->fake, i);
		if (SECOND_CHECKS[i].sent_status == 200) {
			http_client_wait_text(conn, "begin", 1);
			http_client_puts(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
			                       "Connection: close\r\n\r\n");
		}
		loop_until(&f->loop, http_client_status(f->client, i));
		assert_int_equal(http_client_status(f->client, i), SECOND_CHECKS[i].sent_status);
		assert_int_equal(http_client_count(conn, "begin"),
		                 SECOND_CHECKS[i].sent_status == 200);
		http_client_wait_end(conn);
	}
	assert_int_equal(f->rate_calls, ARRAY_LEN(SECOND_CHECKS));
}

/* The service answers without the end of the content, while the key is looked up again. */
static void an_early_answer_ends_the_second_check(void **state)
{
	struct fixture *f = *state;
	http_client_puts(f->client,
	                 "POST " LIST " HTTP/1.1\r\n" AGAIN "Content-Length: 6\r\n\r\nbegin");
	http_client_wait_text(fake_service_conn(f->fake, 0), "begin", 1);
	http_client_puts(f->client, "!");
	fixture_wait_key(f);
	http_client_puts(f->fake->conns[0], OK_HELLO);
	http_client_wait_text(f->client, "hello", 1);
	fixture_settle(f);
	assert_int_equal(f->key_cancels, 1);
	http_client_puts(f->client, "GET /none HTTP/1.1\r\nHost: gw\r\n\r\n");
	http_client_wait_text(f->client, "not_found", 1);
}

/* Content is refused, and its end comes while the client does not read the answer. */
static void refused_content_has_no_second_check(void **state)
{
	struct fixture *f = *state;
	f->caller.repo = NULL;
	f->local_refuses = true;
	http_client_puts(f->client, "POST /api/v1.0/account/api-keys HTTP/1.1\r\n" AGAIN
	                            "Content-Length: 4\r\n\r\nbo");
	loop_until(&f->loop, !f->local_refuses);
	http_client_puts(f->client, "dy");
	fixture_settle(f);
	assert_int_equal(f->key_checks, 1);
	http_respond_end(f->local);
	loop_until(&f->loop, f->local_dones == 1);
	assert_int_equal(http_client_status(f->client, 0), 413);
}

/* The answer is over while the key is looked up again. */
static void an_answer_ends_the_second_check_of_the_gateway_s_operations(void **state)
{
	struct fixture *f = *state;
	f->caller.repo = NULL;
	http_client_puts(f->client, "POST /api/v1.0/account/api-keys HTTP/1.1\r\n" AGAIN
	                            "Content-Length: 4\r\n\r\nbody");
	fixture_wait_key(f);
	http_respond_start(f->local, 503, NULL, 0, 0);
	http_respond_end(f->local);
	loop_until(&f->loop, f->local_dones == 1);
	assert_int_equal(f->key_cancels, 1);
}

/* The connection breaks while all of a short content is held back: another one gets it. */
static void held_content_is_sent_on_another_connection(void **state)
{
	struct fixture *f = *state;
	http_client_puts(f->client, GET_LIST);
	fixture_answer(f, 0, OK_HELLO);
	http_client_wait_text(f->client, "hello", 1);
	f->key_checks = 0;
	http_client_puts(f->client,
	                 "POST " LIST " HTTP/1.1\r\n" AGAIN "Content-Length: 4\r\n\r\nbody");
	fixture_wait_key(f);
	fake_service_close(f->fake, 0);
	fixture_settle(f);
	fixture_answer_key(f, ERR_NONE);
	http_client_wait_text(fake_service_conn(f->fake, 1), "\r\n\r\nbody", 1);
	http_client_puts(f->fake->conns[1], OK_HELLO);
	http_client_wait_text(f->client, "hello", 2);
}

static void a_disconnect_cancels_the_second_check(void **state)
{
	struct fixture *f = *state;
	f->caller.repo = NULL;
	http_client_puts(f->client, "POST /api/v1.0/account/api-keys HTTP/1.1\r\n" AGAIN
	                            "Content-Length: 4\r\n\r\nbody");
	fixture_wait_key(f);
	http_client_reset(f->client);
	f->client = NULL;
	loop_until(&f->loop, f->local_dones == 1);
	assert_int_equal(f->key_cancels, 1);
	assert_int_equal(f->local_ends, 0);
}

static void a_limited_key_is_refused_for_the_whole_account(void **state)
{
	struct fixture *f = *state;
	http_client_puts(f->client, "POST /api/v1.0/account/delete HTTP/1.1\r\n" KEY
	                            "Content-Length: 2\r\n\r\n{}");
	http_client_wait_text(f->client, "forbidden", 1);
	assert_int_equal(http_client_status(f->client, 0), 403);
	assert_int_equal(f->local_opens, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(requests_are_passed_on),
		TEST(request_fields_are_filtered_and_added),
		TEST(answer_fields_are_filtered),
		TEST(invalid_request_ids_are_replaced),
		TEST(refused_requests_get_a_problem_reply),
		TEST(a_missing_scope_is_named),
		TEST(rate_limits_are_reported_and_enforced),
		TEST(clients_without_a_key_are_limited),
		TEST(a_request_waits_for_its_key),
		TEST(an_unknown_key_is_refused),
		TEST(a_disconnect_cancels_the_key_check),
		TEST(operations_of_the_gateway_run_in_it),
		TEST(operations_of_the_gateway_wait_for_the_key),
		TEST(operations_of_the_gateway_are_notified_of_a_disconnect),
		TEST(a_HEAD_request_is_passed_on),
		TEST(content_is_passed_on_with_either_framing),
		TEST(content_that_the_operation_does_not_read_is_dropped),
		TEST(streamed_content_is_limited),
		TEST(the_gateway_answers_Expect_itself),
		TEST(a_key_revoked_during_the_content_stops_the_request),
		TEST(a_key_revoked_during_chunked_content_stops_the_request),
		TEST(the_end_is_sent_when_the_key_is_still_valid),
		TEST(the_gateway_s_operations_check_the_key_again),
		TEST(requests_to_services_check_the_key_again),
		TEST(an_early_answer_ends_the_second_check),
		TEST(refused_content_has_no_second_check),
		TEST(an_answer_ends_the_second_check_of_the_gateway_s_operations),
		TEST(held_content_is_sent_on_another_connection),
		TEST(a_disconnect_cancels_the_second_check),
		TEST(a_limited_key_is_refused_for_the_whole_account),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
