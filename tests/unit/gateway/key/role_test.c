#include "key/role.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* The lowest role that has each scope. Every scope that is added is
 * decided for here, too: the test fails until somebody has. */
static const struct lowest {
	const char *scope;
	const char *of; /* the lowest role that has it */
} LOWEST[] = {
	{"experiments:read", "viewer"},
	{"experiments:write", "member"},
	{"implement:read", "viewer"},
	{"implement:write", "member"},
	{"interests:read", "viewer"},
	{"interests:write", "member"},
	{"provisioning:write", "member"},
	{"recommendations:read", "viewer"},
	{"recommendations:write", "member"},
	{"search:read", "viewer"},
	{"integrations:read", "viewer"},
	{"integrations:write", "admin"},
	{"integrations:token", "admin"},
	{"fleet:read", "viewer"},
	{"fleet:write", "member"},
	{"fleet:trigger", "member"},
	{"fleet:report", "admin"},
	{"code_host:read", "viewer"},
	{"code_host:write", "member"},
	{"eval:read", "viewer"},
	{"eval:write", "member"},
	{"eval:report", "admin"},
	{"account:read", "viewer"},
	{"account:write", "viewer"},
	{"webhooks:read", "admin"},
	{"webhooks:write", "admin"},
	{"budgets:write", "admin"},
	{"team:read", "viewer"},
	{"team:write", "admin"},
	{"audit:read", "admin"},
};

/* 0: the highest role. */
static int rank(const char *name)
{
	int rank = 0;
	while (strcmp(ROLE_NAMES[rank], name) != 0)
		rank++;
	return rank;
}

static void each_role_has_the_scopes_of_those_below(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(LOWEST); i++)
		for (int role = 0; ROLE_NAMES[role]; role++)
			assert_int_equal((role_scopes(ROLE_NAMES[role], false) &
			                  scope_mask(LOWEST[i].scope)) != 0,
			                 role <= rank(LOWEST[i].of));
}

static void every_scope_is_decided(void **state)
{
	(void)state;
	uint64_t decided = SCOPE_OPERATOR;
	for (size_t i = 0; i < ARRAY_LEN(LOWEST); i++)
		decided |= scope_mask(LOWEST[i].scope);
	assert_int_equal(decided, SCOPE_ALL);
}

static void operators_have_theirs_besides(void **state)
{
	(void)state;
	for (int role = 0; ROLE_NAMES[role]; role++)
		assert_int_equal(role_scopes(ROLE_NAMES[role], true),
		                 role_scopes(ROLE_NAMES[role], false) | SCOPE_OPERATOR);
	assert_int_equal(role_scopes("nobody", true), SCOPE_NONE);
}

static void a_member_sets_up_agents(void **state)
{
	(void)state;
	uint64_t reports = scope_mask("fleet:report") | scope_mask("eval:report");
	assert_int_equal(role_grants("member", KEY_AUTOMATION) & reports, reports);
	assert_int_equal(role_grants("member", KEY_PERSONAL), role_scopes("member", false));
	assert_int_equal(role_grants("viewer", KEY_AUTOMATION), role_scopes("viewer", false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_role_has_the_scopes_of_those_below),
		cmocka_unit_test(every_scope_is_decided),
		cmocka_unit_test(operators_have_theirs_besides),
		cmocka_unit_test(a_member_sets_up_agents),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
