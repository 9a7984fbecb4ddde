#include "mcp/prompt.h"

#include "base/base.h"
#include "mcp/tool.h"

#include <string.h>

#define TOOLS_MAX     5
#define ARGUMENTS_MAX 3

struct prompt {
	const char *name, *title, *description;
	const char *tools[TOOLS_MAX]; /* that the text names; NULL ends */
	struct {
		const char *name, *description; /* NULL ends */
		bool is_required;
	} arguments[ARGUMENTS_MAX];
	const char *text; /* the arguments follow it, as `name: "value"` */
};

static const struct prompt PROMPTS[] = {
	{
		.name = "review_digest",
		.title = "Review the digest",
		.description = "Go through the new papers of the team and say which to try.",
		.tools = {"get_digest", "explain_recommendation", "rate_recommendation",
                          "save_experiment"},
		.text = "Call get_digest and go through the papers, one interest after the other. "
			"For each say in a sentence what is new and whether it can matter to us. "
			"Call explain_recommendation where it is not clear why a paper is there. "
			"Ask me what I think of them, and record it by rate_recommendation. "
			"For those that I want to try, propose an experiment with a hypothesis and "
			"a metric, and create it by save_experiment once I agree.",
	},
	{
		.name = "plan_experiment",
		.title = "Plan an experiment",
		.description = "Plan an experiment with a paper.",
		.tools = {"get_paper", "list_experiments", "save_experiment"},
		.arguments = {{"arxiv_id", "The paper.", true},
                              {"repo", "Where it is to be tried, owner/name.", false}},
		.text = "Call get_paper for the paper below and list_experiments to see what was "
			"tried before. Plan the smallest experiment that shows whether the paper's "
			"method helps us: hypothesis, target metric, steps, and what would make us "
			"stop. Show me the plan. Once I agree, create it by save_experiment with "
			"the arxiv_id.",
	},
	{
		.name = "implement_experiment",
		.title = "Implement an experiment",
		.description = "Implement an experiment in this repository and report it.",
		.tools = {"get_implementation_context", "report_implementation"},
		.arguments = {{"experiment_id", "The experiment.", true}},
		.text = "Call get_implementation_context for the experiment below and implement it "
			"in the repository that is open. Report by report_implementation with the "
			"status running when you begin, pr_opened with the address when there is a "
			"pull request, and completed or failed with a summary at the end.",
	},
};

static bool is_listed(const struct mcp_call *call, const struct prompt *prompt)
{
	for (size_t i = 0; i < TOOLS_MAX && prompt->tools[i]; i++)
		if (!tool_is_listed(call, prompt->tools[i]))
			return false;
	return true;
}

/* All texts here are free of what JSON escapes. */
static void write_definition(struct buf *out, const struct prompt *prompt)
{
	buf_printf(out, "{\"name\":\"%s\",\"title\":\"%s\",\"description\":\"%s\",\"arguments\":[",
	           prompt->name, prompt->title, prompt->description);
	for (size_t i = 0; i < ARGUMENTS_MAX && prompt->arguments[i].name; i++)
		buf_printf(out, "%s{\"name\":\"%s\",\"description\":\"%s\",\"required\":%s}",
		           i ? "," : "", prompt->arguments[i].name,
		           prompt->arguments[i].description,
		           prompt->arguments[i].is_required ? "true" : "false");
	buf_puts(out, "]}");
}

void prompts_list(struct mcp_call *call)
{
	const char *separator = "[";
	if (json_get(call->params, "cursor")) {
		mcp_fail(call, RPC_INVALID_PARAMS, "unknown cursor: the list has one page");
		return;
	}
	struct buf *out = mcp_member(call, "prompts");
	for (size_t i = 0; i < ARRAY_LEN(PROMPTS); i++) {
		if (!is_listed(call, &PROMPTS[i]))
			continue;
		buf_puts(out, separator);
		write_definition(out, &PROMPTS[i]);
		separator = ",";
	}
	buf_puts(out, separator[0] == '[' ? "[]" : "]");
}

static const struct prompt *find(const struct mcp_call *call, const char *name)
{
	for (size_t i = 0; name && i < ARRAY_LEN(PROMPTS); i++)
		if (strcmp(PROMPTS[i].name, name) == 0 && is_listed(call, &PROMPTS[i]))
			return &PROMPTS[i];
	return NULL;
}

/* Append the arguments as lines of the prompt. False: one is missing or no text, and the call has
 * failed. */
static bool add_arguments(struct mcp_call *call, const struct prompt *prompt, struct buf *text)
{
	yyjson_val *arguments = json_get(call->params, "arguments");
	for (size_t i = 0; i < ARGUMENTS_MAX && prompt->arguments[i].name; i++) {
		const char *name = prompt->arguments[i].name;
		yyjson_val *value = json_get(arguments, name);
		if (value ? !yyjson_is_str(value) : prompt->arguments[i].is_required) {
			mcp_fail(call, RPC_INVALID_PARAMS, "the argument %s must be a string",
			         name);
			return false;
		}
		if (!value)
			continue;
		buf_printf(text, "\n%s: ", name);
		json_quote(text, yyjson_get_str(value), yyjson_get_len(value));
	}
	return true;
}

void prompts_get(struct mcp_call *call)
{
	const struct prompt *prompt = find(call, json_get_text(call->params, "name"));
	struct buf text = {.arena = call->rq->arena};
	if (!prompt) {
		mcp_fail(call, RPC_INVALID_PARAMS, "unknown prompt");
		return;
	}
	buf_puts(&text, prompt->text);
	if (!add_arguments(call, prompt, &text))
		return;
	buf_printf(mcp_member(call, "description"), "\"%s\"", prompt->description);
	struct buf *out = mcp_member(call, "messages");
	buf_puts(out, "[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":");
	json_quote(out, text.data, text.length);
	buf_puts(out, "}}]");
}
