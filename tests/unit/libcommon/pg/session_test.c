#include "pg/session.h"

#include "capture.h"
#include "observe/log.h"
#include "pg_server.h"

#include <string.h>

static char clerk_url[200];

/* The role `clerk` with what deploy/init.sql sets. */
static int setup(void **state)
{
	(void)state;
	pg_fixture_run(&server, "SET client_min_messages = error; DROP ROLE IF EXISTS clerk; "
	                        "CREATE ROLE clerk LOGIN; "
	                        "ALTER ROLE clerk SET search_path = shop; "
	                        "ALTER ROLE clerk SET timezone = 'UTC'; "
	                        "ALTER ROLE clerk SET statement_timeout = '30s'; "
	                        "ALTER ROLE clerk SET idle_in_transaction_session_timeout = '10s'; "
	                        "ALTER ROLE clerk SET tcp_keepalives_idle = 5; "
	                        "ALTER ROLE clerk SET tcp_keepalives_interval = 2; "
	                        "ALTER ROLE clerk SET tcp_keepalives_count = 3; "
	                        "ALTER ROLE clerk SET tcp_user_timeout = '10s'");
	snprintf(clerk_url, sizeof(clerk_url), "postgresql://clerk@localhost:%u/postgres",
	         server.port);
	return 0;
}

/* The code, and whether the log names the setting. */
static enum err_code check(const char *setting, bool *ret_is_named)
{
	char log[8192];
	struct capture output = capture_start(STDOUT_FILENO);
	enum err_code code = pg_session_check(clerk_url, "shop");
	capture_stop(&output, log, sizeof(log));
	*ret_is_named = strstr(log, setting) != NULL;
	return code;
}

static void test_a_complete_role(void **state)
{
	(void)state;
	bool is_named;
	assert_int_equal(check("lacks a setting", &is_named), ERR_NONE);
	assert_false(is_named);
}

static void test_a_role_with_another_schema_is_refused(void **state)
{
	(void)state;
	bool is_named;
	pg_fixture_run(&server, "ALTER ROLE clerk SET search_path = stock");
	assert_int_equal(check("search_path", &is_named), ERR_CONFLICT);
	assert_true(is_named);
}

static void test_a_role_with_another_time_zone_is_refused(void **state)
{
	(void)state;
	bool is_named;
	pg_fixture_run(&server, "ALTER ROLE clerk SET timezone = 'Asia/Tokyo'");
	assert_int_equal(check("TimeZone", &is_named), ERR_CONFLICT);
	assert_true(is_named);
}

static void test_a_missing_limit_is_logged(void **state)
{
	(void)state;
	bool is_named;
	pg_fixture_run(&server, "ALTER ROLE clerk RESET idle_in_transaction_session_timeout");
	assert_int_equal(check("idle_in_transaction_session_timeout", &is_named), ERR_NONE);
	assert_true(is_named);
}

static void test_a_refused_login(void **state)
{
	(void)state;
	bool is_named;
	pg_fixture_run(&server, "ALTER ROLE clerk NOLOGIN");
	assert_int_equal(check("\"28000\"", &is_named), ERR_UNAVAILABLE);
	assert_true(is_named);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_a_complete_role, setup),
		cmocka_unit_test_setup(test_a_role_with_another_schema_is_refused, setup),
		cmocka_unit_test_setup(test_a_role_with_another_time_zone_is_refused, setup),
		cmocka_unit_test_setup(test_a_missing_limit_is_logged, setup),
		cmocka_unit_test_setup(test_a_refused_login, setup),
	};
	return cmocka_run_group_tests(tests, start_server, stop_server);
}
