#include "paper/frequency.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { PAIR = 9 };

static const struct bag_term one[] = {{5, 1}, {7, 2}, {TERM_IS_PAIR | PAIR, 1}};
static const struct bag_term two[] = {{5, 4}, {8, 1}};
static const struct bag_term three[] = {{5, 1}, {8, 1}};
static const struct bag bags[] = {{one, 3}, {two, 2}, {three, 2}};
static const struct bag *const bag_list[] = {&bags[0], &bags[1], &bags[2]};

static void test_rarer_terms_have_a_higher_idf(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct frequency_table *table = frequency_table_new(arena, bag_list, 3);
	assert_int_equal(frequency_documents(table), 3);
	assert_true(fabs(frequency_idf(table, 5) - log(2)) < 1e-12);
	assert_true(fabs(frequency_idf(table, 8) - log(2.5)) < 1e-12);
	assert_true(fabs(frequency_idf(table, 7) - log(4)) < 1e-12);     /* in one */
	assert_true(fabs(frequency_idf(table, 12345) - log(4)) < 1e-12); /* in none */
	assert_true(frequency_idf(table, TERM_IS_PAIR | PAIR) == 0);
	arena_free(arena);
}

static void test_table_without_papers(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct frequency_table *table = frequency_table_new(arena, NULL, 0);
	assert_true(frequency_idf(table, 5) == 0);
	arena_free(arena);
}

static void test_saved_table_is_read_back(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct frequency_table *table = frequency_table_new(arena, bag_list, 3);
	struct buf bytes = {.arena = arena};
	frequency_write(table, &bytes);
	struct reader in = {.data = (const unsigned char *)bytes.data, .length = bytes.length};
	struct frequency_table *loaded = frequency_read(arena, &in);
	assert_non_null(loaded);
	for (uint32_t term = 4; term < 10; term++)
		assert_true(frequency_idf(loaded, term) == frequency_idf(table, term));
	for (size_t length = 0; length < bytes.length; length++) {
		struct reader cut = {.data = (const unsigned char *)bytes.data, .length = length};
		assert_null(frequency_read(arena, &cut));
	}
	arena_free(arena);
}

/* Ids that are not ascending, and document frequencies of 0 or above the number of papers. */
static void test_invalid_tables_are_refused(void **state)
{
	(void)state;
	static const unsigned char damaged[][6] = {
		{3, 2, 5, 2, 0, 2},
		{3, 2, 5, 0, 1, 2},
		{3, 2, 5, 4, 1, 2},
	};
	struct arena *arena = arena_new();
	for (size_t i = 0; i < ARRAY_LEN(damaged); i++) {
		struct reader in = {.data = damaged[i], .length = sizeof(damaged[i])};
		assert_null(frequency_read(arena, &in));
	}
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rarer_terms_have_a_higher_idf),
		cmocka_unit_test(test_table_without_papers),
		cmocka_unit_test(test_saved_table_is_read_back),
		cmocka_unit_test(test_invalid_tables_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
