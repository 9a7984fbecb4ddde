/* The end of a text: what is taken of it, across its wrap, and of sequences that come in pieces. */
#include "worker/tail.h"

#include "arena_fixture.h"

#include <string.h>

static struct tail tail;

static const char *take(bool is_last)
{
	const char *text = tail_take(arena, &tail, is_last);
	return text ? text : "";
}

static void what_is_new_is_taken_once(void **state attr_unused)
{
	memset(&tail, 0, sizeof(tail));
	assert_string_equal(take(false), "");
	tail_add(&tail, "one ", 4);
	tail_add(&tail, "two", 3);
	assert_string_equal(take(false), "one two");
	assert_string_equal(take(false), "");
	tail_add(&tail, "three", 5);
	assert_string_equal(take(true), "three");
}

static void a_long_text_loses_its_beginning(void **state attr_unused)
{
	static char text[TAIL_SIZE];
	memset(&tail, 0, sizeof(tail));
	memset(text, 'x', sizeof(text));
	tail_add(&tail, "lost", 4);
	tail_add(&tail, text, sizeof(text));
	const char *left = take(false);
	assert_string_equal(arena_strndup(arena, left, 26), "[4 bytes are left out]\nxxx");
	assert_int_equal(strlen(left), 23 + TAIL_SIZE);
	for (int i = 0; i < 100; i++)
		tail_add(&tail, text, sizeof(text) - 1);
	tail_add(&tail, "end", 3);
	left = take(false);
	assert_string_equal(left + strlen(left) - 4, "xend");
}

static void more_than_there_is_room_for_at_once(void **state attr_unused)
{
	static char text[3 * TAIL_SIZE + 5];
	memset(&tail, 0, sizeof(tail));
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = 'y';
	tail_add(&tail, text, sizeof(text));
	const char *left = take(false);
	assert_int_equal(strcspn(left, "x"), strlen("[32773 bytes are left out]\n"));
	assert_string_equal(left + strlen(left) - 2, "xy");
}

static void a_sequence_waits_for_its_rest(void **state attr_unused)
{
	memset(&tail, 0, sizeof(tail));
	tail_add(&tail, "a\xe2\x82", 3);
	assert_string_equal(take(false), "a");
	tail_add(&tail, "\xac", 1);
	assert_string_equal(take(false), "\xe2\x82\xac");
	tail_add(&tail, "b\xf0\x9f", 3);
	assert_string_equal(take(true), "b\xef\xbf\xbd\xef\xbf\xbd");
}

static void what_is_no_text_is_replaced(void **state attr_unused)
{
	memset(&tail, 0, sizeof(tail));
	tail_add(&tail,
	         "a\0b\xff"
	         "c\x80",
	         6);
	assert_string_equal(take(false), "a\xef\xbf\xbd"
	                                 "b\xef\xbf\xbd"
	                                 "c\xef\xbf\xbd");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(what_is_new_is_taken_once),
		ARENA_TEST(a_long_text_loses_its_beginning),
		ARENA_TEST(more_than_there_is_room_for_at_once),
		ARENA_TEST(a_sequence_waits_for_its_rest),
		ARENA_TEST(what_is_no_text_is_replaced),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
