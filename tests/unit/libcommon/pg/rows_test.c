#include "pg/pg.h"
#include "pg_suite.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static int setup(void **state)
{
	(void)state;
	open_pool(&(struct pg_settings){.url = server.url});
	return 0;
}

/* The signal that ends a process which reads a value as `read` does; 0: none. */
static int signal_of(int64_t (*read)(const struct pg_rows *rows), const struct pg_rows *rows)
{
	pid_t child = fork();
	if (child == 0) {
		signal(SIGABRT, SIG_DFL); /* cmocka catches it */
		_exit(read(rows) < 0);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static int64_t read_existing(const struct pg_rows *rows)
{
	return pg_get_int(rows, 1, "b");
}

static int64_t read_missing(const struct pg_rows *rows)
{
	return pg_get_int(rows, 0, "d");
}

static int64_t read_row_behind(const struct pg_rows *rows)
{
	return pg_get_int(rows, 2, "a");
}

static int64_t read_only(const struct pg_rows *rows)
{
	return pg_value_int(rows, 0);
}

static void read_in_any_order(struct request *rq)
{
	struct pg_rows *rows =
		pg_query(rq, "SELECT n AS a, 2 * n AS b, 3 * n AS c FROM generate_series(1, 2) n");
	for (int row = 0; row < rows->count; row++) {
		static const char *const COLUMNS[] = {"a", "b", "c", "c", "a", "c", "b"};
		for (size_t i = 0; i < ARRAY_LEN(COLUMNS); i++)
			assert_int_equal(pg_get_int(rows, row, COLUMNS[i]),
			                 (row + 1) * (COLUMNS[i][0] - 'a' + 1));
	}
	assert_int_equal(signal_of(read_existing, rows), 0);
	assert_int_equal(signal_of(read_missing, rows), SIGABRT);
	assert_int_equal(signal_of(read_row_behind, rows), SIGABRT);
	assert_int_equal(signal_of(read_only, rows), SIGABRT);
}

static void test_values_are_found_by_name(void **state)
{
	(void)state;
	struct outcome outcome = {0};
	spawn(&outcome, read_in_any_order);
	fixture_idle(&fixture);
	assert_int_equal(outcome.code, ERR_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_values_are_found_by_name, setup, teardown),
	};
	return cmocka_run_group_tests(tests, start_server, stop_server);
}
