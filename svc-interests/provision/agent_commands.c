#include "provision/agent_commands.h"

#include "input/input.h"
#include "json/json.h"
#include "provision/preset.h"
#include "reply/reply.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define VARIABLE_DEFAULT "MODEL_KEY"

static const char *setting;
static yyjson_val *commands;

const struct setting COMMAND_SETTINGS[] = {
	SETTING_TEXT(
		&setting, "AGENT_COMMANDS",
		"{\"agent_one\": {\"preset\": \"claude_code\"}, \"agent_two\": {\"preset\": "
		"\"codex\"}, \"agent_three\": {\"preset\": \"opencode\"}}",
		"For each agent a preset (claude_code, codex, opencode), or the shell commands "
		"that install and run it and the variable of the model's key: {\"agent_one\": "
		"{\"preset\": \"\", \"install\": \"\", \"run\": \"\", \"credential\": \"\"}}."),
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
static bool is_command(const char *agent attr_unused, yyjson_val *value)
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

static bool is_preset(const char *agent attr_unused, yyjson_val *value)
{
	return yyjson_is_str(value) && preset_text(yyjson_get_str(value));
}

static bool is_bool(const char *agent attr_unused, yyjson_val *value)
{
	return yyjson_is_bool(value);
}

static bool is_member(const char *agent, const char *name, yyjson_val *value)
{
	static const struct {
		const char *name;
		bool (*check)(const char *agent, yyjson_val *value);
	} MEMBERS[] = {
		{"preset", is_preset},         {"install", is_command},    {"run", is_command},
		{"credential", is_credential}, {"obeys_max_usd", is_bool},
	};
	for (size_t i = 0; i < ARRAY_LEN(MEMBERS); i++)
		if (strcmp(MEMBERS[i].name, name) == 0)
			return MEMBERS[i].check(agent, value);
	return false;
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

/* The entry with the members of its preset that it has not itself. */
static yyjson_mut_val *with_preset(struct arena *arena, yyjson_mut_doc *doc, yyjson_val *entry)
{
	const char *name = json_get_text(entry, "preset");
	yyjson_mut_val *whole =
		name ? yyjson_val_mut_copy(doc, json_parse_own(arena, preset_text(name)))
		     : yyjson_mut_obj(doc);
	size_t i, max;
	yyjson_val *member, *value;
	json_obj_foreach (entry, i, max, member, value)
		yyjson_mut_obj_put(whole, yyjson_val_mut_copy(doc, member),
		                   yyjson_val_mut_copy(doc, value));
	return whole;
}

static yyjson_val *with_presets(struct arena *arena, yyjson_val *root)
{
	yyjson_mut_doc *doc = json_doc_new(arena);
	yyjson_mut_val *whole = yyjson_mut_obj(doc);
	size_t i, max;
	yyjson_val *name, *entry;
	json_obj_foreach (root, i, max, name, entry)
		yyjson_mut_obj_put(whole, yyjson_val_mut_copy(doc, name),
		                   with_preset(arena, doc, entry));
	return json_parse_own(arena, json_write_mut(arena, whole, NULL));
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
	*ret_commands = with_presets(arena, root);
	return ERR_NONE;
}

enum err_code agent_commands_init(void)
{
	static struct arena *arena; /* of the commands; lives as long as the process */
	const char *fault;
	arena_free(arena);
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

/* The variable for the key of the provider; NULL: the entry has none. */
static const char *variable_of(yyjson_val *entry, const char *provider)
{
	yyjson_val *credential = json_get(entry, "credential");
	if (yyjson_is_obj(credential))
		return json_get_text(credential, provider);
	return entry ? text_or(entry, "credential", VARIABLE_DEFAULT) : NULL;
}

bool agent_commands_have(struct agent_pair pair)
{
	return variable_of(json_get(commands, pair.agent), pair.provider);
}

struct pair_input {
	const char *agent, *provider;
};

static const struct field PAIR_FIELDS[] = {
	BODY_TEXT(struct pair_input, agent, "agent", REQUIRED, 1, AGENT_NAME_MAX),
	BODY_TEXT(struct pair_input, provider, "provider", REQUIRED, 1, AGENT_NAME_MAX),
	FIELD_END,
};

void agent_pair_get(struct request *rq)
{
	struct pair_input *in = request_input(rq, struct pair_input, PAIR_FIELDS);
	bool is_possible = agent_can_use(in->agent, in->provider) &&
	                   agent_commands_have((struct agent_pair){in->agent, in->provider});
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_obj_add_bool(doc, answer, "is_possible", is_possible);
	yyjson_mut_obj_add_bool(doc, answer, "obeys_max_usd",
	                        json_get_bool(json_get(commands, in->agent), "obeys_max_usd",
	                                      false));
	reply_doc(rq, 200, doc);
}

/* --- For the workflow ------------------------------------------------------------------------- */

static void write_credentials(struct buf *out, const struct agent *agent, yyjson_val *entry)
{
	const char *comma = "";
	for (const char *const *provider = agent->providers; *provider; provider++) {
		const char *variable = variable_of(entry, *provider);
		if (!variable)
			continue;
		buf_printf(out, "%s\"%s\": \"%s\"", comma, *provider, variable);
		comma = ", ";
	}
}

static void write_lines(struct buf *out, const char *text)
{
	const char *comma = "";
	for (size_t length; *text; text += length + (text[length] == '\n')) {
		length = strcspn(text, "\n");
		buf_printf(out, "%s\n      ", comma);
		json_quote(out, text, length);
		comma = ",";
	}
}

static void write_agent(struct buf *out, const struct agent *agent, yyjson_val *entry)
{
	const char *install = text_or(entry, "install", "true");
	buf_printf(out, "\n  \"%s\": {\n    \"install\": ", agent->name);
	json_quote(out, install, strlen(install));
	buf_puts(out, ",\n    \"credentials\": {");
	write_credentials(out, agent, entry);
	buf_puts(out, "},\n    \"run\": [");
	write_lines(out, text_or(entry, "run", "\"$AGENT\" \"$BRIEF\""));
	buf_puts(out, "\n    ]\n  }");
}

const char *agent_commands_json(struct arena *arena)
{
	struct buf out = {.arena = arena};
	const char *comma = "{";
	for (const struct agent *agent = agents_list(); agent->name; agent++) {
		yyjson_val *entry = json_get(commands, agent->name);
		if (!entry)
			continue;
		buf_puts(&out, comma);
		write_agent(&out, agent, entry);
		comma = ",";
	}
	buf_puts(&out, *comma == '{' ? "{}" : "\n}");
	return out.data;
}
