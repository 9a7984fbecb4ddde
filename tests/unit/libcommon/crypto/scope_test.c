#include "crypto/scope.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void names_and_masks_agree(void **state attr_unused)
{
	uint64_t all = 0;
	for (unsigned bit = 0; bit < SCOPE_COUNT; bit++) {
		const struct scope_info *info = scope_info(bit);
		assert_int_equal(scope_mask(info->name), UINT64_C(1) << bit);
		assert_true(strlen(info->description) > 10);
		all |= scope_mask(info->name);
	}
	assert_int_equal(all, SCOPE_ALL);
}

static void unknown_names_have_no_mask(void **state attr_unused)
{
	assert_int_equal(scope_mask(""), SCOPE_NONE);
	assert_int_equal(scope_mask("fleet"), SCOPE_NONE);
	assert_int_equal(scope_mask("fleet:read "), SCOPE_NONE);
	assert_int_equal(scope_mask("FLEET:READ"), SCOPE_NONE);
}

static void several_names_have_one_mask(void **state attr_unused)
{
	uint64_t two = scope_mask("eval:read") | scope_mask("team:write");
	assert_int_equal(scope_masks(""), SCOPE_NONE);
	assert_int_equal(scope_masks("eval:read"), scope_mask("eval:read"));
	assert_int_equal(scope_masks("team:write eval:read"), two);
	assert_int_equal(scope_masks("eval:read eval none team:writer team:write eval:read"), two);
}

static void operators_have_two_scopes(void **state attr_unused)
{
	assert_int_equal(SCOPE_OPERATOR,
	                 scope_mask("service:any_user") | scope_mask("assets:write"));
	assert_int_equal(SCOPE_OPERATOR & ~SCOPE_ALL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_masks_agree),
		cmocka_unit_test(unknown_names_have_no_mask),
		cmocka_unit_test(several_names_have_one_mask),
		cmocka_unit_test(operators_have_two_scopes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
