#include "main/arguments.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct values {
	const char *name;
	bool undoes;
	int64_t limit;
};

static const struct argument ARGUMENTS[] = {
	ARGUMENT_TEXT(struct values, name, "name"),
	ARGUMENT_FLAG(struct values, undoes, "undo"),
	ARGUMENT_NUMBER(struct values, limit, "limit", 100),
	ARGUMENT_END,
};

#define READ(argv, values) arguments_read((int)ARRAY_LEN(argv) - 1, argv, ARGUMENTS, values)

static void options_and_operands_stand_in_any_order(void **state)
{
	(void)state;
	struct values values = {.limit = 50};
	char *argv[] = {"list", "one", "--limit=7", "two", "--undo", "--name", "x y", NULL};
	char **operands = READ(argv, &values);
	assert_non_null(operands);
	assert_string_equal(operands[0], "one");
	assert_string_equal(operands[1], "two");
	assert_null(operands[2]);
	assert_string_equal(values.name, "x y");
	assert_true(values.undoes);
	assert_int_equal(values.limit, 7);
}

static void what_is_not_given_stays(void **state)
{
	(void)state;
	struct values values = {.limit = 50};
	char *argv[] = {"list", "--", "--undo", NULL};
	char **operands = READ(argv, &values);
	assert_string_equal(operands[0], "--undo");
	assert_null(values.name);
	assert_false(values.undoes);
	assert_int_equal(values.limit, 50);
}

static void wrong_arguments_are_refused(void **state)
{
	(void)state;
	static const char *const CASES[] = {
		"--colour",    "--name",    "--undo=1",
		"--limit=0",   "--limit=x", "--limit=7x",
		"--limit=101", "--limit=",  "--limit=99999999999999999999"};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		struct values values = {0};
		char *argv[] = {"list", (char *)CASES[i], NULL};
		assert_null(READ(argv, &values));
	}
}

static void operands_are_refused_where_there_are_none(void **state)
{
	(void)state;
	struct values values = {0};
	char *with[] = {"list", "--undo", "one", NULL}, *without[] = {"list", "--undo", NULL};
	assert_false(options_read(3, with, ARGUMENTS, &values));
	assert_true(options_read(2, without, ARGUMENTS, &values));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_and_operands_stand_in_any_order),
		cmocka_unit_test(what_is_not_given_stays),
		cmocka_unit_test(wrong_arguments_are_refused),
		cmocka_unit_test(operands_are_refused_where_there_are_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
