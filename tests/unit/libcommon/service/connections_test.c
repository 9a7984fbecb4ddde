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
		struct connection_needs needs;
		int total, loops, per_loop, background;
	} ROWS[] = {
		{{0, 0, 1, true, true, true}, 12, 1, 8, 3},
		{{0, 0, 2, true, true, true}, 12, 2, 4, 3},
		{{0, 0, 16, true, true, true}, 12, 4, 2, 3},
		{{0, 0, 128, true, true, true}, 12, 4, 2, 3},
		{{0, 2, 16, true, true, true}, 12, 2, 4, 3},
		{{0, 16, 16, true, true, true}, 36, 16, 2, 3},
		{{36, 0, 16, true, true, true}, 36, 16, 2, 3},
		{{20, 0, 16, true, true, true}, 20, 8, 2, 3},
		{{6, 0, 16, true, true, true}, 6, 1, 2, 3},
		{{7, 1, 16, true, true, true}, 7, 1, 3, 3},
		/* without LISTEN */
		{{0, 0, 1, true, true}, 12, 1, 9, 3},
		{{0, 0, 16, true, true}, 12, 4, 2, 3},
		{{0, 16, 16, true, true}, 35, 16, 2, 3},
		{{5, 0, 16, true, true}, 5, 1, 2, 3},
		{{3, 16, 16, false, true}, 3, 0, 0, 3},
		/* without background work */
		{{0, 0, 2, true, false}, 12, 2, 6, 0},
		{{0, 0, 16, true, false}, 12, 6, 2, 0},
		{{2, 0, 16, true, false}, 2, 1, 2, 0},
		{{0, 16, 16, true, false}, 32, 16, 2, 0},
		/* without requests */
		{{0, 0, 16, false, true, true}, 12, 0, 0, 11},
		{{4, 16, 16, false, true, true}, 4, 0, 0, 3},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		struct connection_shares shares;
		assert_int_equal(connections_share(&ROWS[i].needs, &shares), ERR_NONE);
		assert_int_equal(shares.total, ROWS[i].total);
		assert_int_equal(shares.loops, ROWS[i].loops);
		assert_int_equal(shares.per_loop, ROWS[i].per_loop);
		assert_int_equal(shares.background, ROWS[i].background);
		assert_in_range(ROWS[i].needs.listens + shares.background +
		                        shares.loops * shares.per_loop,
		                1, shares.total);
	}
}

static void test_too_few_connections_are_refused(void **state)
{
	(void)state;
	static const struct {
		struct connection_needs needs;
		int needed;
	} ROWS[] = {
		{{12, 5, 16, true, true, true}, 14}, {{5, 0, 16, true, true, true}, 6},
		{{4, 0, 16, true, true}, 5},         {{1, 0, 16, true, false}, 2},
		{{3, 5, 16, false, true, true}, 4},
	};
	struct connection_shares shares;
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		assert_int_equal(connections_share(&ROWS[i].needs, &shares), ERR_INVALID);
		assert_int_equal(connections_needed(&ROWS[i].needs), ROWS[i].needed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_too_few_connections_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
