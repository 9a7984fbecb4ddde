/** Tools: rows of tools.yaml, each an operation of api.def (or, by an argument, one of two).
 *
 * A call: the arguments are checked against the row's schema, completed (what a limited key is
 * limited to, defaults) and put into path, query and body; the operation is called as the client
 * would (operation.h); its answer is shaped (tool_result.h). What goes wrong with the arguments or
 * the operation is a result that a model can read and correct itself by, not an error.
 */
#pragma once

#include "http/api.h"
#include "mcp/mcp.h"
#include "mcp/operation.h"

/** Where an argument goes. */
enum tool_place {
	NOT_SENT, /* the operation does not have it */
	IN_TOOL_PATH,
	IN_TOOL_QUERY,
	IN_TOOL_BODY,
};

struct tool_argument {
	const char *name;          /* NULL ends a table */
	const char *as;            /* as the operation calls it */
	enum tool_place places[2]; /* in each of the tool's operations */
};

struct tool {
	const char *name;
	enum api_id operations[2]; /* the second if the argument `when` is given and not false */
	const char *when;          /* NULL: always the first */
	const struct tool_argument *arguments;
	/* JSON of its element of the list; with_repo: for a key that is limited to a repository,
	 * which is the default of `repo` then. */
	const char *definition, *definition_with_repo;
	const char *shape;  /* of the result (shape.h); NULL: it is the answer's text `formatted` */
	const char *paged;  /* the array of the result that comes in pages; NULL: none */
	const char *rest;   /* how to get what was cut; NULL: nothing is */
	const char *absent; /* where ids come from; NULL: it takes none */
	/* What to do before calling again when it is not known whether it was done; NULL: it only
	 * reads. */
	const char *uncertain;
	bool has_outside_text, is_list;
};

/** A call of a tool. */
struct tool_call {
	struct mcp_call *call;
	const struct tool *tool;
	size_t index;                /* of the tool */
	yyjson_mut_doc *doc;         /* of the next two */
	yyjson_mut_val *arguments;   /* checked and completed */
	yyjson_mut_val *body;        /* of the operation */
	unsigned chosen;             /* of the tool's operations */
	const char *idempotency_key; /* NULL: none */
};

/** Parse the schemas. Once, before other threads start. */
void tools_start(struct arena *arena);

/** tools/list and tools/call. */
void tools_list(struct mcp_call *call);
void tools_call(struct mcp_call *call);

/** Whether the caller's key may use the tool: the list has it then. */
bool tool_is_listed(const struct mcp_call *call, const char *name);

/** The row of a tool; NULL: there is none. */
const struct tool *tool_find(const char *name);

/** Begin a call of a tool with these arguments (NULL: none). False: the key may not use it, or the
 * arguments have faults; the result says so. */
bool tool_begin(struct mcp_call *call, const struct tool *tool, yyjson_val *arguments,
                struct tool_call *ret_call);

/** Call the tool's operation with the call's arguments. */
struct operation_answer tool_operation(struct tool_call *t);

/** The text of an argument; NULL: it is not given, or no text. */
const char *tool_text(const struct tool_call *t, const char *argument);
