#include "usage/usage_table.h"

#include "arena_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char READ[] = "fleet:read", WRITE[] = "fleet:write";

static struct usage_count of(uint32_t key, const char *family, uint16_t status)
{
	struct usage_count request = {.family = family, .day = 20000, .status = status};
	memcpy(request.key.bytes + 8, &key, sizeof(key));
	return request;
}

/* How many requests `counts` has of what `of` names. */
static uint32_t requests_of(const struct usage_count *counts, size_t count,
                            const struct usage_count *of)
{
	uint32_t requests = 0;
	for (size_t i = 0; i < count; i++)
		if (memcmp(&counts[i].key, &of->key, sizeof(of->key)) == 0 &&
		    counts[i].family == of->family && counts[i].day == of->day &&
		    counts[i].status == of->status)
			requests += counts[i].requests;
	return requests;
}

static void test_requests_are_told_apart(void **state)
{
	(void)state;
	struct usage_table *table = usage_table_new();
	struct usage_count all[] = {of(1, READ, 200), of(1, READ, 404), of(1, WRITE, 200),
	                            of(2, READ, 200), of(1, READ, 200)};
	all[4].day++;
	for (size_t i = 0; i < 5; i++)
		for (size_t n = 0; n <= i; n++)
			assert_true(usage_table_add(table, &all[i]));
	size_t count;
	struct usage_count *counts = usage_table_copy(table, arena, &count);
	assert_int_equal(count, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(requests_of(counts, count, &all[i]), i + 1);
	usage_table_free(table);
}

static void test_what_is_counted_during_a_store_stays(void **state)
{
	(void)state;
	struct usage_table *table = usage_table_new();
	struct usage_count first = of(1, READ, 200), second = of(2, READ, 200);
	size_t count;
	usage_table_add(table, &first);
	struct usage_count *counts = usage_table_copy(table, arena, &count);
	usage_table_add(table, &first);
	usage_table_add(table, &first);
	usage_table_add(table, &second);
	usage_table_subtract(table, counts, count);
	usage_table_shrink(table);
	counts = usage_table_copy(table, arena, &count);
	assert_int_equal(count, 2);
	assert_int_equal(requests_of(counts, count, &first), 2);
	assert_int_equal(requests_of(counts, count, &second), 1);
	usage_table_free(table);
}

/* A store that fails between two statements has stored the first of the counts. */
static void test_what_was_not_stored_stays(void **state)
{
	(void)state;
	struct usage_table *table = usage_table_new();
	struct usage_count first = of(1, READ, 200), second = of(2, READ, 200);
	size_t count;
	usage_table_add(table, &first);
	usage_table_add(table, &second);
	struct usage_count *counts = usage_table_copy(table, arena, &count);
	bool is_first = requests_of(counts, 1, &first) == 1;
	usage_table_subtract(table, counts, 1);
	usage_table_add(table, &first);
	counts = usage_table_copy(table, arena, &count);
	assert_int_equal(requests_of(counts, count, &first), is_first ? 1 : 2);
	assert_int_equal(requests_of(counts, count, &second), is_first ? 1 : 0);
	usage_table_subtract(table, counts, count);
	usage_table_shrink(table);
	assert_int_equal(usage_table_size(table), 0);
	usage_table_free(table);
}

static void test_a_full_table_counts_what_it_knows(void **state)
{
	(void)state;
	struct usage_table *table = usage_table_new();
	struct usage_count first = of(0, READ, 200), next;
	for (uint32_t key = 0; key < USAGE_TABLE_MAX; key++) {
		next = of(key, READ, 200);
		assert_true(usage_table_add(table, &next));
	}
	next = of(USAGE_TABLE_MAX, READ, 200);
	assert_false(usage_table_add(table, &next));
	assert_true(usage_table_add(table, &first));
	size_t count;
	struct usage_count *counts = usage_table_copy(table, arena, &count);
	assert_int_equal(count, USAGE_TABLE_MAX);
	assert_int_equal(requests_of(counts, count, &first), 2);
	usage_table_subtract(table, counts, count);
	usage_table_shrink(table);
	assert_true(usage_table_add(table, &next));
	usage_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(test_requests_are_told_apart),
		ARENA_TEST(test_what_is_counted_during_a_store_stays),
		ARENA_TEST(test_what_was_not_stored_stays),
		ARENA_TEST(test_a_full_table_counts_what_it_knows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
