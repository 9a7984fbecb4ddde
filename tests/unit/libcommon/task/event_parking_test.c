#include "task/event_parking.h"

#include "json/json.h"
#include "loop/wait.h"
#include "pg/pg.h"
#include "tasks_fixture.h"

#define ACCOUNT "01900000-0000-7000-8000-000000000001"
#define OTHER   "01900000-0000-7000-8000-000000000002"

/* What the handlers saw. */
static struct {
	int count;
	bool is_in_order;
	int64_t of_account[2]; /* the newest number */
	bool is_poisoned, is_open;
	int tries_of_account, waits;
	int64_t of_lane[100]; /* the newest number */
} seen;

/* While it is poisoned, events of the first account fail. */
static void on_account(struct request *rq, const struct event *event)
{
	int which = strcmp(event->account, ACCOUNT) != 0;
	int64_t number = json_get_int(event->data, "n", -1);
	if (which == 0 && seen.is_poisoned) {
		seen.tries_of_account++;
		raise_error(rq, ERR_INTERNAL, "poison");
	}
	if (seen.of_account[which] >= number)
		seen.is_in_order = false;
	seen.of_account[which] = number;
	seen.count++;
}

/* While they are poisoned, events with an odd number fail. */
static void on_lane(struct request *rq, const struct event *event)
{
	int64_t number = json_get_int(event->data, "n", -1);
	assert_string_equal(event->account, "");
	if (number % 2 && seen.is_poisoned) {
		seen.tries_of_account++;
		raise_error(rq, ERR_INTERNAL, "poison");
	}
	if (seen.of_account[number % 2] >= number)
		seen.is_in_order = false;
	seen.of_account[number % 2] = number;
	seen.count++;
}

/* From the hundredth on, those of the first account wait for one of the second. */
static void on_flood(struct request *rq, const struct event *event)
{
	bool is_first = strcmp(event->account, ACCOUNT) == 0;
	seen.waits += is_first && seen.of_account[0] == 100;
	while (is_first && seen.of_account[0] >= 100 && seen.of_account[1] == 0)
		fiber_sleep(rq, 1);
	on_account(rq, event);
}

static void on_gate(struct request *rq, const struct event *event)
{
	while (!seen.is_open)
		fiber_sleep(rq, 1);
	on_account(rq, event);
}

static void on_numbered_lane(struct request *rq, const struct event *event)
{
	(void)rq;
	int64_t lane = json_get_int(event->data, "lane", -1);
	int64_t number = json_get_int(event->data, "n", -1);
	if (seen.of_lane[lane] != number - 1)
		seen.is_in_order = false;
	seen.of_lane[lane] = number;
	seen.count++;
}

static const struct event_handler HANDLERS[] = {
	{"events.accounts", "number", on_account},
	{"events.accounts", "lane", on_lane},
	{"events.accounts", "flood", on_flood},
	{"events.accounts", "gate", on_gate},
	{"events.accounts", "numbered lane", on_numbered_lane},
	{NULL},
};

static int setup(void **state)
{
	memset(&seen, 0, sizeof(seen));
	seen.is_in_order = true;
	return tasks_setup(state);
}

static void until_count(int count)
{
	fixture_wait_start(&fixture);
	while (seen.count < count)
		fixture_turn(&fixture);
	uv_timer_stop(&fixture.tick);
}

static void emit(const char *type, const char *account, int first, int count)
{
	sql("SELECT count(event_emit('events.accounts', '%s', '%s', jsonb_build_object('n', n))) "
	    "FROM generate_series(%d, %d) AS n",
	    type, account, first, first + count - 1);
}

static void test_a_failing_event_delays_only_its_account(void **state)
{
	(void)state;
	tasks_timing.retry = tasks_timing.retry_max = 600000;
	seen.is_poisoned = true;
	service_start(NULL, HANDLERS);
	emit("number", ACCOUNT, 1, 20);
	emit("number", OTHER, 1, 20);
	until_count(20);
	assert_int_equal(seen.of_account[1], 20);
	assert_int_equal(seen.tries_of_account, 1);
	until_sql(40, "SELECT count(*) FROM event_settled"); /* or they would come again */
	assert_int_equal(sql("SELECT count(*) FROM event_parked WHERE account = '" ACCOUNT "'"),
	                 20);
	seen.is_poisoned = false;
	service_stop();
	emit("number", ACCOUNT, 21, 5);
	sql("UPDATE event_parked SET next_try = now()");
	service_start(NULL, HANDLERS);
	until_count(45);
	assert_true(seen.is_in_order);
	assert_int_equal(seen.of_account[0], 25);
	until_sql(0, "SELECT count(*) FROM event_parked");
	assert_int_equal(redis_number("XLEN events.dead.svc-test"), 0);
}

/* Events about no account, of two lanes. */
static void send_in_lane(const char *lane, const char *number)
{
	sql("SELECT count(event_send(uuid_v7(), 'events.accounts', 'lane', '%s', NULL, "
	    "jsonb_build_object('n', %s)))",
	    lane, number);
}

static void test_a_failing_event_delays_only_its_lane(void **state)
{
	(void)state;
	tasks_timing.retry = tasks_timing.retry_max = 600000;
	seen.is_poisoned = true;
	service_start(NULL, HANDLERS);
	send_in_lane("acme/poison", "1");
	send_in_lane("acme/ranker", "2");
	send_in_lane("acme/poison", "3");
	send_in_lane("acme/ranker", "4");
	until_sql(4, "SELECT count(*) FROM event_settled"); /* or they would come again */
	assert_int_equal(sql("SELECT count(*) FROM event_parked WHERE lane = 'acme/poison'"), 2);
	assert_int_equal(seen.count, 2);
	assert_int_equal(seen.tries_of_account, 1);
	seen.is_poisoned = false;
	service_stop();
	sql("UPDATE event_parked SET next_try = now()");
	service_start(NULL, HANDLERS);
	until_count(4);
	assert_true(seen.is_in_order);
	until_sql(0, "SELECT count(*) FROM event_parked");
}

/* When too many wait behind it, the failing one is given up. */
static void test_an_accounts_parked_events_are_bounded(void **state)
{
	(void)state;
	tasks_timing.retry = tasks_timing.retry_max = 600000;
	seen.is_poisoned = true;
	service_start(NULL, HANDLERS);
	emit("number", ACCOUNT, 1, 1);
	until_sql(1, "SELECT count(*) FROM event_parked WHERE failures = 1");
	sql("INSERT INTO event_parked (stream, entry_id, account, event_id, type, at, data, "
	    "request_id, "
	    "lane, next_try) SELECT stream, n::text, account, event_id, 'else', at, '{}', '', "
	    "lane, "
	    "now() "
	    "FROM event_parked, generate_series(1, %d) n",
	    PARKED_OF_LANE);
	emit("number", ACCOUNT, 2, 1);
	until_redis(1, "XLEN events.dead.svc-test");
	assert_int_equal(seen.tries_of_account, 2);
}

/* Let the stream have all of them before its reader looks. */
static void send_all(void)
{
	service_start(NULL, NULL);
	until_sql(0, "SELECT count(*) FROM outbox WHERE sent_at IS NULL");
	service_stop();
}

/* When those of too many fail, the reader tries the next that fails where it is. The lanes are
 * counted at the end of a pass: the one that comes later is tried by the next. */
static void test_the_lanes_of_parked_events_are_bounded(void **state)
{
	(void)state;
	sql("INSERT INTO event_parked (stream, entry_id, account, event_id, type, at, data, "
	    "request_id, lane, next_try) "
	    "SELECT 'events.accounts', n, '', n, 'else', '', '{}', '', 'lane ' || n, "
	    "now() + CASE n WHEN -1 THEN interval '0' WHEN 0 THEN interval '1 second' "
	    "ELSE interval '1 hour' END "
	    "FROM generate_series(-1, %d) n",
	    PARKED_LANES_MAX);
	seen.is_poisoned = true;
	service_start(NULL, HANDLERS);
	until_sql(PARKED_LANES_MAX, "SELECT count(*) FROM event_parked");
	emit("number", ACCOUNT, 1, 1);
	fixture_wait_start(&fixture);
	while (seen.tries_of_account < 3)
		fixture_turn(&fixture);
	uv_timer_stop(&fixture.tick);
	assert_int_equal(sql("SELECT count(*) FROM event_parked WHERE account = '" ACCOUNT "'"), 0);
	sql("DELETE FROM event_parked");
	seen.is_poisoned = false;
	until_count(1);
}

/* Others do not wait until all events of an account that has many are handled. */
static void test_an_account_with_many_events_delays_only_itself(void **state)
{
	(void)state;
	tasks_timing.late = 0;
	emit("flood", ACCOUNT, 1, 1000);
	emit("flood", OTHER, 1, 1);
	send_all();
	service_start(NULL, HANDLERS);
	until_count(1001);
	assert_int_equal(seen.waits, 1); /* or it was given up, and tried again */
	until_sql(0, "SELECT count(*) FROM event_parked");
	emit("flood", ACCOUNT, 1001, 300);
	until_count(1301);
	assert_true(seen.is_in_order);
	assert_int_equal(seen.of_account[0], 1300);
	until_sql(1301, "SELECT count(*) FROM event_settled");
}

/* A read that ends in the middle is done again: what was parked of it, and tried since, is not. */
static void test_parked_events_are_settled_before_the_position(void **state)
{
	(void)state;
	tasks_timing.late = 0;
	emit("number", ACCOUNT, 1, 63);
	emit("gate", OTHER, 1, 1);
	send_all();
	service_start(NULL, HANDLERS);
	until_count(63);
	service_stop();
	assert_int_equal(sql("SELECT count(*) FROM event_settled"), 63);
	seen.is_open = true;
	service_start(NULL, HANDLERS);
	until_sql(64, "SELECT count(*) FROM event_settled");
	assert_int_equal(seen.count, 64);
	assert_true(seen.is_in_order);
}

/* Where nobody waits behind them, its events are handled as they come. */
static void test_many_events_are_not_parked_where_nobody_waits(void **state)
{
	(void)state;
	sql("CREATE TABLE ever_parked (id bigint)");
	sql("CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS "
	    "'BEGIN INSERT INTO ever_parked VALUES (NEW.id); RETURN NULL; END'");
	sql("CREATE TRIGGER note AFTER INSERT ON event_parked FOR EACH ROW EXECUTE FUNCTION "
	    "note()");
	emit("number", ACCOUNT, 1, 300);
	service_start(NULL, HANDLERS);
	until_count(300);
	assert_int_equal(sql("SELECT count(*) FROM ever_parked"), 0);
}

/* More lanes than a pass takes, and more events than a turn: of each lane in their order. */
static void test_parked_lanes_have_turns(void **state)
{
	(void)state;
	sql("INSERT INTO event_parked (stream, entry_id, account, event_id, type, at, data, "
	    "request_id, lane, next_try) "
	    "SELECT 'events.accounts', lane || '-' || n, '', gen_random_uuid(), 'numbered lane', "
	    "'2026-01-01T00:00:00Z', format('{\"lane\": %%s, \"n\": %%s}', lane, n), '', "
	    "CASE lane WHEN 0 THEN '' ELSE 'acme/lane' || lane END, "
	    "CASE WHEN lane = 7 AND n = 1 THEN now() + interval '1 hour' ELSE now() END "
	    "FROM generate_series(0, 39) AS lane, generate_series(1, 120) AS n ORDER BY n");
	service_start(NULL, HANDLERS);
	until_count(39 * 120);
	assert_true(seen.is_in_order);
	assert_int_equal(seen.of_lane[0], 120);
	assert_int_equal(seen.of_lane[7], 0);
	until_sql(120, "SELECT count(*) FROM event_parked");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, tasks_teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_a_failing_event_delays_only_its_account),
		CASE(test_a_failing_event_delays_only_its_lane),
		CASE(test_an_accounts_parked_events_are_bounded),
		CASE(test_the_lanes_of_parked_events_are_bounded),
		CASE(test_an_account_with_many_events_delays_only_itself),
		CASE(test_parked_events_are_settled_before_the_position),
		CASE(test_many_events_are_not_parked_where_nobody_waits),
		CASE(test_parked_lanes_have_turns),
	};
	return cmocka_run_group_tests(tests, tasks_group_setup, tasks_group_teardown);
}
