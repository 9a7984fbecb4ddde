#include "engine/text/parallel.h"

#include "engine/text/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define ELEMENTS 100
#define LOOPS    500

static void add_one(size_t first, size_t end, void *ctx)
{
	unsigned *counts = ctx;
	for (size_t i = first; i < end; i++)
		counts[i]++;
}

static void test_each_element_is_done_once(void **state)
{
	(void)state;
	for (int threads = 1; threads <= 5; threads++) {
		struct parallel *parallel = parallel_new(threads);
		unsigned counts[ELEMENTS] = {0};
		for (int loop = 0; loop < LOOPS; loop++)
			parallel_run(parallel, ELEMENTS, add_one, counts);
		for (size_t i = 0; i < ELEMENTS; i++)
			assert_int_equal(counts[i], LOOPS);
		parallel_free(parallel);
	}
}

static void test_fewer_elements_than_threads(void **state)
{
	struct parallel *parallel = parallel_new(4);
	unsigned counts[2] = {0};
	(void)state;
	parallel_run(parallel, 2, add_one, counts);
	parallel_run(parallel, 0, add_one, counts);
	assert_int_equal(counts[0], 1);
	assert_int_equal(counts[1], 1);
	parallel_free(parallel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_element_is_done_once),
		cmocka_unit_test(test_fewer_elements_than_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
