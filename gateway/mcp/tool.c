#include "mcp/tool.h"

#include "base/base.h"
#include "crypto/crypto.h"
#include "http/query.h"
#include "mcp/confirm.h"
#include "mcp/schema.h"
#include "mcp/tool_result.h"
#include "product/paper_source.h"
#include "tools.h"

#include <string.h>

#define TOOL_COUNT ARRAY_LEN(TOOLS)

/* The input schemas, without and with a known repository. Set once by tools_start(), read by every
 * worker. */
static yyjson_val *schemas[TOOL_COUNT][2];

static yyjson_val *schema_of(struct arena *arena, const char *definition)
{
	return yyjson_obj_get(json_parse_own(arena, definition), "inputSchema");
}

void tools_start(struct arena *arena)
{
	for (size_t i = 0; i < TOOL_COUNT; i++) {
		schemas[i][false] = schema_of(arena, TOOLS[i].definition);
		schemas[i][true] = schema_of(arena, TOOLS[i].definition_with_repo);
		schema_start(schemas[i][false]);
	}
	tool_results_start(arena, TOOLS, TOOL_COUNT);
}

/* --- The list --------------------------------------------------------------------------------- */

static bool is_listed(const struct mcp_call *call, const struct tool *tool)
{
	return api_permit(api_op(tool->operations[0]), &call->rq->caller) == ERR_NONE;
}

const struct tool *tool_find(const char *name)
{
	for (size_t i = 0; i < TOOL_COUNT; i++)
		if (strcmp(TOOLS[i].name, name) == 0)
			return &TOOLS[i];
	return NULL;
}

bool tool_is_listed(const struct mcp_call *call, const char *name)
{
	const struct tool *tool = tool_find(name);
	require(tool);
	return is_listed(call, tool);
}

void tools_list(struct mcp_call *call)
{
	bool has_repo = call->rq->caller.repo;
	const char *separator = "[";
	if (json_get(call->params, "cursor")) {
		mcp_fail(call, RPC_INVALID_PARAMS, "unknown cursor: the list has one page");
		return;
	}
	struct buf *out = mcp_member(call, "tools");
	for (size_t i = 0; i < TOOL_COUNT; i++) {
		if (!is_listed(call, &TOOLS[i]))
			continue;
		buf_puts(out, separator);
		buf_puts(out, has_repo ? TOOLS[i].definition_with_repo : TOOLS[i].definition);
		separator = ",";
	}
	buf_puts(out, separator[0] == '[' ? "[]" : "]");
}

/* --- Arguments -------------------------------------------------------------------------------- */

static bool is_own(const struct tool_argument *argument)
{
	return argument->places[0] == NOT_SENT && argument->places[1] == NOT_SENT;
}

static yyjson_mut_val *argument_of(const struct tool_call *t, const char *name)
{
	return yyjson_mut_obj_get(t->arguments, name);
}

const char *tool_text(const struct tool_call *t, const char *argument)
{
	return yyjson_mut_get_str(argument_of(t, argument));
}

/* What a key is limited to is the default of an argument that asks for it. */
static const char *limit_of(const struct tool_call *t, const char *name)
{
	const struct identity *caller = &t->call->rq->caller;
	if (strcmp(name, "repo") == 0)
		return caller->repo;
	return strcmp(name, "interest_id") == 0 ? caller->interest : NULL;
}

static yyjson_val *schema_of_argument(const struct tool_call *t, const char *name)
{
	return yyjson_obj_get(yyjson_obj_get(schemas[t->index][false], "properties"), name);
}

/* The value of an argument that was not given; NULL: none. */
static yyjson_mut_val *default_of(const struct tool_call *t, const struct tool_argument *argument)
{
	const char *limit = limit_of(t, argument->name);
	yyjson_val *value = json_get(schema_of_argument(t, argument->name), "default");
	if (argument->places[t->chosen] == NOT_SENT)
		return NULL;
	if (limit)
		return yyjson_mut_str(t->doc, limit);
	return value ? yyjson_val_mut_copy(t->doc, value) : NULL;
}

/* The value that was given; one that may be an integer, such as 5.0, is spelled as one: operations
 * read 5.0 as an integer from a body, and not from a query. */
static yyjson_mut_val *given_value(const struct tool_call *t, const char *name, yyjson_val *value)
{
	if (!yyjson_equals_str(json_get(schema_of_argument(t, name), "type"), "number"))
		json_spell_whole(value);
	return yyjson_val_mut_copy(t->doc, value);
}

/* Set the arguments, in the order of the row, with those that were not given. */
static void complete_arguments(struct tool_call *t, yyjson_val *given)
{
	t->arguments = yyjson_mut_obj(t->doc);
	for (const struct tool_argument *argument = t->tool->arguments; argument->name;
	     argument++) {
		yyjson_val *value = json_get(given, argument->name);
		yyjson_mut_val *completed =
			value ? given_value(t, argument->name, value) : default_of(t, argument);
		if (completed)
			yyjson_mut_obj_add_val(t->doc, t->arguments, argument->name, completed);
	}
}

/* Choose the operation, and name the arguments that it does not have. */
static size_t choose_operation(struct tool_call *t, yyjson_val *given, struct buf *faults)
{
	size_t count = 0;
	yyjson_val *when = t->tool->when ? json_get(given, t->tool->when) : NULL;
	t->chosen = when && !yyjson_is_false(when);
	for (const struct tool_argument *argument = t->tool->arguments; argument->name;
	     argument++) {
		if (!json_get(given, argument->name) || is_own(argument) ||
		    argument->places[t->chosen] != NOT_SENT)
			continue;
		buf_printf(faults, "%s: is not used %s %s\n", argument->name,
		           t->chosen ? "together with" : "without", t->tool->when);
		count++;
	}
	return count;
}

/* Check and complete the arguments. False: they have faults, and the result says so. */
static bool read_arguments(struct tool_call *t, yyjson_val *given)
{
	struct mcp_call *call = t->call;
	struct buf faults = {.arena = call->rq->arena};
	bool is_repo_known = call->rq->caller.repo;
	if (!given)
		given = json_parse_own(call->rq->arena, "{}");
	size_t count = schema_faults(&faults, schemas[t->index][is_repo_known], given, "");
	if (!count)
		count = choose_operation(t, given, &faults);
	if (count) {
		tool_result_fault(call, faults.data);
		return false;
	}
	complete_arguments(t, given);
	return true;
}

/* --- The request of the operation ------------------------------------------------------------- */

static const char *text_of(struct tool_call *t, yyjson_mut_val *value)
{
	return yyjson_mut_is_str(value) ? yyjson_mut_get_str(value)
	                                : json_write_mut(t->call->rq->arena, value, NULL);
}

static void add_query(struct tool_call *t, struct buf *target, const char *name,
                      yyjson_mut_val *value)
{
	struct arena *arena = t->call->rq->arena;
	size_t index, count;
	yyjson_mut_val *item;
	if (!yyjson_mut_is_arr(value)) {
		buf_printf(target, "%s%s=%s", strchr(target->data, '?') ? "&" : "?", name,
		           query_encode(arena, text_of(t, value)));
		return;
	}
	yyjson_mut_arr_foreach (value, index, count, item)
		add_query(t, target, name, item);
}

/* Append the path of the operation with the arguments in place of its parameters. */
static void write_path(struct tool_call *t, struct buf *target, const char *template)
{
	for (const char *at = template; *at;) {
		size_t literal = strcspn(at, "{");
		buf_add(target, at, literal);
		at += literal;
		if (!*at)
			break;
		at += strspn(at, "{+");
		size_t length = strcspn(at, "}");
		const char *name = arena_strndup(t->call->rq->arena, at, length);
		yyjson_mut_val *value = argument_of(t, name);
		buf_puts(target, query_encode(t->call->rq->arena, text_of(t, value)));
		at += length + 1;
	}
}

struct operation_answer tool_operation(struct tool_call *t)
{
	struct arena *arena = t->call->rq->arena;
	const struct api_op *op = api_op(t->tool->operations[t->chosen]);
	struct buf target = {.arena = arena};
	write_path(t, &target, op->path);
	for (const struct tool_argument *argument = t->tool->arguments; argument->name;
	     argument++) {
		yyjson_mut_val *value = argument_of(t, argument->name);
		if (value && argument->places[t->chosen] == IN_TOOL_QUERY)
			add_query(t, &target, argument->as, value);
		else if (value && argument->places[t->chosen] == IN_TOOL_BODY)
			yyjson_mut_obj_add_val(t->doc, t->body, argument->as,
			                       yyjson_mut_val_mut_copy(t->doc, value));
	}
	const struct operation_call operation = {
		.op = op,
		.target = target.data,
		.json_body = op->body_max_bytes ? json_write_mut(arena, t->body, NULL) : NULL,
		.idempotency_key = t->idempotency_key,
	};
	return operation_call(t->call->rq, &operation);
}

/* --- Tools with something of their own -------------------------------------------------------- */

/* The same call again gives the same experiment: a modern client repeats a call whose connection
 * broke under another id. */
static void set_idempotency_key(struct tool_call *t)
{
	struct arena *arena = t->call->rq->arena;
	size_t length;
	char *arguments = json_write_mut(arena, t->arguments, &length);
	char *text = arena_printf(arena, "%s %s", t->tool->name, arguments);
	char *hex = arena_alloc(arena, SHA256_HEX_LEN + 1);
	sha256_hex(text, strlen(text), hex);
	t->idempotency_key = hex;
}

static bool prepare_experiment(struct tool_call *t)
{
	const char *arxiv_id = tool_text(t, "arxiv_id");
	bool is_new = t->chosen == 0;
	if (arxiv_id && !is_new) {
		tool_result_fault(t->call, "arxiv_id: is only for a new experiment\n");
		return false;
	}
	if (!is_new)
		return true;
	yyjson_mut_obj_add_str(t->doc, t->body, "created_via", "mcp");
	if (arxiv_id) {
		yyjson_mut_obj_add_str(t->doc, t->body, "source_type", paper_source_type(arxiv_id));
		yyjson_mut_obj_add_str(t->doc, t->body, "source_ref", arxiv_id);
	}
	set_idempotency_key(t);
	return true;
}

/* What is done before the operation; false: there is a result, and the operation is not called. */
static const struct {
	const char *tool;
	bool (*prepare)(struct tool_call *t);
} PREPARED[] = {
	{"save_experiment", prepare_experiment},
	{"start_run", confirm_run},
};

static bool prepare(struct tool_call *t)
{
	for (size_t i = 0; i < ARRAY_LEN(PREPARED); i++)
		if (strcmp(PREPARED[i].tool, t->tool->name) == 0)
			return PREPARED[i].prepare(t);
	return true;
}

/* --- The call --------------------------------------------------------------------------------- */

/* Whether the key may use the operation. False: the result says why not. A 403 would begin an OAuth
 * step-up in some clients, which no key can pass. */
static bool is_permitted(struct tool_call *t)
{
	const struct api_op *op = api_op(t->tool->operations[t->chosen]);
	enum err_code code = api_permit(op, &t->call->rq->caller);
	if (code == ERR_SCOPE)
		tool_result_error(t->call,
		                  "this key lacks %s\nTell the user: another key is needed.\n",
		                  op->scope_name);
	else if (code)
		tool_result_error(t->call, "this key is limited to %s, and the tool is not\n",
		                  t->call->rq->caller.repo ? "a repository" : "an interest");
	return !code;
}

bool tool_begin(struct mcp_call *call, const struct tool *tool, yyjson_val *arguments,
                struct tool_call *ret_call)
{
	*ret_call = (struct tool_call){
		.call = call,
		.tool = tool,
		.index = (size_t)(tool - TOOLS),
		.doc = json_doc_new(call->rq->arena),
	};
	ret_call->body = yyjson_mut_obj(ret_call->doc);
	/* Of two operations, the second may need another scope. */
	return is_permitted(ret_call) && read_arguments(ret_call, arguments) &&
	       is_permitted(ret_call);
}

void tools_call(struct mcp_call *call)
{
	const char *name = json_get_text(call->params, "name");
	const struct tool *tool = name ? tool_find(name) : NULL;
	yyjson_val *arguments = json_get(call->params, "arguments");
	if (!tool || (arguments && !yyjson_is_obj(arguments))) {
		mcp_fail(call, RPC_INVALID_PARAMS,
		         tool ? "arguments must be an object" : "unknown tool");
		return;
	}
	struct tool_call t;
	if (!tool_begin(call, tool, arguments, &t) || !prepare(&t))
		return;
	struct operation_answer answer = tool_operation(&t);
	tool_result_answer(&t, &answer);
}
