#include "redis/stream.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define TEXT(t)                                                          \
	{                                                                \
		.type = REDIS_TEXT, .text = (t), .length = sizeof(t) - 1 \
	}
#define LIST_OF(elements)                                                             \
	{                                                                             \
		.type = REDIS_LIST, .items = (elements), .count = ARRAY_LEN(elements) \
	}

static void test_ids_compare_as_numbers(void **state)
{
	static const struct {
		const char *a, *b;
		int order;
	} CASES[] = {
		{"1-0", "1-0", 0},
		{"1-1", "1-2", -1},
		{"2-0", "1-9", 1},
		{"9-0", "10-0", -1},
		{"1700000000000-9", "1700000000000-10", -1},
		{"0-0", "1", -1},
		{"5", "5-0", 0},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		assert_int_equal(stream_id_compare(CASES[i].a, CASES[i].b), CASES[i].order);
		assert_int_equal(stream_id_compare(CASES[i].b, CASES[i].a), -CASES[i].order);
	}
}

/* `[["1-1", ["task", "t", "kind", ""]], ["1-2", nil], nil]` */
static void test_entries_of_a_reply(void **state)
{
	(void)state;
	struct redis_value fields[] = {TEXT("task"), TEXT("t"), TEXT("kind"), TEXT("")};
	struct redis_value first[] = {TEXT("1-1"), LIST_OF(fields)};
	struct redis_value second[] = {TEXT("1-2"), {.type = REDIS_NIL}};
	struct redis_value list[] = {LIST_OF(first), LIST_OF(second), {.type = REDIS_NIL}};
	struct redis_value entries_value = LIST_OF(list);
	struct request rq = {.arena = arena_new()};
	struct stream_entries entries = stream_entries_of(&rq, &entries_value);
	assert_int_equal(entries.count, 2);
	assert_string_equal(entries.items[0].id, "1-1");
	assert_string_equal(stream_field(&entries.items[0], "task"), "t");
	assert_string_equal(stream_field(&entries.items[0], "kind"), "");
	assert_null(stream_field(&entries.items[0], "t"));
	assert_null(entries.items[1].fields);
	assert_null(stream_field(&entries.items[1], "task"));

	struct redis_value named[] = {TEXT("jobs"), entries_value};
	struct redis_value streams[] = {LIST_OF(named)};
	struct redis_value reply = LIST_OF(streams), nil = {.type = REDIS_NIL};
	assert_int_equal(stream_entries_read(&rq, &reply).count, 2);
	assert_int_equal(stream_entries_read(&rq, &nil).count, 0);
	arena_free(rq.arena);
}

static void test_a_missing_group_is_recognised(void **state)
{
	(void)state;
	struct redis_value missing = {.type = REDIS_ERROR, .text = "NOGROUP No such key 'x'"};
	struct redis_value other = {.type = REDIS_ERROR, .text = "WRONGTYPE Operation"};
	struct redis_value text = TEXT("NOGROUP");
	assert_true(stream_is_group_missing(&missing));
	assert_false(stream_is_group_missing(&other));
	assert_false(stream_is_group_missing(&text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids_compare_as_numbers),
		cmocka_unit_test(test_entries_of_a_reply),
		cmocka_unit_test(test_a_missing_group_is_recognised),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
