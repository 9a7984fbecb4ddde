#include "service/connections.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_shares(void **state)
{
	(void)state;
	static const struct {
		int64_t connections, workers;
		int cores, total, loops, per_loop;
	} ROWS[] = {
		{0, 0, 1, 12, 1, 8},    {0, 0, 2, 12, 2, 4},   {0, 0, 16, 12, 4, 2},
		{0, 0, 128, 12, 4, 2},  {0, 2, 16, 12, 2, 4},  {0, 16, 16, 36, 16, 2},
		{36, 0, 16, 36, 16, 2}, {20, 0, 16, 20, 8, 2}, {6, 0, 16, 6, 1, 2},
		{7, 1, 16, 7, 1, 3},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		struct connection_shares shares;
		assert_int_equal(connections_share(ROWS[i].connections, ROWS[i].workers,
		                                   ROWS[i].cores, &shares),
		                 ERR_NONE);
		assert_int_equal(shares.total, ROWS[i].total);
		assert_int_equal(shares.loops, ROWS[i].loops);
		assert_int_equal(shares.per_loop, ROWS[i].per_loop);
		assert_in_range(CONNECTIONS_LISTEN + CONNECTIONS_BACKGROUND +
		                        shares.loops * shares.per_loop,
		                1, shares.total);
	}
}

static void test_too_few_connections_are_refused(void **state)
{
	(void)state;
	struct connection_shares shares;
	assert_int_equal(connections_share(12, 5, 16, &shares), ERR_INVALID);
	assert_int_equal(connections_share(5, 0, 16, &shares), ERR_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_too_few_connections_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
