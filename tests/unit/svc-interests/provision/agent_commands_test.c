/* Reading AGENT_COMMANDS. tests/api/system/provisioning/test_workflow.py runs the commands. */
#include "provision/agent_commands.h"

#include "arena_fixture.h"
#include "base/base.h"
#include "json/json.h"
#include "product/agent_pair.h"

#include <stdlib.h>
#include <string.h>

static enum err_code parse(const char *text, const char **ret_fault)
{
	yyjson_val *commands;
	return agent_commands_parse(arena, text, &commands, ret_fault);
}

static void test_entries_are_read(void **state)
{
	static const char *const TEXTS[] = {
		"{}",
		"{\"agent_one\": {}}",
		"{\"agent_two\": {\"install\": \"a; b\", \"credential\": \"A_KEY\"}}",
		"{\"agent_two\": {\"run\": \"a '$BRIEF'\"}}",
		"{\"agent_three\": {\"credential\": {\"openai\": \"A\", \"custom\": \"B_2\"}}}",
	};
	const char *fault;
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(TEXTS); i++)
		assert_int_equal(parse(TEXTS[i], &fault), ERR_NONE);
}

static void test_other_forms_are_refused(void **state)
{
	static const struct {
		const char *text, *fault;
	} ROWS[] = {
		{"", "is not valid JSON"},
		{"[]", "is no JSON object"},
		{"{\"agent_four\": {}}", "there is no agent agent_four"},
		{"{\"agent_one\": \"run\"}", "agent_one is no object"},
		{"{\"agent_one\": {\"start\": \"a\"}}", "start of agent_one"},
		{"{\"agent_one\": {\"run\": \"\"}}", "run of agent_one"},
		{"{\"agent_one\": {\"run\": [\"a\"]}}", "run of agent_one"},
		{"{\"agent_one\": {\"install\": \"${{ secrets.A }}\"}}", "install of agent_one"},
		{"{\"agent_one\": {\"credential\": \"a-key\"}}", "credential of agent_one"},
		{"{\"agent_one\": {\"credential\": \"1A\"}}", "credential of agent_one"},
		{"{\"agent_one\": {\"credential\": \"\"}}", "credential of agent_one"},
		{"{\"agent_two\": {\"credential\": {\"zai\": \"A\"}}}", "credential of agent_two"},
		{"{\"agent_two\": {\"credential\": {\"openai\": 1}}}", "credential of agent_two"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		const char *fault;
		assert_int_equal(parse(ROWS[i].text, &fault), ERR_INVALID);
		assert_non_null(strstr(fault, ROWS[i].fault));
	}
}

static void test_every_agent_has_commands(void **state)
{
	yyjson_val *all, *entry;
	(void)state;
	setenv("AGENT_COMMANDS",
	       "{\"agent_three\": {\"run\": \"three\", \"credential\": {\"openai\": \"A\"}}}", 1);
	assert_int_equal(config_load(COMMAND_SETTINGS), ERR_NONE);
	assert_int_equal(agent_commands_init(), ERR_NONE);
	const char *text = agent_commands_json(arena);
	assert_int_equal(json_parse(arena, text, strlen(text), &all, NULL), ERR_NONE);
	assert_int_equal(yyjson_obj_size(all), 3);
	entry = json_get(all, "agent_two");
	assert_string_equal(json_get_text(entry, "install"), "true");
	assert_string_equal(json_get_text(entry, "run"), "\"$AGENT\" \"$BRIEF\"");
	assert_string_equal(json_get_text(json_get(entry, "credentials"), "openai"), "MODEL_KEY");
	entry = json_get(all, "agent_three");
	assert_string_equal(json_get_text(entry, "run"), "three");
	assert_string_equal(json_get_text(json_get(entry, "credentials"), "openai"), "A");
	assert_string_equal(json_get_text(json_get(entry, "credentials"), "zai"), "MODEL_KEY");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(test_entries_are_read),
		ARENA_TEST(test_other_forms_are_refused),
		ARENA_TEST(test_every_agent_has_commands),
	};
	require(config_load(AGENT_SETTINGS) == ERR_NONE && agents_init() == ERR_NONE);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
