#include "harvest/source.h"

#include "input/paper_sources.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* What searches and interests may name. */
static void all_services_know_the_sources(void **state)
{
	(void)state;
	for (size_t i = 0; i < SOURCE_COUNT; i++)
		assert_true(paper_source_is_known(SOURCES[i]->name));
	assert_false(paper_source_is_known("nature"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(all_services_know_the_sources)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
