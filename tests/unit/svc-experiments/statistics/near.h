/** Comparing numbers with reference values. */
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Whether they are equal up to a relative error; NaN equals NaN. */
static inline bool is_near(double is, double expected, double error)
{
	if (isnan(expected) || isnan(is) || isinf(expected))
		return (isnan(expected) && isnan(is)) || is == expected;
	return fabs(is - expected) <= error * fabs(expected);
}

#define assert_near(is, expected, error) assert_near_at((is), (expected), (error), #is, __LINE__)

static inline void assert_near_at(double is, double expected, double error, const char *what,
                                  int line)
{
	if (!is_near(is, expected, error))
		fail_msg("line %d: %s is %.17g, not %.17g", line, what, is, expected);
}
