#include "provision/agent_commands.h"

#include "json/json.h"
#include "product/agent_pair.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define VARIABLE_DEFAULT "MODEL_KEY"

static const char *setting;
static yyjson_val *commands;

const struct setting COMMAND_SETTINGS[] = {
	SETTING_TEXT(
		&setting, "AGENT_COMMANDS", "{}",
		"For each agent the shell commands that install and run it and the variable of the "
		"model's key: {\"agent_one\": {\"install\": \"\", \"run\": \"\", \"credential\": "
		"\"\"}}."),
	SETTING_END,
};

static bool is_variable(yyjson_val *value)
{
	const char *name = yyjson_get_str(value);
	if (!name || isdigit((unsigned char)name[0]))
		return false;
	size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	return length > 0 && !name[length];
}

/* A command must not contain what the code host would evaluate before a shell sees it. */
static bool is_command(yyjson_val *value)
{
	return yyjson_is_str(value) && yyjson_get_len(value) > 0 &&
	       !strstr(yyjson_get_str(value), "${{");
}

/* One variable, or one for each provider of the agent. */
static bool is_credential(const char *agent, yyjson_val *value)
{
	size_t i, max;
	yyjson_val *provider, *variable;
	if (!yyjson_is_obj(value))
		return is_variable(value);
	json_obj_foreach (value, i, max, provider, variable)
		if (!agent_can_use(agent, yyjson_get_str(provider)) || !is_variable(variable))
			return false;
	return true;
}

static bool is_member(const char *agent, const char *name, yyjson_val *value)
{
	if (strcmp(name, "credential") == 0)
		return is_credential(agent, value);
	return (strcmp(name, "install") == 0 || strcmp(name, "run") == 0) && is_command(value);
}

static bool is_agent(const char *name)
{
	const struct agent *agent = agents_list();
	while (agent->name && strcmp(agent->name, name) != 0)
		agent++;
	return agent->name;
}

/* What is wrong with the entry of an agent; NULL: nothing. */
static const char *entry_fault(struct arena *arena, const char *agent, yyjson_val *entry)
{
	size_t i, max;
	yyjson_val *name, *value;
	if (!is_agent(agent))
		return arena_printf(arena, "there is no agent %s", agent);
	if (!yyjson_is_obj(entry))
		return arena_printf(arena, "%s is no object", agent);
	json_obj_foreach (entry, i, max, name, value)
		if (!is_member(agent, yyjson_get_str(name), value))
			return arena_printf(arena, "%s of %s is not as described",
			                    yyjson_get_str(name), agent);
	return NULL;
}

enum err_code agent_commands_parse(struct arena *arena, const char *text, yyjson_val **ret_commands,
                                   const char **ret_fault)
{
	size_t i, max;
	yyjson_val *root, *name, *entry;
	if (json_parse(arena, text, strlen(text), &root, ret_fault))
		return ERR_INVALID;
	*ret_fault = yyjson_is_obj(root) ? NULL : "is no JSON object";
	json_obj_foreach (root, i, max, name, entry)
		if (!*ret_fault)
			*ret_fault = entry_fault(arena, yyjson_get_str(name), entry);
	if (*ret_fault)
		return ERR_INVALID;
	*ret_commands = root;
	return ERR_NONE;
}

enum err_code agent_commands_init(void)
{
	static struct arena *arena; /* lives as long as the process */
	const char *fault;
	arena = arena_new();
	enum err_code code = agent_commands_parse(arena, setting, &commands, &fault);
	if (code)
		fprintf(stderr, "AGENT_COMMANDS: %s\n", fault);
	return code;
}

static const char *text_or(yyjson_val *entry, const char *name, const char *fallback)
{
	const char *text = json_get_text(entry, name);
	return text ? text : fallback;
}

static const char *variable_of(yyjson_val *entry, const char *provider)
{
	yyjson_val *credential = json_get(entry, "credential");
	return yyjson_is_obj(credential) ? text_or(credential, provider, VARIABLE_DEFAULT)
	                                 : text_or(entry, "credential", VARIABLE_DEFAULT);
}

static yyjson_mut_val *agent_json(yyjson_mut_doc *doc, const struct agent *agent)
{
	yyjson_val *entry = json_get(commands, agent->name);
	yyjson_mut_val *json = yyjson_mut_obj(doc), *credentials = yyjson_mut_obj(doc);
	for (const char *const *provider = agent->providers; *provider; provider++)
		yyjson_mut_obj_add_str(doc, credentials, *provider, variable_of(entry, *provider));
	yyjson_mut_obj_add_str(doc, json, "install", text_or(entry, "install", "true"));
	yyjson_mut_obj_add_str(doc, json, "run", text_or(entry, "run", "\"$AGENT\" \"$BRIEF\""));
	yyjson_mut_obj_add_val(doc, json, "credentials", credentials);
	return json;
}

const char *agent_commands_json(struct arena *arena)
{
	struct buf out = {.arena = arena};
	yyjson_mut_doc *doc = json_doc_new(arena);
	for (const struct agent *agent = agents_list(); agent->name; agent++) {
		buf_puts(&out, agent == agents_list() ? "{\n  " : ",\n  ");
		json_quote(&out, agent->name, strlen(agent->name));
		buf_printf(&out, ": %s", json_write_mut(arena, agent_json(doc, agent), NULL));
	}
	buf_puts(&out, "\n}");
	return out.data;
}
