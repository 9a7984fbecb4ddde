#include "mcp/resource.h"

#include "base/base.h"
#include "http/query.h"
#include "mcp/digest_text.h"
#include "mcp/tool_result.h"

#include <string.h>

#define JSON     "application/json"
#define MARKDOWN "text/markdown"

/* A resource, or a template of resources: `argument` stands between the two parts of the URI. */
static const struct resource {
	const char *before, *after; /* of the URI; `after` NULL: no template */
	const char *name, *title, *mime_type;
	const char *tool, *argument;
	/* Makes the text from the tool's, which is JSON; NULL: that is the text. */
	const char *(*text)(struct arena *arena, const char *json);
} RESOURCES[] = {
	{
		.before = "expops://digest/today",
		.name = "digest_today",
		.title = "Digest of today",
		.mime_type = MARKDOWN,
		.tool = "get_digest",
		.text = digest_text,
	},
	{
		.before = "expops://papers/",
		.after = "",
		.name = "paper",
		.title = "A paper",
		.mime_type = JSON,
		.tool = "get_paper",
		.argument = "arxiv_id",
	},
	{
		.before = "expops://experiments/",
		.after = "",
		.name = "experiment",
		.title = "An experiment",
		.mime_type = JSON,
		.tool = "get_experiment",
		.argument = "experiment_id",
	},
	{
		.before = "expops://experiments/",
		.after = "/context",
		.name = "experiment_context",
		.title = "The brief for an implementation",
		.mime_type = MARKDOWN,
		.tool = "get_implementation_context",
		.argument = "experiment_id",
	},
};

static void write_definition(struct buf *out, const struct resource *resource)
{
	buf_printf(out, "{\"%s\":\"%s", resource->after ? "uriTemplate" : "uri", resource->before);
	if (resource->after)
		buf_printf(out, "{%s}%s", resource->argument, resource->after);
	buf_printf(out, "\",\"name\":\"%s\",\"title\":\"%s\",\"mimeType\":\"%s\"}", resource->name,
	           resource->title, resource->mime_type);
}

static void write_list(struct mcp_call *call, const char *member, bool is_template)
{
	const char *separator = "[";
	if (json_get(call->params, "cursor")) {
		mcp_fail(call, RPC_INVALID_PARAMS, "unknown cursor: the list has one page");
		return;
	}
	struct buf *out = mcp_member(call, member);
	for (size_t i = 0; i < ARRAY_LEN(RESOURCES); i++) {
		const struct resource *resource = &RESOURCES[i];
		if (!resource->after == is_template || !tool_is_listed(call, resource->tool))
			continue;
		buf_puts(out, separator);
		write_definition(out, resource);
		separator = ",";
	}
	buf_puts(out, separator[0] == '[' ? "[]" : "]");
}

void resources_list(struct mcp_call *call)
{
	write_list(call, "resources", false);
}

void resource_templates_list(struct mcp_call *call)
{
	write_list(call, "resourceTemplates", true);
}

/* What stands in the URI for the argument; NULL: the URI is not of this resource. */
static const char *value_in(struct arena *arena, const struct resource *resource, const char *uri)
{
	size_t before = strlen(resource->before), length = strlen(uri);
	size_t after = resource->after ? strlen(resource->after) : 0;
	if (strncmp(uri, resource->before, before) != 0)
		return NULL;
	if (!resource->after)
		return length == before ? "" : NULL;
	if (length <= before + after || strcmp(uri + length - after, resource->after) != 0)
		return NULL;
	return query_decode(arena, uri + before, length - before - after);
}

/* The arguments of the tool for a URI. */
static yyjson_val *arguments_for(struct arena *arena, const struct resource *resource,
                                 const char *value)
{
	struct buf json = {.arena = arena};
	buf_puts(&json, "{");
	if (resource->argument) {
		buf_printf(&json, "\"%s\":", resource->argument);
		json_quote(&json, value, strlen(value));
	}
	buf_puts(&json, "}");
	return json_parse_own(arena, json.data);
}

static void write_contents(struct mcp_call *call, const struct resource *resource, const char *uri,
                           const char *text)
{
	struct buf *out = mcp_member(call, "contents");
	buf_puts(out, "[{\"uri\":");
	json_quote(out, uri, strlen(uri));
	buf_printf(out, ",\"mimeType\":\"%s\",\"text\":", resource->mime_type);
	json_quote(out, text, strlen(text));
	buf_puts(out, "}]");
}

static void fail_unknown(struct mcp_call *call, const char *uri)
{
	struct buf data = {.arena = call->rq->arena};
	mcp_fail(call, call->is_modern ? RPC_INVALID_PARAMS : RPC_NO_RESOURCE,
	         "there is no such resource");
	buf_puts(&data, "{\"uri\":");
	json_quote(&data, uri, strlen(uri));
	buf_puts(&data, "}");
	call->error.data = data.data;
}

/* The operation has not answered with what the resource shows. */
static void fail_read(struct mcp_call *call, const char *uri, int status)
{
	if (status == 403)
		mcp_fail(call, RPC_INVALID_PARAMS, "this key may not read the resource");
	else if (status < 400 || status == 429 || status >= 500)
		mcp_fail(call, RPC_INTERNAL, "not available now, try again");
	else
		fail_unknown(call, uri);
}

/* The last resource that the URI is of: `/context` is not a part of an experiment's id. */
static const struct resource *find(struct mcp_call *call, const char *uri, const char **ret_value)
{
	for (size_t i = ARRAY_LEN(RESOURCES); i-- > 0;) {
		*ret_value = value_in(call->rq->arena, &RESOURCES[i], uri);
		if (*ret_value && tool_is_listed(call, RESOURCES[i].tool))
			return &RESOURCES[i];
	}
	return NULL;
}

/* Write the contents, or fail. Raises as operation_call(). */
static void read_resource(struct tool_call *t, const struct resource *resource, const char *uri)
{
	struct operation_answer answer = tool_operation(t);
	const char *text = tool_result_text(t, &answer);
	if (text && resource->text)
		text = resource->text(t->call->rq->arena, text);
	if (text)
		write_contents(t->call, resource, uri, text);
	else
		fail_read(t->call, uri, answer.status);
}

void resources_read(struct mcp_call *call)
{
	const char *uri = json_get_text(call->params, "uri"), *value;
	struct tool_call t;
	if (!uri) {
		mcp_fail(call, RPC_INVALID_PARAMS, "uri must be a string");
		return;
	}
	const struct resource *resource = find(call, uri, &value);
	if (resource && tool_begin(call, tool_find(resource->tool),
	                           arguments_for(call->rq->arena, resource, value), &t)) {
		read_resource(&t, resource, uri);
		return;
	}
	call->members.length = 0;
	fail_unknown(call, uri);
}
