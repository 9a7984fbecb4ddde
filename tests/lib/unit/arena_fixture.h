/** A new arena for each test.
 *
 *     const struct CMUnitTest tests[] = {
 *             ARENA_TEST(test_rows),
 *     };
 */
#pragma once

#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct arena *arena;

static inline int arena_setup(void **state)
{
	(void)state;
	arena = arena_new();
	return 0;
}

static inline int arena_teardown(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

#define ARENA_TEST(test) cmocka_unit_test_setup_teardown(test, arena_setup, arena_teardown)
