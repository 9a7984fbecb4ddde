#include "pg/batch.h"

#include "pg_suite.h"

#include <stdio.h>
#include <string.h>

/* Items are numbers. What is answered: the number, the size of the batch. Number 7 waits for the
 * test; number 0 has no row. The rows come in the reverse order. */
static const char SQL[] =
	"WITH items AS MATERIALIZED (SELECT * FROM unnest($1::uuid[], $2::int[], $3::text[]) "
	"WITH ORDINALITY AS i (account, number, text, n)), "
	"made AS (INSERT INTO t SELECT account, number, count(*) OVER (), text FROM items WHERE "
	"number <> 7 OR pg_advisory_xact_lock(7) IS NOT NULL RETURNING *) "
	"SELECT n, number, size, made.text FROM items JOIN made USING (number) WHERE number > 0 "
	"ORDER BY n "
	"DESC";

/* A request with an item, and its outcome. */
struct item_request {
	uint8_t account;
	int number, width;
	int rows, answer, size; /* 0: it failed */
	enum err_code code;
	int place; /* among all that are over, from 1 */
	bool violates, has_effects, is_over;
};

static int places;

static int setup(void **state)
{
	(void)state;
	pg_fixture_run(&server, "SET client_min_messages = error; DROP SCHEMA public CASCADE; "
	                        "CREATE SCHEMA public; CREATE TABLE t (account uuid, "
	                        "number int CONSTRAINT only_once PRIMARY KEY, size int, "
	                        "text text)");
	places = 0;
	pg_batch_lock_timeout = "1min";
	open_pool(&(struct pg_settings){.url = server.url, .connections = 4});
	return 0;
}

static void put(struct request *rq)
{
	struct item_request *item = rq->user;
	struct pg_rows *rows = NULL;
	const char *constraint = NULL;
	rq->caller.account.bytes[0] = item->account;
	const char *text = item->number % 2 ? "it says \"\\{,}\"" : NULL;
	item->code =
		pg_batch_try(rq, &rows, &constraint, SQL, pg_uuid(rq->caller.account),
	                     pg_text(arena_printf(rq->arena, "%*d", item->width, item->number)),
	                     pg_text(text));
	item->violates = constraint && strcmp(constraint, "only_once") == 0;
	item->has_effects = rq->has_effects;
	item->is_over = true;
	item->place = ++places;
	if (item->code)
		pg_raise(rq, item->code);
	item->rows = rows->count;
	assert_int_equal(rows->columns, 3);
	if (rows->count == 0)
		return;
	assert_true(text ? strcmp(pg_get(rows, 0, "text"), text) == 0 : !pg_get(rows, 0, "text"));
	item->answer = (int)pg_get_int(rows, 0, "number");
	item->size = (int)pg_get_int(rows, 0, "size");
}

static struct request *start(struct item_request *item)
{
	return fixture_spawn(&fixture, put, NULL, item);
}

static bool has_lock, may_unlock;

static void hold_lock(struct request *rq)
{
	pg_begin(rq);
	pg_query(rq, "SELECT pg_advisory_xact_lock(7)");
	has_lock = true;
	while (!may_unlock)
		pg_query(rq, "SELECT pg_sleep(0.01)");
	pg_commit(rq);
}

/* Let number 7 wait until may_unlock. */
static void lock(void)
{
	has_lock = may_unlock = false;
	request_spawn(&fixture.worker, "lock", FIXTURE_TIMEOUT_MS, hold_lock, NULL, NULL);
	fixture_until(&fixture, &has_lock);
}

/* Run the loop until number 7 waits, with `what` for its session. */
static void until_sent(const char *what)
{
	char sql[200];
	snprintf(sql, sizeof(sql), "SELECT %s FROM pg_stat_activity WHERE wait_event = 'advisory'",
	         what);
	fixture_wait_start(&fixture);
	while (pg_fixture_run(&server, sql) == 0)
		fixture_turn(&fixture);
	uv_timer_stop(&fixture.tick);
}

/* And until both its connection and its statement are slow. */
static void until_slow(void)
{
	until_sent("count(*)");
	fixture_wait_start(&fixture);
	for (int until = fixture.ticks_left - 8; fixture.ticks_left > until;)
		fixture_turn(&fixture);
	uv_timer_stop(&fixture.tick);
}

static long rows_of_table(void)
{
	return pg_fixture_run(&server, "SELECT count(*) FROM t");
}

static void test_requests_that_wait_share_a_statement(void **state)
{
	(void)state;
	struct item_request items[PG_BATCH_MAX + 9];
	for (size_t i = 0; i < ARRAY_LEN(items); i++) {
		items[i] = (struct item_request){.account = i % 3, .number = 100 + (int)i};
		start(&items[i]);
	}
	fixture_idle(&fixture);
	for (size_t i = 0; i < ARRAY_LEN(items); i++) {
		assert_int_equal(items[i].answer, 100 + i);
		assert_int_equal(items[i].size, i == 0 ? 1 : i <= PG_BATCH_MAX ? PG_BATCH_MAX : 8);
		assert_true(items[i].has_effects);
	}
}

static void test_an_item_without_a_row_gets_none(void **state)
{
	(void)state;
	struct item_request items[] = {{.number = 1}, {.number = 2}, {.number = 0}, {.number = 4}};
	for (size_t i = 0; i < ARRAY_LEN(items); i++)
		start(&items[i]);
	fixture_idle(&fixture);
	for (size_t i = 0; i < ARRAY_LEN(items); i++) {
		assert_int_equal(items[i].rows, items[i].number != 0);
		assert_int_equal(items[i].answer, items[i].number);
	}
}

static void test_batches_are_bounded_in_bytes(void **state)
{
	(void)state;
	static const int SIZES[] = {1, 2, 2, 1};
	struct item_request items[ARRAY_LEN(SIZES)];
	for (size_t i = 0; i < ARRAY_LEN(items); i++) {
		items[i] = (struct item_request){.number = 10 + (int)i,
		                                 .width = PG_BATCH_BYTES_MAX / 3 * 2};
		start(&items[i]);
	}
	fixture_idle(&fixture);
	for (size_t i = 0; i < ARRAY_LEN(items); i++)
		assert_int_equal(items[i].size, SIZES[i]);
}

static void test_only_the_item_fails_that_violates_a_constraint(void **state)
{
	(void)state;
	struct item_request items[] = {{.number = 1}, {.number = 2}, {.number = 1}, {.number = 4}};
	for (size_t i = 0; i < ARRAY_LEN(items); i++)
		start(&items[i]);
	fixture_idle(&fixture);
	for (size_t i = 0; i < ARRAY_LEN(items); i++) {
		bool is_refused = i == 2;
		assert_int_equal(items[i].code, is_refused ? ERR_CONFLICT : ERR_NONE);
		assert_int_equal(items[i].violates, is_refused);
		assert_int_equal(items[i].has_effects, !is_refused);
		assert_int_equal(items[i].size, !is_refused);
	}
	assert_int_equal(rows_of_table(), 3);
}

static void test_an_account_does_not_wait_for_another_one(void **state)
{
	(void)state;
	struct item_request waiting = {.account = 1, .number = 7};
	struct item_request other = {.account = 2, .number = 9};
	lock();
	start(&waiting);
	until_slow();
	start(&other);
	fixture_until(&fixture, &other.is_over);
	assert_int_equal(other.answer, 9);
	assert_false(waiting.is_over);
	may_unlock = true;
	fixture_idle(&fixture);
	assert_int_equal(waiting.answer, 7);
	assert_int_equal(pg_fixture_run(&server, "SELECT count(DISTINCT account) FROM t"), 2);
}

/* An account whose requests fill several batches delays another one's by one. */
static void test_accounts_take_turns(void **state)
{
	(void)state;
	struct item_request many[3 * PG_BATCH_MAX], other = {.account = 2, .number = 1};
	for (size_t i = 0; i < ARRAY_LEN(many); i++) {
		many[i] = (struct item_request){.account = 1, .number = 100 + (int)i};
		start(&many[i]);
	}
	start(&other);
	fixture_idle(&fixture);
	assert_in_range(other.place, 2, PG_BATCH_MAX + 1);
}

/* Those that share a statement with one that waits for a lock are tried alone. */
static void test_a_lock_does_not_hold_the_others(void **state)
{
	(void)state;
	struct item_request items[] = {{.number = 1}, {.account = 1, .number = 7}, {.number = 9}};
	pg_batch_lock_timeout = "10ms";
	lock();
	for (size_t i = 0; i < ARRAY_LEN(items); i++)
		start(&items[i]);
	fixture_until(&fixture, &items[2].is_over);
	assert_int_equal(items[2].answer, 9);
	assert_int_equal(items[2].size, 1);
	assert_false(items[1].is_over);
	may_unlock = true;
	fixture_idle(&fixture);
	assert_int_equal(items[1].answer, 7);
}

/* The account whose item has failed shares no statement with others for a while. */
static void test_an_account_that_fails_is_set_apart(void **state)
{
	(void)state;
	struct item_request slow = {.number = 7};
	struct item_request items[] = {{.account = 1, .number = 1},
	                               {.account = 1, .number = 2},
	                               {.account = 2, .number = 1}};
	struct item_request next[] = {{.account = 1, .number = 11},
	                              {.account = 2, .number = 12},
	                              {.account = 1, .number = 13}};
	lock();
	start(&slow);
	until_slow();
	for (size_t i = 0; i < ARRAY_LEN(items); i++)
		start(&items[i]);
	fixture_until(&fixture, &items[2].is_over);
	assert_int_equal(items[2].code, ERR_CONFLICT);
	for (size_t i = 0; i < ARRAY_LEN(next); i++)
		start(&next[i]);
	may_unlock = true;
	fixture_idle(&fixture);
	for (size_t i = 0; i < ARRAY_LEN(next); i++)
		assert_int_equal(next[i].answer, next[i].number);
	assert_int_equal(next[1].size, 1);
}

static void put_after(struct request *rq)
{
	struct item_request *item = rq->user;
	struct pg_rows *rows;
	rq->caller.account.bytes[0] = item->account;
	item->code = pg_batch_try_after(rq, &rows, NULL,
	                                &PG_CALL("INSERT INTO t VALUES (NULL, $1::int, 0)",
	                                         pg_int(1000 + item->number / 500)),
	                                &PG_CALL(SQL, pg_uuid(rq->caller.account),
	                                         pg_int(item->number), pg_null()));
	if (item->code)
		pg_raise(rq, item->code);
	item->size = (int)pg_get_int(rows, 0, "size");
}

/* The first statement of number 700 fails: that of number 600 has made the same row. */
static void test_a_first_statement_is_done_with_its_item(void **state)
{
	(void)state;
	struct item_request items[] = {{.number = 2500},
	                               {.number = 600},
	                               {.number = 700},
	                               {.number = 5}};
	for (size_t i = 0; i < ARRAY_LEN(items); i++)
		fixture_spawn(&fixture, put_after, NULL, &items[i]);
	fixture_idle(&fixture);
	for (size_t i = 0; i < ARRAY_LEN(items); i++)
		assert_int_equal(items[i].code, items[i].number == 700 ? ERR_CONFLICT : ERR_NONE);
	assert_int_equal(rows_of_table(), 6);
	assert_int_equal(pg_fixture_run(&server, "SELECT count(*) FROM t WHERE number = 700"), 0);
}

/* Not the next request, and not one that already waits, even if no other one comes. */
static void test_nobody_waits_for_a_slow_statement(void **state)
{
	(void)state;
	struct item_request slow = {.number = 7}, waiting = {.number = 8}, next = {.number = 9};
	lock();
	start(&slow);
	start(&waiting);
	fixture_until(&fixture, &waiting.is_over);
	until_slow();
	start(&next);
	fixture_until(&fixture, &next.is_over);
	assert_int_equal(waiting.answer, 8);
	assert_int_equal(next.answer, 9);
	assert_false(slow.is_over);
	may_unlock = true;
	fixture_idle(&fixture);
	assert_int_equal(slow.answer, 7);
}

/* Who has left before the statement was sent has changed nothing; who leaves later may have. */
static void test_a_cancelled_request_leaves(void **state)
{
	(void)state;
	struct item_request items[] = {{.number = 1}, {.number = 7}, {.number = 3}, {.number = 4}};
	struct request *requests[ARRAY_LEN(items)];
	lock();
	for (size_t i = 0; i < ARRAY_LEN(items); i++)
		requests[i] = start(&items[i]);
	fiber_cancel(requests[3]->fiber, ERR_TIMEOUT);
	until_slow();
	fiber_cancel(requests[1]->fiber, ERR_CLIENT_GONE);
	fixture_until(&fixture, &items[1].is_over);
	may_unlock = true;
	fixture_idle(&fixture);
	assert_int_equal(items[3].code, ERR_TIMEOUT);
	assert_false(items[3].has_effects);
	assert_int_equal(items[1].code, ERR_CLIENT_GONE);
	assert_true(items[1].has_effects);
	assert_int_equal(items[2].size, 2);
	assert_int_equal(rows_of_table(), 3);
}

/* As a process cancels them that ends. */
static void test_nothing_is_sent_for_cancelled_requests(void **state)
{
	(void)state;
	struct item_request items[PG_BATCH_MAX + 9];
	for (size_t i = 0; i < ARRAY_LEN(items); i++) {
		items[i] = (struct item_request){.number = 100 + (int)i};
		start(&items[i]);
	}
	request_list_cancel(fixture.worker.requests, ERR_UNAVAILABLE);
	fixture_idle(&fixture);
	for (size_t i = 0; i < ARRAY_LEN(items); i++) {
		assert_int_equal(items[i].code, ERR_UNAVAILABLE);
		assert_false(items[i].has_effects);
	}
	assert_int_equal(rows_of_table(), 0);
}

static void test_what_was_sent_is_uncertain_when_the_process_ends(void **state)
{
	(void)state;
	struct item_request items[] = {{.number = 1}, {.number = 7}, {.number = 3}};
	lock();
	for (size_t i = 0; i < ARRAY_LEN(items); i++)
		start(&items[i]);
	until_slow();
	request_list_cancel(fixture.worker.requests, ERR_UNAVAILABLE);
	fixture_idle(&fixture);
	assert_int_equal(items[0].code, ERR_NONE);
	for (size_t i = 1; i < ARRAY_LEN(items); i++) {
		assert_int_equal(items[i].code, ERR_UNCERTAIN);
		assert_true(items[i].has_effects);
	}
}

static void in_transaction(struct request *rq)
{
	pg_begin(rq);
	put(rq);
	pg_rollback(rq);
}

static void test_a_transaction_has_its_item_alone(void **state)
{
	(void)state;
	struct item_request item = {.number = 5};
	fixture_run(&fixture, in_transaction, &item);
	assert_int_equal(item.answer, 5);
	assert_int_equal(rows_of_table(), 0);
}

static void test_a_batch_whose_session_is_ended_runs_again(void **state)
{
	(void)state;
	struct item_request items[] = {{.number = 6}, {.number = 7}, {.number = 8}};
	lock();
	for (size_t i = 0; i < ARRAY_LEN(items); i++)
		start(&items[i]);
	until_sent("count(pg_terminate_backend(pid))");
	may_unlock = true;
	fixture_idle(&fixture);
	for (size_t i = 0; i < ARRAY_LEN(items); i++)
		assert_int_equal(items[i].answer, items[i].number);
	assert_int_equal(rows_of_table(), 3);
}

static void test_the_end_of_the_pool_ends_all(void **state)
{
	(void)state;
	struct item_request items[PG_BATCH_MAX + 9];
	for (size_t i = 0; i < ARRAY_LEN(items); i++) {
		items[i] = (struct item_request){.number = (int)i};
		start(&items[i]);
	}
	pg_pool_free(fixture.worker.pg);
	fixture_idle(&fixture);
	for (size_t i = 0; i < ARRAY_LEN(items); i++)
		assert_true(items[i].code);
	fixture_stop(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_requests_that_wait_share_a_statement, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_an_item_without_a_row_gets_none, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_batches_are_bounded_in_bytes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_only_the_item_fails_that_violates_a_constraint,
	                                        setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_account_does_not_wait_for_another_one,
	                                        setup, teardown),
		cmocka_unit_test_setup_teardown(test_accounts_take_turns, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_lock_does_not_hold_the_others, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_an_account_that_fails_is_set_apart, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_a_first_statement_is_done_with_its_item, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_nobody_waits_for_a_slow_statement, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_a_cancelled_request_leaves, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing_is_sent_for_cancelled_requests, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(
			test_what_was_sent_is_uncertain_when_the_process_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_transaction_has_its_item_alone, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(test_a_batch_whose_session_is_ended_runs_again,
	                                        setup, teardown),
		cmocka_unit_test_setup(test_the_end_of_the_pool_ends_all, setup),
	};
	return cmocka_run_group_tests(tests, start_server, stop_server);
}
