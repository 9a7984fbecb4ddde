/* FETCH_MEMORY: what calls of URLs that users named may occupy. */
#include "base/base.h"
#include "client/fetch.h"
#include "client/guard.h"
#include "http/server.h"
#include "worker_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#define KIB         ((size_t)1024)
#define MIB         (1024 * KIB)
#define CALL_BYTES  (256 * KIB)
#define SHARE_CALLS 36 /* of an account: 9 MiB */
#define FIELDS      100

static const struct uuid A = {{1}}, B = {{2}};

static struct worker_fixture fixture;
static struct http_server *server;
static struct arena *arena;
static char url[64];
static size_t requests;

static void on_head(struct http_exchange *x)
{
	(void)x;
}

/* `/silent`: no answer; `/fields`: many fields; `/large`: 100 KiB; else `hello`. */
static void on_end(struct http_exchange *x)
{
	static struct http_field fields[FIELDS];
	static char large[100 * 1024];
	bool has_fields = strcmp(x->head.target, "/fields") == 0;
	bool is_large = strcmp(x->head.target, "/large") == 0;
	size_t length = is_large ? sizeof(large) : 5;
	for (size_t i = 0; i < FIELDS; i++)
		fields[i] = http_field_of("A", "");
	requests++;
	if (strcmp(x->head.target, "/silent") == 0)
		return;
	http_respond_start(x, 200, fields, has_fields ? FIELDS : 0, (int64_t)length);
	http_respond_content(x, is_large ? large : "hello", length);
	http_respond_end(x);
}

static void on_done(struct http_exchange *x)
{
	(void)x;
}

static const struct http_handler HANDLER = {.on_head = on_head,
                                            .on_end = on_end,
                                            .on_done = on_done};

static int setup(void **state)
{
	(void)state;
	const struct address at = {.host = "127.0.0.1"};
	const struct ip_networks *loopback;
	(void)log_init("test", "error");
	requests = 0;
	arena = arena_new();
	fixture_start(&fixture);
	fixture.worker.fetch = fetcher_new(&fixture.worker.loop);
	server = http_server_new(&fixture.worker.loop, &HANDLER, &http_limits_default, NULL);
	assert_int_equal(http_server_listen(server, &at, NULL), ERR_NONE);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", (unsigned)http_server_port(server));
	fixture.worker.server = server; /* it serves clients */
	assert_int_equal(ip_networks_parse(arena, "127.0.0.1/32", NULL, NULL, &loopback), ERR_NONE);
	fetch_guard_allow(loopback);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_int_equal(fetch_used_bytes(), 0);
	fetch_guard_allow(NULL);
	fetcher_free(fixture.worker.fetch);
	http_server_free(server);
	fixture_stop(&fixture);
	arena_free(arena);
	return 0;
}

/* A call, and how it ended. */
struct probe {
	const char *path;
	struct uuid account;
	enum fetch_guard guard;
	size_t max_bytes; /* more is cut; 0: nothing is */
	enum err_code code;
	size_t body_length;
	size_t used_bytes; /* while the request has the answer */
};

static void probe_run(struct request *rq)
{
	struct probe *probe = rq->user;
	struct fetch_response *answer;
	const struct fetch_call call = {
		.url = arena_printf(rq->arena, "%s%s", url, probe->path),
		.guard = probe->guard,
		.response_max_bytes = probe->max_bytes,
		.cuts_response = probe->max_bytes,
	};
	rq->caller.account = probe->account;
	probe->code = fetch_try(rq, &call, &answer);
	probe->body_length = probe->code ? 0 : answer->body_length;
	probe->used_bytes = fetch_used_bytes();
}

static struct probe probe_of(const char *path, enum fetch_guard guard, size_t max_bytes)
{
	struct probe probe = {path, A, guard, max_bytes, ERR_NONE, 0, 0};
	fixture_run(&fixture, probe_run, &probe);
	return probe;
}

static void test_a_call_and_its_answer_count_until_the_request_ends(void **state)
{
	(void)state;
	fetch_set_limit(MIB);
	struct probe probe = probe_of("/x", FETCH_GUARD_ALL, 0);
	assert_int_equal(probe.body_length, 5);
	assert_in_range(probe.used_bytes, CALL_BYTES, CALL_BYTES + 20 * KIB);
	assert_int_equal(fetch_used_bytes(), 0);
	probe = probe_of("/large", FETCH_GUARD_LISTED, 0);
	assert_int_equal(probe.body_length, 100 * KIB);
	assert_in_range(probe.used_bytes, CALL_BYTES + 100 * KIB, CALL_BYTES + 140 * KIB);
	probe = probe_of("/large", FETCH_GUARD_ALL, KIB);
	assert_int_equal(probe.body_length, KIB);
	assert_in_range(probe.used_bytes, CALL_BYTES + KIB, CALL_BYTES + 20 * KIB);
}

/* `A:` and its line end are 4 bytes, and a field in memory is more. */
static void test_fields_count_as_what_they_occupy(void **state)
{
	(void)state;
	fetch_set_limit(MIB);
	size_t few = probe_of("/x", FETCH_GUARD_ALL, 0).used_bytes;
	assert_true(probe_of("/fields", FETCH_GUARD_ALL, 0).used_bytes >=
	            few + FIELDS * sizeof(struct http_field));
}

static void test_what_the_settings_name_is_not_counted(void **state)
{
	(void)state;
	fetch_set_limit(KIB);
	for (enum fetch_guard guard = FETCH_GUARD_NONE; guard <= FETCH_GUARD_REDIRECTS; guard++) {
		struct probe probe = probe_of("/large", guard, 0);
		assert_int_equal(probe.body_length, 100 * KIB);
		assert_int_equal(probe.used_bytes, 0);
	}
}

static void test_a_call_that_does_not_fit_is_not_made(void **state)
{
	(void)state;
	fetch_set_limit(CALL_BYTES - 1);
	assert_int_equal(probe_of("/x", FETCH_GUARD_ALL, 0).code, ERR_CONTENTION);
	assert_int_equal(requests, 0);
}

static void test_an_answer_that_does_not_fit_is_not_read(void **state)
{
	(void)state;
	fetch_set_limit(CALL_BYTES + 50 * KIB);
	assert_int_equal(probe_of("/x", FETCH_GUARD_ALL, 0).code, ERR_NONE);
	assert_int_equal(probe_of("/large", FETCH_GUARD_ALL, 0).code, ERR_CONTENTION);
	fetch_set_limit(CALL_BYTES + 4 * KIB);
	assert_int_equal(probe_of("/fields", FETCH_GUARD_ALL, 0).code, ERR_CONTENTION);
}

static void probe_start(struct probe *probe)
{
	fixture_spawn(&fixture, probe_run, NULL, probe);
}

/* An account whose servers do not answer. */
static void test_an_account_has_a_share_of_the_calls(void **state)
{
	(void)state;
	struct request *waiting[SHARE_CALLS];
	struct probe silent[SHARE_CALLS];
	struct probe more = {"/x", A, FETCH_GUARD_ALL, 0, ERR_NONE, 0, 0}, of_the_background = more;
	struct probe of_another = {"/x", B, FETCH_GUARD_ALL, 0, ERR_NONE, 0, 0};
	fetch_set_limit(18 * MIB);
	for (int i = 0; i < SHARE_CALLS; i++) {
		silent[i] = (struct probe){"/silent", A, FETCH_GUARD_ALL, 0, ERR_NONE, 0, 0};
		waiting[i] = fixture_spawn(&fixture, probe_run, NULL, &silent[i]);
	}
	fixture_wait_start(&fixture);
	while (requests < SHARE_CALLS)
		fixture_turn(&fixture);
	probe_start(&of_another);
	fixture.worker.server = NULL; /* as that of the background worker */
	probe_start(&of_the_background);
	fixture.worker.server = server;
	while (requests < SHARE_CALLS + 2)
		fixture_turn(&fixture);
	request_spawn(&fixture.worker, "test", FIXTURE_TIMEOUT_MS, probe_run, NULL, &more);
	while (request_list_count(fixture.worker.requests) > SHARE_CALLS)
		fixture_turn(&fixture);
	assert_int_equal(more.code, ERR_RATE_LIMITED);
	assert_int_equal(requests, SHARE_CALLS + 2);
	assert_int_equal(of_another.body_length, 5);
	assert_int_equal(of_the_background.body_length, 5);
	for (int i = 0; i < SHARE_CALLS; i++)
		request_cancel(waiting[i], ERR_CLIENT_GONE);
	fixture_idle(&fixture);
	assert_int_equal(probe_of("/x", FETCH_GUARD_ALL, 0).body_length, 5);
}

static void raise_full(struct request *rq)
{
	fetch_raise_if_full(rq, ERR_NONE);
	fetch_raise_if_full(rq, ERR_UNAVAILABLE);
	fetch_raise_if_full(rq, *(enum err_code *)rq->user);
}

static struct problem raised;

static void raise_done(struct request *rq)
{
	raised = rq->problem;
}

static void test_who_is_refused_is_told_when_to_come_again(void **state)
{
	(void)state;
	static enum err_code codes[] = {ERR_RATE_LIMITED, ERR_CONTENTION};
	for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
		request_spawn(&fixture.worker, "test", FIXTURE_TIMEOUT_MS, raise_full, raise_done,
		              &codes[i]);
		fixture_idle(&fixture);
		assert_int_equal(raised.code, codes[i]);
		assert_int_equal(raised.retry_after_s, 1);
	}
}

int main(void)
{
	/* The tests must not use a proxy of the environment. */
	setenv("no_proxy", "*", 1);
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_a_call_and_its_answer_count_until_the_request_ends),
		CASE(test_fields_count_as_what_they_occupy),
		CASE(test_what_the_settings_name_is_not_counted),
		CASE(test_a_call_that_does_not_fit_is_not_made),
		CASE(test_an_answer_that_does_not_fit_is_not_read),
		CASE(test_an_account_has_a_share_of_the_calls),
		CASE(test_who_is_refused_is_told_when_to_come_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
