#include "pacing/fair_queue.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct named {
	char name;
	struct fair_entry entry;
};

static struct fair_queue queue;

static int setup(void **state)
{
	(void)state;
	fair_queue_init(&queue);
	return 0;
}

/* Add an entry of the account that the name has, for each name. */
static void add(struct named *named, const char *names)
{
	for (size_t i = 0; names[i]; i++) {
		named[i].name = names[i];
		fair_queue_add(&queue, &named[i].entry, &(struct uuid){{(uint8_t)names[i]}}, 0);
	}
}

static void assert_serves(const char *names)
{
	char served[64] = "";
	struct fair_entry *entry;
	for (size_t i = 0; i < strlen(names) && (entry = fair_queue_first(&queue)); i++) {
		served[i] = CONTAINER_OF(entry, struct named, entry)->name;
		fair_queue_serve(&queue, entry);
	}
	assert_string_equal(served, names);
}

static void test_accounts_take_turns(void **state)
{
	(void)state;
	struct named named[16];
	add(named, "aaaabbc");
	assert_serves("abcabaa");
	assert_null(fair_queue_first(&queue));
}

/* One that comes later shares the turn that is served, however far the others are. */
static void test_who_comes_later_does_not_wait_for_the_queue(void **state)
{
	(void)state;
	struct named first[16], later[16];
	add(first, "aaaaaaaa");
	assert_serves("aaa");
	add(later, "bb");
	assert_serves("babaaaa");
	assert_null(fair_queue_first(&queue));
}

static void test_what_goes_on_has_its_turn(void **state)
{
	(void)state;
	struct named waits = {.name = 'b'}, next = {.name = 'a'};
	fair_queue_add(&queue, &next.entry, &(struct uuid){{'a'}}, 1);
	fair_queue_add(&queue, &waits.entry, &(struct uuid){{'b'}}, 0);
	assert_serves("b");
	fair_queue_put_back(&queue, &waits.entry);
	fair_queue_remove(&queue, &next.entry);
	assert_serves("b");
	assert_null(fair_queue_first(&queue));
}

/* Removing one changes nothing for the others, wherever it was. */
static void test_one_that_gives_up_leaves_its_turn(void **state)
{
	(void)state;
	struct named named[16];
	add(named, "aaabbc");
	fair_queue_remove(&queue, &named[0].entry);
	fair_queue_remove(&queue, &named[4].entry);
	assert_serves("bcaa");
	assert_null(fair_queue_first(&queue));
}

static void test_an_account_can_be_passed_over(void **state)
{
	(void)state;
	struct named named[16];
	char first[16] = "", all[16] = "", *at = first;
	struct fair_entry *entry;
	add(named, "aaabbc");
	for (entry = fair_queue_first(&queue); entry; entry = fair_queue_next_account(entry))
		*at++ = CONTAINER_OF(entry, struct named, entry)->name;
	at = all;
	for (entry = fair_queue_first(&queue); entry; entry = fair_queue_next(entry))
		*at++ = CONTAINER_OF(entry, struct named, entry)->name;
	assert_string_equal(first, "abc");
	assert_string_equal(all, "aaabbc");
	assert_serves("abcaba");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_accounts_take_turns, setup),
		cmocka_unit_test_setup(test_who_comes_later_does_not_wait_for_the_queue, setup),
		cmocka_unit_test_setup(test_what_goes_on_has_its_turn, setup),
		cmocka_unit_test_setup(test_one_that_gives_up_leaves_its_turn, setup),
		cmocka_unit_test_setup(test_an_account_can_be_passed_over, setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
