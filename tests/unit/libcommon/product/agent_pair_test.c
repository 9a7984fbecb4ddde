/* Reading AGENT_PROVIDERS. tests/api/svc-fleet/test_trigger.py checks the pairs that requests
 * name. */
#include "product/agent_pair.h"

#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct arena *arena;
static struct agent agents[AGENTS_MAX + 1];
static const char *fault;

static int setup(void **state attr_unused)
{
	arena = arena_new();
	return 0;
}

static int teardown(void **state attr_unused)
{
	arena_free(arena);
	return 0;
}

static void agents_have_their_providers_in_order(void **state attr_unused)
{
	const char *text = " one = anthropic , moonshot;two=openai; ";
	assert_int_equal(agents_parse(arena, text, agents, &fault), ERR_NONE);
	assert_string_equal(agents[0].name, "one");
	assert_string_equal(agents[0].providers[0], "anthropic");
	assert_string_equal(agents[0].providers[1], "moonshot");
	assert_null(agents[0].providers[2]);
	assert_string_equal(agents[1].name, "two");
	assert_string_equal(agents[1].providers[0], "openai");
	assert_null(agents[1].providers[1]);
	assert_null(agents[2].name);
}

static void the_default_is_well_formed(void **state attr_unused)
{
	assert_string_equal(AGENT_SETTINGS[0].name, "AGENT_PROVIDERS");
	assert_int_equal(agents_parse(arena, AGENT_SETTINGS[0].fallback, agents, &fault), ERR_NONE);
	assert_string_equal(agents[2].name, "agent_three");
	assert_null(agents[3].name);
}

static void other_forms_are_refused(void **state attr_unused)
{
	static const struct {
		const char *text, *fault;
	} ROWS[] = {
		{"", "there is no agent"},
		{" ; ", "there is no agent"},
		{"one", "an agent has no providers"},
		{"one=", "a name is not of lower-case letters, digits, _ and -"},
		{"one=a,,b", "a name is not of lower-case letters, digits, _ and -"},
		{"=a", "a name is not of lower-case letters, digits, _ and -"},
		{"One=a", "a name is not of lower-case letters, digits, _ and -"},
		{"one=a b", "a name is not of lower-case letters, digits, _ and -"},
		{"one=a=b", "a name is not of lower-case letters, digits, _ and -"},
		{"one=a,a", "an agent has a provider twice"},
		{"one=a;one=b", "an agent is there twice"},
		{"one=a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q", "an agent has too many providers"},
		{"a=x;b=x;c=x;d=x;e=x;f=x;g=x;h=x;i=x;j=x;k=x;l=x;m=x;n=x;o=x;p=x;q=x",
	         "there are too many agents"},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		assert_int_equal(agents_parse(arena, ROWS[i].text, agents, &fault), ERR_INVALID);
		assert_string_equal(fault, ROWS[i].fault);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agents_have_their_providers_in_order),
		cmocka_unit_test(the_default_is_well_formed),
		cmocka_unit_test(other_forms_are_refused),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
