/** A new worker for each test.
 *
 *     const struct CMUnitTest tests[] = {
 *             WORKER_TEST(test_sleep),
 *     };
 */
#pragma once

#include "worker_fixture.h"

static struct worker_fixture fixture;

static inline int worker_setup(void **state)
{
	(void)state;
	fixture_start(&fixture);
	return 0;
}

static inline int worker_teardown(void **state)
{
	(void)state;
	fixture_stop(&fixture);
	return 0;
}

#define WORKER_TEST(test) cmocka_unit_test_setup_teardown(test, worker_setup, worker_teardown)
