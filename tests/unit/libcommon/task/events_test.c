#include "base/timefmt.h"
#include "json/json.h"
#include "loop/wait.h"
#include "pg/pg.h"
#include "tasks_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#define ACCOUNT "01900000-0000-7000-8000-000000000001"

#define OTHER "01900000-0000-7000-8000-000000000002"

#define UNSENT "SELECT count(*) FROM outbox WHERE sent_at IS NULL"

/* The reader `slow` has read up to the fourth entry. */
#define READ_FOUR                                                           \
	"local entries = redis.call('XRANGE', 'events.numbers', '-', '+') " \
	"redis.call('SET', 'events.numbers.position.slow', entries[4][1]) return 1"

/* What the handlers saw. */
static struct {
	int64_t numbers[2048];
	int count, others, new_ones;
	int failures_left, refused;
	bool is_down, is_in_order;
	int64_t of_account[2]; /* the newest number */
	int statements;
	int waiting, met;
	uint64_t left_ms;
} seen;

static void on_number(struct request *rq, const struct event *event)
{
	int64_t number = json_get_int(event->data, "n", -1);
	assert_string_equal(event->type, "number");
	assert_string_equal(event->account, ACCOUNT);
	assert_true(rq->caller.kind == KEY_SERVICE);
	assert_true(llabs(event->at_ms - time_now_ms()) < 3600000);
	if (seen.is_down) {
		seen.refused++;
		raise_error(rq, seen.refused % 2 ? ERR_UNAVAILABLE : ERR_RATE_LIMITED, "down");
	}
	if (seen.failures_left > 0) {
		seen.failures_left--;
		raise_error(rq, ERR_INTERNAL, "no");
	}
	if (seen.count > 0 && seen.numbers[seen.count - 1] >= number)
		seen.is_in_order = false;
	seen.numbers[seen.count++ % (int)ARRAY_LEN(seen.numbers)] = number;
}

static void on_any(struct request *rq, const struct event *event)
{
	(void)rq, (void)event;
	seen.others++;
}

static void on_once(struct request *rq, const struct event *event)
{
	seen.new_ones += pg_query(rq, "INSERT INTO once VALUES ($1) ON CONFLICT DO NOTHING",
	                          pg_text(event->id))
	                         ->affected;
	seen.count++;
}

/* Events of the two accounts. */
static void on_account(struct request *rq, const struct event *event)
{
	(void)rq;
	int which = strcmp(event->account, ACCOUNT) != 0;
	int64_t number = json_get_int(event->data, "n", -1);
	if (seen.of_account[which] >= number)
		seen.is_in_order = false;
	seen.of_account[which] = number;
	seen.count++;
}

/* Waits for the event of another lane. */
static void on_meeting(struct request *rq, const struct event *event)
{
	(void)event;
	seen.waiting++;
	while (seen.waiting < 2)
		fiber_sleep(rq, 1);
	seen.met++;
}

static void on_statement(struct request *rq, const struct event *event)
{
	static const char *const STATEMENTS[] = {
		"SELECT 1 / 0",
		"INSERT INTO narrow VALUES (NULL)",
		("INSERT INTO narrow SELECT string_agg(md5(i::text), '') "
	         "FROM generate_series(1, 400) i"),
	};
	int64_t number = json_get_int(event->data, "n", -1);
	seen.statements++;
	pg_query(rq, STATEMENTS[number % (int)ARRAY_LEN(STATEMENTS)]);
}

/* Fails first. */
static void on_large(struct request *rq, const struct event *event)
{
	(void)event;
	if (seen.count++ == 0)
		raise_error(rq, ERR_UNAVAILABLE, "not yet");
	seen.left_ms = request_left_ms(rq);
}

static const struct event_handler HANDLERS[] = {
	{"events.numbers", "number", on_number},
	{"events.others", NULL, on_any},
	{"events.others", "counted", on_any},
	{"events.once", NULL, on_once},
	{"events.accounts", "number", on_account},
	{"events.accounts", "statement", on_statement},
	{"events.accounts", "meeting", on_meeting},
	{"events.accounts", "large", on_large, .timeout_ms = 600000},
	{NULL},
};

static int setup(void **state)
{
	memset(&seen, 0, sizeof(seen));
	seen.is_in_order = true;
	int status = tasks_setup(state);
	if (status == 0)
		sql("CREATE TABLE once (event_id uuid PRIMARY KEY)");
	return status;
}

/* `count` events, numbered from `first`, one after the other. */
static void emit(const char *stream, const char *type, int first, int count)
{
	sql("SELECT count(event_emit('%s', '%s', '" ACCOUNT "', jsonb_build_object('n', n))) "
	    "FROM generate_series(%d, %d) AS n",
	    stream, type, first, first + count - 1);
}

/* Events of an account. */
static void emit_for(const char *account, int first, int count)
{
	sql("SELECT count(event_emit('events.accounts', 'number', '%s', jsonb_build_object('n', "
	    "n))) "
	    "FROM generate_series(%d, %d) AS n",
	    account, first, first + count - 1);
}

static void until_count(const int *counter, int count)
{
	fixture_wait_start(&fixture);
	while (*counter < count)
		fixture_turn(&fixture);
	uv_timer_stop(&fixture.tick);
}

static void test_events_arrive_in_order(void **state)
{
	(void)state;
	emit("events.numbers", "number", 1, 350);
	service_start(NULL, HANDLERS);
	emit("events.numbers", "number", 351, 50);
	emit("events.numbers", "number", 401, 200);
	until_count(&seen.count, 600);
	assert_int_equal(seen.count, 600);
	assert_true(seen.is_in_order);
	until_sql(0, "SELECT count(*) FROM outbox WHERE sent_at IS NULL");
}

/* Two replicas relay the same outbox: no event comes twice or out of order. */
static void test_two_relays_keep_the_order(void **state)
{
	(void)state;
	pid_t pid = replica_start(NULL, NULL);
	service_start(NULL, HANDLERS);
	for (int i = 0; i < 20; i++) {
		emit("events.numbers", "number", 1 + i * 30, 30);
		uv_run(&fixture.worker.loop, UV_RUN_ONCE);
	}
	until_count(&seen.count, 600);
	assert_int_equal(seen.count, 600);
	assert_true(seen.is_in_order);
	replica_kill(pid);
}

/* Some events match by type, some match two handlers, some match no handler. */
static void test_events_go_to_matching_handlers(void **state)
{
	(void)state;
	service_start(NULL, HANDLERS);
	emit("events.others", "counted", 1, 3);
	emit("events.others", "else", 1, 2);
	emit("events.numbers", "else", 1, 4);
	emit("events.unknown", "else", 1, 4);
	emit("events.numbers", "number", 1, 1);
	until_count(&seen.count, 1);
	until_count(&seen.others, 8);
	assert_int_equal(seen.others, 8);
	assert_int_equal(redis_number("XLEN events.dead.svc-test"), 0);
}

static void test_a_failed_delivery_is_retried_in_order(void **state)
{
	(void)state;
	seen.failures_left = 5;
	service_start(NULL, HANDLERS);
	emit("events.numbers", "number", 1, 3);
	until_count(&seen.count, 3);
	assert_true(seen.is_in_order);
	assert_int_equal(redis_number("EXISTS events.dead.svc-test"), 0);
}

static void test_an_event_has_the_time_of_its_handler_for_another_try(void **state)
{
	(void)state;
	service_start(NULL, HANDLERS);
	emit("events.accounts", "large", 1, 1);
	until_count(&seen.count, 2);
	assert_true(seen.left_ms > 300000 && seen.left_ms <= 600000);
}

static void test_an_event_that_always_fails_goes_to_events_dead(void **state)
{
	(void)state;
	seen.failures_left = 10;
	service_start(NULL, HANDLERS);
	emit("events.numbers", "number", 1, 3);
	until_count(&seen.count, 2);
	assert_int_equal(seen.numbers[0], 2);
	assert_int_equal(redis_number("XLEN events.dead.svc-test"), 1);
	redis_number("XADD events.numbers * type number data {broken");
	until_redis(2, "XLEN events.dead.svc-test");
}

static void test_an_event_that_was_given_up_is_tried_when_it_is_sent_again(void **state)
{
	(void)state;
	seen.failures_left = 10;
	service_start(NULL, HANDLERS);
	emit("events.numbers", "number", 1, 3);
	until_redis(1, "XLEN events.dead.svc-test");
	until_count(&seen.count, 2);
	sql("UPDATE outbox SET sent_at = NULL");
	until_count(&seen.count, 3);
	assert_int_equal(seen.numbers[2], 1);
	emit("events.numbers", "number", 4, 1);
	until_count(&seen.count, 4);
	assert_int_equal(seen.numbers[3], 4);
}

/* A transient error in more than ten tries: no event goes to events.dead. */
static void test_transient_failures_are_retried_without_limit(void **state)
{
	(void)state;
	seen.is_down = true;
	service_start(NULL, HANDLERS);
	emit("events.numbers", "number", 1, 20);
	until_count(&seen.refused, 25);
	seen.is_down = false;
	until_count(&seen.count, 20);
	assert_int_equal(seen.count, 20);
	assert_true(seen.is_in_order);
	assert_int_equal(redis_number("XLEN events.dead.svc-test"), 0);
}

/* All are sent again, and the reader skips those that it has handled. */
static void test_events_are_sent_again_after_redis_lost_them(void **state)
{
	(void)state;
	service_start(NULL, HANDLERS);
	emit("events.numbers", "number", 1, 10);
	until_count(&seen.count, 10);
	until_sql(0, "SELECT count(*) FROM outbox WHERE sent_at IS NULL");
	redis_number("FLUSHALL");
	until_redis(10, "XLEN events.numbers");
	redis_fixture_kill(&redis_server);
	emit("events.numbers", "number", 11, 5);
	redis_fixture_start(&redis_server);
	until_redis(15, "XLEN events.numbers");
	until_count(&seen.count, 15);
	assert_int_equal(seen.count, 15);
	assert_true(seen.is_in_order);
	until_sql(15, "SELECT count(*) FROM event_settled WHERE stream = 'events.numbers'");
}

/* Postgres rolls back a batch that Redis has: it is sent again, and no event is missing. */
static void test_no_event_is_lost_when_postgres_crashes(void **state)
{
	(void)state;
	service_start(NULL, HANDLERS);
	emit("events.numbers", "number", 1, 300);
	until_count(&seen.count, 20);
	pg_fixture_crash(&postgres);
	pg_fixture_start(&postgres);
	emit("events.numbers", "number", 301, 10);
	fixture_wait_start(&fixture);
	while (seen.numbers[(seen.count - 1) % (int)ARRAY_LEN(seen.numbers)] != 310)
		fixture_turn(&fixture);
	uv_timer_stop(&fixture.tick);
	assert_true(seen.count >= 310);
}

static void test_lanes_are_handled_at_the_same_time(void **state)
{
	(void)state;
	sql("SELECT count(event_emit('events.accounts', 'meeting', account, '{}')) "
	    "FROM unnest(ARRAY['" ACCOUNT "', '" OTHER "']::uuid[]) AS account");
	service_start(NULL, HANDLERS);
	until_count(&seen.met, 2);
	assert_int_equal(sql("SELECT count(*) FROM event_parked"), 0);
}

static void test_the_events_of_each_lane_arrive_in_order(void **state)
{
	(void)state;
	sql("SELECT count(event_emit('events.accounts', 'number', account, "
	    "jsonb_build_object('n', n))) "
	    "FROM generate_series(1, 200) AS n, "
	    "unnest(ARRAY['" ACCOUNT "', '" OTHER "']::uuid[]) AS account");
	service_start(NULL, HANDLERS);
	until_count(&seen.count, 400);
	assert_true(seen.is_in_order);
	assert_int_equal(seen.of_account[0], 200);
	assert_int_equal(seen.of_account[1], 200);
}

/* The reader has read the newest entry. */
#define READ_NEWEST                                                                        \
	"local newest = redis.call('XREVRANGE', 'events.once', '+', '-', 'COUNT', 1) "     \
	"return redis.call('GET', 'events.once.position.svc-test') == newest[1][1] and 1 " \
	"or 0"

/* The same id: one row of the outbox, sent once more; a reader that has handled it skips it, also
 * when it reads nothing else. */
static void test_an_event_that_is_sent_again_keeps_its_id(void **state)
{
	(void)state;
	service_start(NULL, HANDLERS);
	for (int i = 1; i <= 3; i++) {
		sql("SELECT count(event_send('" OTHER "', 'events.once', 'fact', 'acme/ranker', "
		    "NULL, '{}'))");
		until_sql(1, "SELECT count(*) FROM outbox WHERE sent_at IS NOT NULL");
		assert_int_equal(redis_number("XLEN events.once"), i);
		until_script(1, READ_NEWEST);
	}
	emit("events.once", "x", 1, 1);
	until_count(&seen.count, 2);
	assert_int_equal(seen.new_ones, 2);
	assert_int_equal(sql("SELECT count(*) FROM outbox"), 2);
}

/* SQLSTATE classes 22, 23 and 54: another delivery would fail the same way. */
static void test_wrong_data_go_to_events_dead_at_once(void **state)
{
	(void)state;
	sql("CREATE TABLE narrow (a text PRIMARY KEY)");
	service_start(NULL, HANDLERS);
	emit("events.accounts", "statement", 0, 3);
	until_redis(3, "XLEN events.dead.svc-test");
	assert_int_equal(seen.statements, 3);
	assert_int_equal(sql("SELECT count(*) FROM event_parked"), 0);
}

static void test_streams_are_trimmed_up_to_the_slowest_reader(void **state)
{
	(void)state;
	tasks_timing.keep = 0;
	service_start(NULL, HANDLERS);
	emit("events.numbers", "number", 1, 10);
	until_count(&seen.count, 10);
	emit("events.others", "else", 1, 5);
	until_redis(1, "XLEN events.others"); /* the newest is the readers' position */
	assert_int_equal(redis_number("XLEN events.numbers"), 10); /* `slow` was never there */
	redis_number("EVAL %s 0", READ_FOUR);
	until_redis(7, "XLEN events.numbers");
}

/* The event of nobody that takes its place is no event for handlers, and comes once. */
static void test_the_newest_entry_does_not_stay(void **state)
{
	(void)state;
	tasks_timing.keep = 0;
	service_start(NULL, HANDLERS);
	emit_for(ACCOUNT, 1, 3);
	until_count(&seen.count, 3);
	until_sql(1, "SELECT count(*) FROM outbox WHERE stream = 'events.accounts' AND "
	             "type = 'passed' AND account_id IS NULL AND sent_at IS NOT NULL");
	until_redis(1, "XLEN events.accounts");
	assert_int_equal(seen.count, 3);
	uint64_t until = time_monotonic_ms() + 5 * tasks_timing.trim;
	while (time_monotonic_ms() < until)
		uv_run(&fixture.worker.loop, UV_RUN_ONCE);
	assert_int_equal(sql("SELECT count(*) FROM outbox WHERE type = 'passed' AND stream = "
	                     "'events.accounts'"),
	                 1);
}

#define BURY                                                                         \
	"redis.call('XADD', 'events.dead.svc-test', '*', 'account', '" ACCOUNT "') " \
	"redis.call('XADD', 'events.dead.svc-test', '*', 'account', '" OTHER "') "   \
	"return 1"

static void test_dead_letters_of_deleted_accounts_go(void **state)
{
	(void)state;
	redis_number("EVAL %s 0", BURY);
	service_start(NULL, HANDLERS);
	sql("INSERT INTO deleted_account (id) VALUES ('" ACCOUNT "')");
	until_redis(1, "XLEN events.dead.svc-test");
}

#define OLD_ROWS "SELECT count(*) FROM event_settled WHERE settled_at < now() - interval '32 days'"

/* As many as come in a minute with 200 events a second. */
static void test_all_old_rows_are_deleted_in_one_pass(void **state)
{
	(void)state;
	tasks_timing.trim = 3600000;
	sql("INSERT INTO event_settled SELECT 'events.numbers', md5(n::text)::uuid, now() - "
	    "interval '33 days' FROM generate_series(1, 12000) AS n");
	sql("INSERT INTO event_settled SELECT 'events.numbers', md5('fresh')::uuid, now() - "
	    "interval '31 days'");
	assert_int_equal(sql(OLD_ROWS), 12000);
	service_start(NULL, HANDLERS);
	until_sql(0, OLD_ROWS);
	assert_int_equal(sql("SELECT count(*) FROM event_settled"), 1);
}

/* The reader is away while its events are sent, and Redis is emptied twice. */
static void test_a_reader_that_is_away_misses_nothing(void **state)
{
	(void)state;
	tasks_timing.keep = 0;
	service_start(NULL, NULL);
	emit("events.numbers", "number", 1, 5);
	until_sql(0, UNSENT);
	redis_number("FLUSHALL");
	until_redis(5, "XLEN events.numbers");
	emit("events.numbers", "number", 6, 5);
	until_sql(0, UNSENT);
	sql("UPDATE outbox SET sent_at = now() - interval '20 days'");
	redis_number("FLUSHALL");
	until_redis(10, "XLEN events.numbers");
	until_sql(0, UNSENT); /* or the next relay would send them a second time */
	service_stop();
	service_start(NULL, HANDLERS);
	until_count(&seen.count, 10);
	assert_true(seen.is_in_order);
}

/* A stream is cut while a reader is away; the writer sends what it misses from the outbox. */
static void test_a_reader_asks_for_what_its_stream_has_no_more(void **state)
{
	(void)state;
	service_start(NULL, HANDLERS);
	emit("events.others", "counted", 1, 5);
	until_count(&seen.others, 10);
	until_sql(1, "SELECT count(*) FROM event_position WHERE stream = 'events.others'");
	service_stop();
	tasks_timing.stream_max = 2;
	service_start(NULL, NULL);
	emit("events.others", "counted", 6, 20);
	until_sql(0, UNSENT);
	until_redis(2, "XLEN events.others");
	service_stop();
	tasks_timing.stream_max = 100000;
	service_start(NULL, HANDLERS);
	until_redis(1, "EXISTS events.others.replay.svc-test");
	until_redis(0, "EXISTS events.others.replay.svc-test");
	until_count(&seen.others, 2 * 25); /* what the margin sends again is skipped */
}

/* A stream is also cut while a reader is there and cannot go on. */
static void test_a_reader_that_was_held_up_asks_for_what_it_misses(void **state)
{
	(void)state;
	tasks_timing.stream_max = 2;
	service_start(NULL, HANDLERS);
	emit("events.accounts", "meeting", 1, 1);
	until_count(&seen.waiting, 1);
	emit_for(OTHER, 1, 20);
	until_sql(0, UNSENT);
	until_redis(2, "XLEN events.accounts");
	tasks_timing.stream_max = 100000;
	seen.waiting = 2;
	until_sql(20, "SELECT count(*) FROM event_settled s JOIN outbox o ON o.type = 'number' AND "
	              "s.event_hash = encode(substring(sha256(convert_to(o.event_id::text, "
	              "'UTF8')) FOR 16), 'hex')::uuid");
	assert_int_equal(seen.count, 20);
}

static void keep_stream(void)
{
}

static void trim_stream(void)
{
	redis_number("XTRIM events.once MAXLEN 1");
}

static void delete_stream(void)
{
	redis_number("DEL events.once");
}

/* The reader's database goes back to an earlier point; Redis is kept, and `cut` changes its
 * stream. */
static void restore_reader(void (*cut)(void))
{
	service_start(NULL, HANDLERS);
	emit("events.once", "x", 1, 5);
	until_count(&seen.new_ones, 5);
	until_sql(5, "SELECT count(*) FROM once");
	until_sql(1, "SELECT count(*) FROM event_position WHERE stream = 'events.once'");
	service_stop();
	sql("CREATE TABLE saved_position AS SELECT * FROM event_position");
	sql("CREATE TABLE saved_once AS SELECT * FROM once");
	sql("CREATE TABLE saved_settled AS SELECT * FROM event_settled");
	service_start(NULL, HANDLERS);
	emit("events.once", "x", 6, 5);
	until_count(&seen.new_ones, 10);
	until_sql(0, UNSENT);
	service_stop();
	sql("DELETE FROM once WHERE event_id NOT IN (SELECT event_id FROM saved_once)");
	sql("DELETE FROM event_settled WHERE event_hash NOT IN (SELECT event_hash FROM "
	    "saved_settled)");
	sql("UPDATE event_position p SET entry_id = s.entry_id FROM saved_position s WHERE "
	    "s.stream = p.stream");
	cut();
	service_start(NULL, HANDLERS);
	until_count(&seen.new_ones, 15);
	until_sql(10, "SELECT count(*) FROM once");
}

static void test_events_are_read_again_after_a_readers_database_was_restored(void **state)
{
	(void)state;
	restore_reader(keep_stream);
	assert_int_equal(redis_number("XLEN events.once"), 10);
}

static void test_events_are_sent_again_after_a_readers_database_was_restored(void **state)
{
	(void)state;
	restore_reader(trim_stream);
}

static void test_events_are_sent_again_after_a_stream_was_deleted(void **state)
{
	(void)state;
	restore_reader(delete_stream);
}

static void test_a_stopped_reader_is_taken_over(void **state)
{
	(void)state;
	lease_term_ms = 2000;
	pid_t pid = replica_start(NULL, HANDLERS);
	emit("events.numbers", "number", 1, 10);
	until_sql(1, "SELECT count(*) FROM event_position WHERE stream = 'events.numbers'");
	kill(pid, SIGSTOP);
	emit("events.numbers", "number", 11, 10);
	service_start(NULL, HANDLERS);
	until_count(&seen.count, 10);
	assert_true(seen.is_in_order);
	kill(pid, SIGCONT);
	emit("events.numbers", "number", 21, 10);
	while (seen.numbers[(seen.count - 1) % (int)ARRAY_LEN(seen.numbers)] != 30)
		fixture_turn(&fixture);
	assert_true(seen.is_in_order);
	replica_kill(pid);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, tasks_teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_events_arrive_in_order),
		CASE(test_two_relays_keep_the_order),
		CASE(test_events_go_to_matching_handlers),
		CASE(test_a_failed_delivery_is_retried_in_order),
		CASE(test_an_event_has_the_time_of_its_handler_for_another_try),
		CASE(test_an_event_that_always_fails_goes_to_events_dead),
		CASE(test_an_event_that_was_given_up_is_tried_when_it_is_sent_again),
		CASE(test_transient_failures_are_retried_without_limit),
		CASE(test_events_are_sent_again_after_redis_lost_them),
		CASE(test_no_event_is_lost_when_postgres_crashes),
		CASE(test_lanes_are_handled_at_the_same_time),
		CASE(test_the_events_of_each_lane_arrive_in_order),
		CASE(test_an_event_that_is_sent_again_keeps_its_id),
		CASE(test_wrong_data_go_to_events_dead_at_once),
		CASE(test_streams_are_trimmed_up_to_the_slowest_reader),
		CASE(test_the_newest_entry_does_not_stay),
		CASE(test_dead_letters_of_deleted_accounts_go),
		CASE(test_all_old_rows_are_deleted_in_one_pass),
		CASE(test_a_reader_that_is_away_misses_nothing),
		CASE(test_a_reader_asks_for_what_its_stream_has_no_more),
		CASE(test_a_reader_that_was_held_up_asks_for_what_it_misses),
		CASE(test_events_are_read_again_after_a_readers_database_was_restored),
		CASE(test_events_are_sent_again_after_a_readers_database_was_restored),
		CASE(test_events_are_sent_again_after_a_stream_was_deleted),
		CASE(test_a_stopped_reader_is_taken_over),
	};
	return cmocka_run_group_tests(tests, tasks_group_setup, tasks_group_teardown);
}
