#include "request/idempotency.h"

#include "input/input.h"
#include "loop/wait.h"
#include "pg/migrate.h"
#include "pg_suite.h"
#include "reply/reply.h"

#include <stdio.h>
#include <stdlib.h>

/* A POST and its outcome. */
struct post {
	const char *key, *path, *body;
	struct uuid account, api_key;
	enum api_id id;
	void (*inner)(struct request *rq); /* runs in the handler; NULL: nothing */
	enum err_code code;
	int status;
	size_t problem_fields;
	bool is_replayed;
	bool is_over;
	char answer[5000];
	char location[100];
};

static const struct uuid ALICE = {{1}}, BOB = {{2}};

static int start_with_schema(void **state)
{
	static const struct migration NONE[] = {{NULL, NULL}};
	start_server(state);
	pg_fixture_run(&server, "ALTER ROLE expops SET search_path = shop");
	assert_int_equal(migrate_run(server.url, "shop", &(struct schema){.migrations = NONE},
	                             NULL),
	                 ERR_NONE);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	pg_fixture_run(&server,
	               "SET client_min_messages = error; TRUNCATE idempotency; DROP TABLE IF "
	               "EXISTS made; CREATE TABLE made (id int GENERATED ALWAYS AS IDENTITY)");
	open_pool(&(struct pg_settings){.url = server.url, .pool_wait_ms = FIXTURE_TIMEOUT_MS});
	fixture.settings.seal_secrets = "a secret of the service";
	fixture.settings.compresses_answers = false;
	return 0;
}

/* Run a handler as http_request.c does. */
static void run_post(struct request *rq)
{
	struct post *post = rq->user;
	struct http_call *http = arena_new_of(rq->arena, struct http_call);
	struct http_field *field = arena_new_of(rq->arena, struct http_field);
	*field = http_field_of("idempotency-key", post->key);
	rq->caller.account = post->account;
	rq->caller.key_id = post->api_key;
	rq->http = http;
	http->op = api_op(post->id);
	http->body = post->body;
	http->body_length = strlen(post->body);
	http->head = (struct http_head){.target = post->path,
	                                .path_length = strlen(post->path),
	                                .fields = field,
	                                .field_count = 1};
	if (idempotency_begin(rq))
		return;
	if (post->inner)
		post->inner(rq);
	struct pg_rows *made =
		pg_query(rq,
	                 "INSERT INTO made DEFAULT VALUES RETURNING json_build_object('id', id)");
	reply_header(rq, "Location", "/made/1");
	if (reply_of(rq)->status == 0)
		reply_json(rq, 201, pg_json(made));
	idempotency_finish(rq);
}

static void note(struct request *rq)
{
	struct post *post = rq->user;
	struct reply *reply = rq->http->reply;
	post->is_over = true;
	post->code = rq->problem.code;
	post->problem_fields = rq->problem.field_count;
	if (post->code || !reply)
		return;
	post->status = reply->status;
	snprintf(post->answer, sizeof(post->answer), "%.*s", (int)reply->length, reply->body);
	for (size_t i = 0; i < reply->field_count; i++) {
		if (strcmp(reply->fields[i].name, "Location") == 0)
			snprintf(post->location, sizeof(post->location), "%s",
			         reply->fields[i].value);
		if (strcmp(reply->fields[i].name, "Idempotent-Replayed") == 0)
			post->is_replayed = true;
	}
	bool is_refusal = post->is_replayed && post->status == 409;
	assert_string_equal(reply->type,
	                    is_refusal ? "application/problem+json" : "application/json");
}

static struct post post_with(const char *key, const char *body)
{
	return (struct post){.key = key,
	                     .path = "/api/v1.0/projects",
	                     .body = body,
	                     .account = ALICE,
	                     .id = API_ID_project_create};
}

static struct request *begin_post(struct post *post)
{
	return fixture_spawn(&fixture, run_post, note, post);
}

static struct post *send_post(struct post *post)
{
	request_spawn(&fixture.worker, "test", FIXTURE_TIMEOUT_MS, run_post, note, post);
	fixture_idle(&fixture);
	return post;
}

static long made_count(void)
{
	return pg_fixture_run(&server, "SELECT count(*) FROM made");
}

static void test_repeated_request_gets_the_first_answer(void **state)
{
	(void)state;
	struct post first = post_with("key-1", "{\"name\": 1}"), again = first;
	send_post(&first);
	assert_int_equal(first.code, ERR_NONE);
	assert_int_equal(first.status, 201);
	assert_false(first.is_replayed);
	send_post(&again);
	assert_int_equal(again.code, ERR_NONE);
	assert_int_equal(again.status, 201);
	assert_true(again.is_replayed);
	assert_string_equal(again.answer, first.answer);
	assert_string_equal(again.location, "/made/1");
	assert_int_equal(made_count(), 1);
	/* The table contains neither the key nor the answer in plain text. */
	assert_int_equal(
		pg_fixture_run(&server,
	                       "SELECT count(*) FROM idempotency WHERE idempotency::text LIKE "
	                       "'%' || encode('key-1', 'hex') || '%' OR idempotency::text LIKE "
	                       "'%' || encode('application/json', 'hex') || '%'"),
		0);
}

static void reply_at_length(struct request *rq)
{
	char *text = arena_alloc(rq->arena, 4801);
	memset(text, 'x', 4800);
	reply_json(rq, 201, arena_printf(rq->arena, "{\"text\":\"%s\"}", text));
}

/* About 12 MiB. */
static void reply_at_great_length(struct request *rq)
{
	size_t length = (size_t)12 << 20;
	char *text = arena_alloc(rq->arena, length + 1);
	memset(text, ' ', length);
	text[0] = '[', text[length - 1] = ']';
	reply_json(rq, 201, text);
}

static long stored_bytes(void)
{
	return pg_fixture_run(&server, "SELECT length(answer) FROM idempotency");
}

/* Either kind is read whatever the setting is. */
static void test_compressed_answer_is_the_same(void **state)
{
	(void)state;
	for (int compresses = 0; compresses <= 1; compresses++) {
		struct post first = post_with("key-1", "{}");
		first.inner = reply_at_length;
		struct post again = first;
		pg_fixture_run(&server, "TRUNCATE idempotency");
		fixture.settings.compresses_answers = compresses;
		assert_int_equal(send_post(&first)->status, 201);
		assert_int_equal(stored_bytes() < 400, compresses);
		fixture.settings.compresses_answers = !compresses;
		assert_int_equal(send_post(&again)->status, 201);
		assert_true(again.is_replayed);
		assert_string_equal(again.answer, first.answer);
		assert_string_equal(again.location, "/made/1");
	}
}

/* Two of 12 MiB fit into the room of an account. A repetition of the third has no second effect. */
static void test_large_answers_have_a_limited_room(void **state)
{
	(void)state;
	static const char *const KEYS[] = {"key-1", "key-2", "key-3"};
	struct post posts[3], others = post_with("key-1", "{}");
	for (size_t i = 0; i < ARRAY_LEN(posts); i++) {
		posts[i] = post_with(KEYS[i], "{}");
		posts[i].inner = reply_at_great_length;
		assert_int_equal(send_post(&posts[i])->status, 201);
	}
	others.account = BOB;
	others.inner = reply_at_great_length;
	assert_int_equal(send_post(&others)->status, 201);
	assert_in_range(pg_fixture_run(&server, "SELECT sum(length(answer)) FROM idempotency"),
	                36 << 20, (36 << 20) + 4096);
	for (size_t i = 0; i < ARRAY_LEN(posts); i++) {
		assert_int_equal(send_post(&posts[i])->status, i < 2 ? 201 : 409);
		assert_true(posts[i].is_replayed);
	}
	assert_non_null(strstr(posts[2].answer, "\"error\":\"conflict\""));
	assert_int_equal(send_post(&others)->status, 201);
	assert_true(others.is_replayed);
	assert_int_equal(made_count(), 4);
	posts[2].body = "{\"other\": 1}";
	assert_int_equal(send_post(&posts[2])->code, ERR_IDEMPOTENCY_REUSED);
	/* Small ones are kept beside them, and there is room again when a day is over. */
	struct post small = post_with("key-4", "{}"), late = post_with("key-5", "{}");
	send_post(&small);
	assert_true((send_post(&small)->is_replayed));
	pg_fixture_run(&server, "UPDATE idempotency SET created_at = now() - interval '25 hours'");
	late.inner = reply_at_great_length;
	send_post(&late);
	assert_int_equal(send_post(&late)->status, 201);
	assert_true(late.is_replayed);
}

/* A report of a run, whose id says what it is about. */
static void test_large_answer_of_what_converges_is_not_kept(void **state)
{
	(void)state;
	struct post first = post_with("key-1", "{}"), small = post_with("key-2", "{}");
	first.id = small.id = API_ID_fleet_run_report;
	first.inner = reply_at_great_length;
	assert_int_equal(send_post(&first)->status, 201);
	assert_int_equal(pg_fixture_run(&server, "SELECT count(*) FROM idempotency"), 0);
	assert_int_equal(send_post(&first)->status, 201);
	assert_false(first.is_replayed);
	assert_int_equal(made_count(), 2);
	send_post(&small);
	assert_true((send_post(&small)->is_replayed));
	assert_int_equal(made_count(), 3);
}

static void test_short_answer_is_stored_as_it_is(void **state)
{
	(void)state;
	struct post first = post_with("key-1", "{}"), second = post_with("key-2", "{}");
	send_post(&first);
	long length = stored_bytes();
	pg_fixture_run(&server, "TRUNCATE idempotency");
	fixture.settings.compresses_answers = true;
	send_post(&second);
	assert_int_equal(stored_bytes(), length);
}

static void test_requests_that_are_not_repetitions(void **state)
{
	(void)state;
	struct post first = post_with("key-2", "{}");
	send_post(&first);
	struct post other = post_with("key-2", "{} ");
	assert_int_equal(send_post(&other)->code, ERR_IDEMPOTENCY_REUSED);
	other = post_with("key-2", "{}");
	other.path = "/api/v1.0/projects/x";
	assert_int_equal(send_post(&other)->code, ERR_IDEMPOTENCY_REUSED);
	other = post_with("key-3", "{}");
	assert_false(send_post(&other)->is_replayed);
	other = post_with("key-2", "{}");
	other.account = BOB;
	assert_false(send_post(&other)->is_replayed);
	other = post_with("key-2", "{}");
	other.id = API_ID_template_create;
	assert_false(send_post(&other)->is_replayed);
	other = post_with("key-2", "{}");
	other.api_key = BOB;
	assert_false(send_post(&other)->is_replayed);
	assert_int_equal(made_count(), 5);
}

static void test_bad_keys(void **state)
{
	(void)state;
	char longest[257];
	memset(longest, 'k', sizeof(longest));
	longest[256] = '\0';
	const char *const BAD[] = {"", "a b", "\xc3\xa4", "a\x7f", "a\tb", longest};
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		struct post post = post_with(BAD[i], "{}");
		send_post(&post);
		assert_int_equal(post.problem_fields, 1);
		assert_int_equal(post.status, 0);
	}
	struct post post = post_with(longest + 1, "{}");
	assert_int_equal(send_post(&post)->status, 201);
	assert_int_equal(made_count(), 1);
}

static bool may_continue;

static void wait_for_the_test(struct request *rq)
{
	while (!may_continue)
		request_wait(rq);
}

/* The loop runs often between two looks, each of which makes a connection: on a busy machine the
 * request would come to its deadline otherwise. */
static void until_lock_is_held(const struct post *first)
{
	while (pg_fixture_run(&server, "SELECT count(*) FROM pg_locks WHERE granted AND relation = "
	                               "'idempotency_running'::regclass") == 0) {
		assert_false(first->is_over);
		for (int i = 0; i < 100; i++)
			uv_run(&fixture.worker.loop, UV_RUN_NOWAIT);
	}
}

static void test_first_request_still_running(void **state)
{
	(void)state;
	struct post first = post_with("key-4", "{}"), second = first, third = first;
	may_continue = false;
	first.inner = wait_for_the_test;
	struct request *rq = begin_post(&first);
	until_lock_is_held(&first);
	begin_post(&second);
	fixture_until(&fixture, &second.is_over);
	assert_int_equal(second.code, ERR_IN_PROGRESS);
	may_continue = true;
	fiber_wake(rq->fiber);
	fixture_idle(&fixture);
	assert_int_equal(first.status, 201);
	assert_true(send_post(&third)->is_replayed);
	assert_int_equal(made_count(), 1);
}

/* One request has the effect; the others get its answer or ERR_IN_PROGRESS. */
static void test_one_of_concurrent_requests_has_an_effect(void **state)
{
	(void)state;
	struct post posts[40];
	int firsts = 0;
	for (int i = 0; i < 40; i++) {
		posts[i] = post_with("key-5", "{}");
		begin_post(&posts[i]);
	}
	fixture_idle(&fixture);
	for (int i = 0; i < 40; i++) {
		firsts += posts[i].status == 201 && !posts[i].is_replayed;
		assert_true(posts[i].status == 201 || posts[i].code == ERR_IN_PROGRESS);
	}
	assert_int_equal(firsts, 1);
	assert_int_equal(made_count(), 1);
}

static void refuse(struct request *rq)
{
	pg_query(rq, "INSERT INTO made DEFAULT VALUES");
	raise_error(rq, ERR_NOT_FOUND, "no such thing");
}

static void reply_conflict(struct request *rq)
{
	reply_json(rq, 409, "{}");
}

static void nest(struct request *rq)
{
	struct pg_rows *rows;
	pg_begin(rq);
	pg_query(rq, "INSERT INTO made DEFAULT VALUES");
	pg_commit(rq);
	assert_int_equal(pg_try(rq, &rows, NULL, "SELECT 1/0"), ERR_INVALID);
}

/* A failed request leaves neither effect nor record, so the key can be used again. */
static void test_failures_are_not_kept(void **state)
{
	(void)state;
	struct post post = post_with("key-6", "{}");
	post.inner = refuse;
	assert_int_equal(send_post(&post)->code, ERR_NOT_FOUND);
	post = post_with("key-6", "{}");
	post.inner = reply_conflict;
	assert_int_equal(send_post(&post)->status, 409);
	assert_int_equal(made_count(), 0);
	post = post_with("key-6", "{}");
	post.inner = nest;
	assert_int_equal(send_post(&post)->status, 201);
	assert_int_equal(made_count(), 2);
}

static void lose_the_connection(struct request *rq)
{
	pg_query(rq, "INSERT INTO made DEFAULT VALUES");
	pg_query(rq, "SELECT pg_terminate_backend(pg_backend_pid())");
}

/* A connection that is lost before the commit leaves nothing; the repeated request has the effect
 * once. */
static void test_lost_connection_leaves_nothing(void **state)
{
	(void)state;
	struct post post = post_with("key-10", "{}"), again = post;
	post.inner = lose_the_connection;
	assert_int_equal(send_post(&post)->code, ERR_UNAVAILABLE);
	assert_int_equal(made_count(), 0);
	assert_int_equal(send_post(&again)->status, 201);
	assert_false(again.is_replayed);
	assert_int_equal(made_count(), 1);
}

static void test_record_expires_after_a_day(void **state)
{
	(void)state;
	struct post first = post_with("key-7", "{}"), second = post_with("key-8", "{}"),
		    again = first;
	send_post(&first);
	send_post(&second);
	pg_fixture_run(&server,
	               "UPDATE idempotency SET created_at = now() - interval '24 hours 1 second'");
	again.body = "{\"another\": 1}";
	assert_false(send_post(&again)->is_replayed);
	assert_int_equal(again.status, 201);
	/* The other expired record was deleted, too. */
	assert_int_equal(pg_fixture_run(&server, "SELECT count(*) FROM idempotency"), 1);
	assert_true(send_post(&again)->is_replayed);
}

static void test_changed_secret(void **state)
{
	(void)state;
	struct post first = post_with("key-9", "{}"), again = first;
	send_post(&first);
	fixture.settings.seal_secrets = "another secret,a secret of the service";
	assert_true(send_post(&again)->is_replayed);
	fixture.settings.seal_secrets = "another secret";
	assert_int_equal(send_post(&again)->code, ERR_CONFLICT);
	assert_int_equal(made_count(), 1);
}

/* Operations that call outside services. */

static struct post reserved_post_with(const char *key, void (*inner)(struct request *rq))
{
	struct post post = post_with(key, "{}");
	post.id = API_ID_model_key_connect;
	post.inner = inner;
	return post;
}

/* Wait for something outside, then write in a transaction that finish() commits. */
static void call_out(struct request *rq)
{
	request_require_no_transaction(rq);
	fiber_sleep(rq, 1);
	pg_begin(rq);
}

static void test_reserved_key_keeps_the_answer(void **state)
{
	(void)state;
	struct post first = reserved_post_with("key-11", call_out), again = first;
	assert_int_equal(send_post(&first)->status, 201);
	assert_true(send_post(&again)->is_replayed);
	assert_string_equal(again.answer, first.answer);
	assert_int_equal(made_count(), 1);
}

static void die(struct request *rq)
{
	raise_error(rq, ERR_INTERNAL, "the process is killed");
}

/* Nobody gives the reservation up. */
static void test_reservation_ends_by_itself(void **state)
{
	(void)state;
	struct post first = reserved_post_with("key-12", die);
	struct post again = reserved_post_with("key-12", call_out), other = again;
	other.body = "{\"another\": 1}";
	send_post(&first);
	assert_int_equal(send_post(&again)->code, ERR_IN_PROGRESS);
	assert_int_equal(send_post(&other)->code, ERR_IDEMPOTENCY_REUSED);
	pg_fixture_run(&server, "UPDATE idempotency SET reserved_until = now() - interval '1 s'");
	assert_int_equal(send_post(&other)->code, ERR_IDEMPOTENCY_REUSED);
	assert_int_equal(send_post(&again)->status, 201);
	assert_int_equal(made_count(), 1);
}

static void lose_the_reservation(struct request *rq)
{
	call_out(rq);
	pg_fixture_run(&server, "UPDATE idempotency SET owner = uuid_v7()");
}

/* Another request has taken the reservation over while this one was stopped. */
static void test_lost_reservation_leaves_nothing(void **state)
{
	(void)state;
	struct post post = reserved_post_with("key-13", lose_the_reservation);
	assert_int_equal(send_post(&post)->code, ERR_UNCERTAIN);
	assert_int_equal(made_count(), 0);
	assert_int_equal(pg_fixture_run(&server, "SELECT count(answer) FROM idempotency"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_repeated_request_gets_the_first_answer, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_compressed_answer_is_the_same, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_large_answers_have_a_limited_room, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_large_answer_of_what_converges_is_not_kept,
	                                        setup, teardown),
		cmocka_unit_test_setup_teardown(test_short_answer_is_stored_as_it_is, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_requests_that_are_not_repetitions, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_bad_keys, setup, teardown),
		cmocka_unit_test_setup_teardown(test_first_request_still_running, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_of_concurrent_requests_has_an_effect,
	                                        setup, teardown),
		cmocka_unit_test_setup_teardown(test_failures_are_not_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(test_record_expires_after_a_day, setup, teardown),
		cmocka_unit_test_setup_teardown(test_changed_secret, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lost_connection_leaves_nothing, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_reserved_key_keeps_the_answer, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_reservation_ends_by_itself, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lost_reservation_leaves_nothing, setup,
	                                        teardown),
	};
	return cmocka_run_group_tests(tests, start_with_schema, stop_server);
}
