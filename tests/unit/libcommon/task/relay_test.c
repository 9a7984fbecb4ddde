#include "json/json.h"
#include "observe/metrics.h"
#include "pg/pg.h"
#include "task/outbox.h"
#include "tasks_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#define ACCOUNT "01900000-0000-7000-8000-000000000001"
#define UNSENT  "SELECT count(*) FROM outbox WHERE sent_at IS NULL"

/* Batches that have a number: a sender asks for it just before it calls Redis. */
#define NUMBERED "SELECT last_value FROM outbox_batch"

/* The entries of the stream are numbered 1 to n, apart from those that repeat an earlier one: n.
 * Negative: one came too early. */
#define COUNT_IN_ORDER                                                                 \
	"local expected = 0 "                                                          \
	"for _, entry in ipairs(redis.call('XRANGE', 'events.numbers', '-', '+')) do " \
	"  local n = cjson.decode(entry[2][10]).n "                                    \
	"  if n > expected + 1 then return -n end "                                    \
	"  expected = math.max(expected, n) "                                          \
	"end "                                                                         \
	"return expected"

static void emit(int first, int count)
{
	sql("SELECT count(event_emit('events.numbers', 'number', '" ACCOUNT
	    "', jsonb_build_object('n', n))) FROM generate_series(%d, %d) AS n",
	    first, first + count - 1);
}

/* Redis answers nobody, so the other replica's relay waits inside its call, and is stopped
 * there. */
static void test_a_stopped_relay_is_taken_over(void **state)
{
	(void)state;
	lease_term_ms = 2000;
	pid_t pid = replica_start(NULL, NULL);
	emit(1, 10);
	until_sql(0, UNSENT);
	redis_number("CLIENT PAUSE 600000 WRITE");
	emit(11, 10);
	until_sql(2, NUMBERED);
	kill(pid, SIGSTOP);
	redis_number("CLIENT UNPAUSE");
	service_start(NULL, NULL);
	until_sql(0, UNSENT);
	assert_int_equal(redis_number("EVAL %s 0", COUNT_IN_ORDER), 20);
	kill(pid, SIGCONT);
	emit(21, 10);
	until_sql(0, UNSENT);
	assert_int_equal(redis_number("EVAL %s 0", COUNT_IN_ORDER), 30);
	replica_kill(pid);
}

static void test_no_transaction_is_open_while_redis_is_called(void **state)
{
	(void)state;
	service_start(NULL, NULL);
	/* No look for replays, which would wait for Redis before the batch has its number. */
	tasks_timing.sweep = FIXTURE_TIMEOUT_MS;
	emit(1, 1);
	until_sql(0, UNSENT);
	redis_number("CLIENT PAUSE 600000 WRITE");
	emit(2, 1);
	until_sql(2, NUMBERED);
	assert_int_equal(
		sql("SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in trans%%'"), 0);
	assert_int_equal(sql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"), 0);
	redis_number("CLIENT UNPAUSE");
	until_sql(0, UNSENT);
}

static int handled;

static void on_number(struct request *rq, const struct event *event)
{
	(void)rq, (void)event;
	handled++;
}

static const struct event_handler HANDLERS[] = {{"events.numbers", "number", on_number}, {NULL}};

#define SETTLED_NOW \
	"SELECT count(*) FROM event_settled WHERE settled_at > now() - interval '1 hour'"

/* The outbox keeps them for another reader, which is away. */
static void test_what_is_sent_again_after_weeks_is_not_handled_again(void **state)
{
	(void)state;
	handled = 0;
	service_start(NULL, HANDLERS);
	emit(1, 5);
	until_sql(5, SETTLED_NOW);
	until_sql(0, UNSENT);
	service_stop();
	sql("UPDATE outbox SET sent_at = now() - interval '20 days'");
	sql("UPDATE event_settled SET settled_at = now() - interval '20 days'");
	sql("INSERT INTO event_settled SELECT 'events.numbers', md5('old')::uuid, now() - "
	    "interval '40 days'");
	service_start(NULL, HANDLERS);
	until_sql(0, "SELECT count(*) FROM event_settled WHERE event_hash = md5('old')::uuid");
	redis_number("FLUSHALL");
	emit(6, 1);
	until_redis(6, "XLEN events.numbers");
	until_sql(6, SETTLED_NOW);
	assert_int_equal(handled, 6);
}

static int notified;

static void on_outbox(void *context attr_unused)
{
	notified++;
}

static void emit_unhurried(struct request *rq)
{
	pg_query(rq, "SELECT event_emit('events.numbers', 'number', NULL, '{}')");
	assert_int_equal(notified, 1);
	pg_query(rq, "SELECT set_config('expops.is_unhurried', 'on', true), "
	             "event_emit('events.numbers', 'number', NULL, '{}')");
	assert_int_equal(notified, 1);
	pg_query(rq, "SELECT event_emit('events.numbers', 'number', NULL, '{}')");
	assert_int_equal(notified, 2);
}

static void test_nobody_is_notified_of_rows_that_nobody_waits_for(void **state)
{
	(void)state;
	static const struct pg_notice NOTICES[] = {{"XO001", on_outbox}, {NULL}};
	notified = 0;
	pg_on_notices(fixture.worker.pg, NOTICES, NULL);
	fixture_run(&fixture, emit_unhurried, NULL);
	service_start(NULL, NULL);
	until_sql(0, UNSENT);
}

/* A relay that was stopped just before its call: its fence is older than the one in Redis. */
static void send_late(struct request *rq)
{
	struct tasks tasks = {.fence_key = "fence", .batch_key = "batch"};
	static const char *const FIELDS[] = {"n", "1"};
	static const struct {
		struct publication_state state;
		enum publication_outcome outcome;
		int64_t number;
	} CASES[] = {
		{{.fence = 5, .numbered_batch = 1, .batch = 2}, PUBLICATION_ADDED, 1},
		{{.fence = 4, .sent_batch = 2, .numbered_batch = 2, .batch = 3},
	         PUBLICATION_FENCED,
	         5},
		{{.fence = 5, .sent_batch = 2, .numbered_batch = 2, .batch = 3},
	         PUBLICATION_ADDED,
	         1},
		{{.fence = 6, .sent_batch = 4, .numbered_batch = 4, .batch = 5},
	         PUBLICATION_LOST,
	         3},
		{{.fence = 6, .sent_batch = 1, .numbered_batch = 1, .batch = 2},
	         PUBLICATION_RESTORED,
	         3},
	};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		struct publication publication = publication_new(rq, &tasks, &CASES[i].state);
		publication_add(&publication, "events.numbers", FIELDS, ARRAY_LEN(FIELDS));
		struct publication_result result = publication_send(&publication);
		assert_int_equal(result.outcome, CASES[i].outcome);
		assert_int_equal(result.number, CASES[i].number);
	}
	*(bool *)rq->user = true;
}

static void test_a_late_sender_is_refused(void **state)
{
	(void)state;
	bool is_over = false;
	request_spawn(&fixture.worker, "late", FIXTURE_TIMEOUT_MS, send_late, NULL, &is_over);
	fixture_until(&fixture, &is_over);
	assert_int_equal(redis_number("XLEN events.numbers"), 2);
}

/* Postgres goes back to an earlier point while Redis stays. */
static void test_events_are_sent_again_after_postgres_was_restored(void **state)
{
	(void)state;
	service_start(NULL, NULL);
	emit(1, 5);
	until_sql(0, UNSENT);
	sql("CREATE TABLE saved AS SELECT * FROM outbox");
	long batch = sql("SELECT last_value FROM outbox_batch");
	emit(6, 5);
	until_sql(0, UNSENT);
	service_stop();
	sql("DELETE FROM outbox WHERE id NOT IN (SELECT id FROM saved)");
	sql("UPDATE lease SET fence = 0, until = 'epoch'");
	sql("SELECT setval('outbox_batch', %ld)", batch);
	service_start(NULL, NULL);
	until_redis(15, "XLEN events.numbers");
	until_sql(0, UNSENT);
	emit(11, 5);
	until_redis(20, "XLEN events.numbers");
	until_sql(0, UNSENT);
}

#define MANY 12000

/* As if the outbox were so large that a statement for all of its rows takes too long. */
static void limit_updates(void)
{
	sql("CREATE FUNCTION limit_updates() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
	    "IF (SELECT count(*) FROM changed) > 5000 THEN RAISE query_canceled; END IF; RETURN "
	    "NULL; END $$");
	sql("CREATE TRIGGER limited AFTER UPDATE ON outbox REFERENCING NEW TABLE AS changed "
	    "FOR EACH STATEMENT EXECUTE FUNCTION limit_updates()");
}

/* The relay has sent many events, and goes on. */
static void send_many(void)
{
	limit_updates();
	sql("INSERT INTO outbox (stream, type, data, sent_at, sent_batch) "
	    "SELECT 'events.numbers', 'number', '{}', now(), nextval('outbox_batch') "
	    "FROM generate_series(1, %d)",
	    MANY);
	redis_number("SET batch.svc-test %d", MANY);
	service_start(NULL, NULL);
	emit(1, 1);
	until_redis(1, "XLEN events.numbers");
	until_sql(0, UNSENT);
}

static void test_many_events_are_sent_again_after_redis_lost_them(void **state)
{
	(void)state;
	send_many();
	redis_number("FLUSHALL");
	until_redis(MANY + 1, "XLEN events.numbers");
}

static void test_many_events_are_sent_again_after_postgres_was_restored(void **state)
{
	(void)state;
	send_many();
	redis_number("SET batch.svc-test %d", 10 * MANY);
	until_redis(MANY + 2, "XLEN events.numbers");
}

static void test_many_events_are_sent_again_for_a_reader(void **state)
{
	(void)state;
	send_many();
	redis_number("SET events.numbers.replay.svc-test %s", "0 9000000000000");
	until_redis(MANY + 2, "XLEN events.numbers");
}

/* The gauge in seconds. */
static double oldest_seconds(void)
{
	static const char NAME[] = "\nexpops_outbox_oldest_seconds ";
	struct arena *arena = arena_new();
	const char *line = strstr(metrics_text(arena), NAME);
	double seconds = line ? strtod(line + strlen(NAME), NULL) : 0;
	arena_free(arena);
	return seconds;
}

/* The process that holds the lease does nothing. */
static void test_every_replica_measures_how_long_rows_wait(void **state)
{
	(void)state;
	sql("INSERT INTO lease VALUES ('outbox', 'stopped', now() + interval '1 hour', 7)");
	emit(1, 3);
	sql("UPDATE outbox SET created_at = now() - interval '1 hour'");
	service_start(NULL, NULL);
	fixture_wait_start(&fixture);
	while (oldest_seconds() < 3600)
		fixture_turn(&fixture);
	uv_timer_stop(&fixture.tick);
	assert_int_equal(sql(UNSENT), 3);
	sql("UPDATE lease SET until = now()");
	service_stop();
	service_start(NULL, NULL);
	until_sql(0, UNSENT);
	fixture_wait_start(&fixture);
	while (oldest_seconds() > 0)
		fixture_turn(&fixture);
	uv_timer_stop(&fixture.tick);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, tasks_setup, tasks_teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_a_stopped_relay_is_taken_over),
		CASE(test_no_transaction_is_open_while_redis_is_called),
		CASE(test_nobody_is_notified_of_rows_that_nobody_waits_for),
		CASE(test_a_late_sender_is_refused),
		CASE(test_events_are_sent_again_after_postgres_was_restored),
		CASE(test_many_events_are_sent_again_after_redis_lost_them),
		CASE(test_many_events_are_sent_again_after_postgres_was_restored),
		CASE(test_many_events_are_sent_again_for_a_reader),
		CASE(test_what_is_sent_again_after_weeks_is_not_handled_again),
		CASE(test_every_replica_measures_how_long_rows_wait),
	};
	return cmocka_run_group_tests(tests, tasks_group_setup, tasks_group_teardown);
}
