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
		"{\"agent_three\": {\"credential\": {\"openai\": \"A\", \"zai\": \"B_2\"}}}",
		"{\"agent_one\": {\"preset\": \"codex\", \"obeys_max_usd\": false}}",
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
		{"{\"agent_one\": {\"preset\": \"gemini\"}}", "preset of agent_one"},
		{"{\"agent_one\": {\"preset\": 1}}", "preset of agent_one"},
		{"{\"agent_one\": {\"obeys_max_usd\": 1}}", "obeys_max_usd of agent_one"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		const char *fault;
		assert_int_equal(parse(ROWS[i].text, &fault), ERR_INVALID);
		assert_non_null(strstr(fault, ROWS[i].fault));
	}
}

static yyjson_val *load(const char *text)
{
	yyjson_val *all;
	if (text)
		setenv("AGENT_COMMANDS", text, 1);
	else
		unsetenv("AGENT_COMMANDS");
	assert_int_equal(config_load(COMMAND_SETTINGS), ERR_NONE);
	assert_int_equal(agent_commands_init(), ERR_NONE);
	const char *json = agent_commands_json(arena);
	assert_int_equal(json_parse(arena, json, strlen(json), &all, NULL), ERR_NONE);
	return all;
}

static const char *line(yyjson_val *entry, size_t index)
{
	return yyjson_get_str(yyjson_arr_get(json_get(entry, "run"), index));
}

static bool is_possible(const char *agent, const char *provider)
{
	return agent_commands_have((struct agent_pair){agent, provider});
}

static void test_an_entry_has_defaults(void **state)
{
	(void)state;
	yyjson_val *all = load("{\"agent_two\": {}, \"agent_three\": {\"run\": \"one\\n two\\n\", "
	                       "\"credential\": {\"openai\": \"A\"}}}");
	assert_int_equal(yyjson_obj_size(all), 2);
	yyjson_val *entry = json_get(all, "agent_two");
	assert_string_equal(json_get_text(entry, "install"), "true");
	assert_string_equal(line(entry, 0), "\"$AGENT\" \"$BRIEF\"");
	assert_string_equal(json_get_text(json_get(entry, "credentials"), "openai"), "MODEL_KEY");
	entry = json_get(all, "agent_three");
	assert_string_equal(line(entry, 0), "one");
	assert_string_equal(line(entry, 1), " two");
	assert_null(line(entry, 2));
	assert_int_equal(yyjson_obj_size(json_get(entry, "credentials")), 1);
	assert_true(is_possible("agent_two", "custom") && is_possible("agent_three", "openai"));
	assert_false(is_possible("agent_three", "zai") || is_possible("agent_one", "anthropic"));
}

static void test_without_the_setting_every_agent_has_a_preset(void **state)
{
	(void)state;
	yyjson_val *all = load(NULL);
	static const struct {
		const char *agent, *install, *provider, *variable;
	} ROWS[] = {
		{"agent_one", "@anthropic-ai/claude-code@", "custom", "ANTHROPIC_AUTH_TOKEN"},
		{"agent_two", "@openai/codex@", "openai", "CODEX_API_KEY"},
		{"agent_three", "opencode-ai@", "zai", "ZHIPU_API_KEY"},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		yyjson_val *entry = json_get(all, ROWS[i].agent);
		assert_non_null(strstr(json_get_text(entry, "install"), ROWS[i].install));
		assert_string_equal(json_get_text(json_get(entry, "credentials"), ROWS[i].provider),
		                    ROWS[i].variable);
	}
	for (const struct agent *agent = agents_list(); agent->name; agent++)
		for (const char *const *provider = agent->providers; *provider; provider++)
			assert_true(is_possible(agent->name, *provider));
}

static void test_an_entry_overrides_its_preset(void **state)
{
	(void)state;
	yyjson_val *all = load("{\"agent_one\": {\"preset\": \"codex\", \"install\": \"true\", "
	                       "\"credential\": {\"zai\": \"Z\"}}}");
	yyjson_val *entry = json_get(all, "agent_one");
	assert_string_equal(json_get_text(entry, "install"), "true");
	assert_string_equal(line(entry, 0), "url=()");
	assert_true(is_possible("agent_one", "zai"));
	assert_false(is_possible("agent_one", "custom"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(test_entries_are_read),
		ARENA_TEST(test_other_forms_are_refused),
		ARENA_TEST(test_an_entry_has_defaults),
		ARENA_TEST(test_without_the_setting_every_agent_has_a_preset),
		ARENA_TEST(test_an_entry_overrides_its_preset),
	};
	require(config_load(AGENT_SETTINGS) == ERR_NONE && agents_init() == ERR_NONE);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
