#include "base/json.h"
#include "base/timefmt.h"
#include "pg/pg.h"
#include "tasks_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#define ACCOUNT "01900000-0000-7000-8000-000000000001"

#define PENDING "return #redis.call('XPENDING', 'events.numbers', 'svc-test', '-', '+', 9)"
#define ACKNOWLEDGE                                                                                \
	"for _, entry in ipairs(redis.call('XRANGE', 'events.numbers', '-', '+', 'COUNT', 3)) do " \
	"redis.call('XACK', 'events.numbers', 'slow', entry[1]) end return 1"

/* What the handlers saw. */
static struct {
	int64_t numbers[2048];
	int count, others, broadcasts, new_ones;
	int failures_left, refused;
	bool is_down, is_in_order;
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
		raise_error(rq, ERR_UNAVAILABLE, "down");
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

static void on_broadcast(struct request *rq, const struct event *event)
{
	(void)rq, (void)event;
	seen.broadcasts++;
}

static void on_once(struct request *rq, const struct event *event)
{
	pg_begin(rq);
	if (event_is_new(rq, event))
		seen.new_ones++;
	pg_commit(rq);
	seen.count++;
}

static const struct event_handler HANDLERS[] = {
	{"events.numbers", "number", on_number, false},
	{"events.numbers", NULL, on_broadcast, true},
	{"events.others", NULL, on_any, false},
	{"events.others", "counted", on_any, false},
	{"events.once", NULL, on_once, false},
	{NULL},
};

static int setup(void **state)
{
	memset(&seen, 0, sizeof(seen));
	seen.is_in_order = true;
	return tasks_setup(state);
}

/* `count` events, numbered from `first`, one after the other. */
static void emit(const char *stream, const char *type, int first, int count)
{
	sql("SELECT count(event_emit('%s', '%s', '" ACCOUNT "', jsonb_build_object('n', n))) "
	    "FROM generate_series(%d, %d) AS n",
	    stream, type, first, first + count - 1);
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
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		tasks_replica("other");
		service_start(NULL, NULL);
		for (;;)
			uv_run(&fixture.worker.loop, UV_RUN_ONCE);
	}
	service_start(NULL, HANDLERS);
	for (int i = 0; i < 20; i++) {
		emit("events.numbers", "number", 1 + i * 30, 30);
		uv_run(&fixture.worker.loop, UV_RUN_ONCE);
	}
	until_count(&seen.count, 600);
	assert_int_equal(seen.count, 600);
	assert_true(seen.is_in_order);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
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
	assert_int_equal(redis_number("XLEN events.dead"), 0);
}

static void test_a_failed_delivery_is_retried_in_order(void **state)
{
	(void)state;
	seen.failures_left = 5;
	service_start(NULL, HANDLERS);
	emit("events.numbers", "number", 1, 3);
	until_count(&seen.count, 3);
	assert_true(seen.is_in_order);
	assert_int_equal(redis_number("EXISTS events.dead"), 0);
}

static void test_an_event_that_always_fails_goes_to_events_dead(void **state)
{
	(void)state;
	seen.failures_left = 10;
	service_start(NULL, HANDLERS);
	emit("events.numbers", "number", 1, 3);
	until_count(&seen.count, 2);
	assert_int_equal(seen.numbers[0], 2);
	assert_int_equal(redis_number("XLEN events.dead"), 1);
	redis_number("XADD events.numbers * type number data {broken");
	until_redis(2, "XLEN events.dead");
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
	assert_int_equal(redis_number("XLEN events.dead"), 0);
}

static void test_event_is_new_detects_a_second_delivery(void **state)
{
	(void)state;
	service_start(NULL, HANDLERS);
	for (int i = 0; i < 2; i++)
		redis_number("XADD events.once * id " ACCOUNT " type x account %s at "
		             "2026-01-31T09:30:00.000Z data {}",
		             "");
	until_count(&seen.count, 2);
	until_count(&seen.new_ones, 1);
	assert_int_equal(seen.new_ones, 1);
}

static void test_a_broadcast_begins_after_the_newest_entry(void **state)
{
	(void)state;
	redis_number("XADD events.numbers * id " ACCOUNT " type old account %s at "
	             "2026-01-31T09:30:00.000Z data {}",
	             "");
	service_start(NULL, HANDLERS);
	until_script(1, "return #redis.call('XINFO', 'GROUPS', 'events.numbers')");
	emit("events.numbers", "number", 1, 40);
	until_count(&seen.count, 40);
	fixture_wait_start(&fixture);
	while (seen.broadcasts < 39) /* the first may come before its reader has begun */
		fixture_turn(&fixture);
	uv_timer_stop(&fixture.tick);
	assert_in_range(seen.broadcasts, 39, 40);
}

static void test_events_are_sent_again_after_redis_lost_them(void **state)
{
	(void)state;
	service_start(NULL, HANDLERS);
	emit("events.numbers", "number", 1, 10);
	until_count(&seen.count, 10);
	until_sql(0, "SELECT count(*) FROM outbox WHERE sent_at IS NULL");
	redis_number("FLUSHALL");
	until_count(&seen.count, 20);
	redis_fixture_kill(&redis_server);
	emit("events.numbers", "number", 11, 5);
	redis_fixture_start(&redis_server);
	until_count(&seen.count, 35);
	until_redis(15, "XLEN events.numbers");
	assert_int_equal(seen.numbers[34], 15);
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

static void test_streams_are_trimmed_up_to_the_slowest_group(void **state)
{
	(void)state;
	tasks_timing.keep = 0;
	redis_number("XGROUP CREATE events.others svc-test 0 MKSTREAM");
	service_start(NULL, HANDLERS);
	redis_number("XGROUP CREATE events.numbers slow 0 MKSTREAM");
	emit("events.numbers", "number", 1, 10);
	until_count(&seen.count, 10);
	emit("events.others", "else", 1, 5);
	until_redis(1, "XLEN events.others"); /* the newest is the last that was delivered */
	assert_int_equal(redis_number("XLEN events.numbers"), 10);
	redis_number("XREADGROUP GROUP slow one COUNT 4 STREAMS events.numbers >");
	until_redis(10, "XLEN events.numbers");
	redis_number("EVAL %s 0", ACKNOWLEDGE);
	until_redis(7, "XLEN events.numbers");
	tasks_timing.keep = 3600000;
}

/* A replica was killed with unacknowledged entries. */
static void test_entries_of_a_killed_consumer_are_taken_over(void **state)
{
	(void)state;
	char now[TIME_TEXT_LEN + 1], data[32];
	time_format(time_now_ms(), now);
	redis_number("XGROUP CREATE events.numbers svc-test 0 MKSTREAM");
	for (int i = 1; i <= 3; i++) {
		snprintf(data, sizeof(data), "{\"n\":%d}", i);
		redis_number("XADD events.numbers * id " ACCOUNT " type number account " ACCOUNT
		             " at %s data %s",
		             now, data);
	}
	redis_number("XREADGROUP GROUP svc-test killed COUNT 3 STREAMS events.numbers >");
	tasks_lease(600);
	service_start(NULL, HANDLERS);
	until_count(&seen.count, 3);
	assert_true(seen.is_in_order);
	until_script(0, PENDING);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, tasks_teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_events_arrive_in_order),
		CASE(test_two_relays_keep_the_order),
		CASE(test_events_go_to_matching_handlers),
		CASE(test_a_failed_delivery_is_retried_in_order),
		CASE(test_an_event_that_always_fails_goes_to_events_dead),
		CASE(test_transient_failures_are_retried_without_limit),
		CASE(test_event_is_new_detects_a_second_delivery),
		CASE(test_a_broadcast_begins_after_the_newest_entry),
		CASE(test_events_are_sent_again_after_redis_lost_them),
		CASE(test_no_event_is_lost_when_postgres_crashes),
		CASE(test_streams_are_trimmed_up_to_the_slowest_group),
		CASE(test_entries_of_a_killed_consumer_are_taken_over),
	};
	return cmocka_run_group_tests(tests, tasks_group_setup, tasks_group_teardown);
}
