/** The result of a tool, as members of the result of tools/call:
 *
 *     "content":[{"type":"text","text":"{\"items\":[]}"}],"structuredContent":{"items":[]}
 *     "content":[{"type":"text","text":"Not Found: ..."}],"isError":true
 *
 * The text is at most 40,000 bytes: clients refuse larger ones, or move them to a file. Where more
 * is left out than the row says, the arrays and texts are made shorter.
 */
#pragma once

#include "mcp/tool.h"

/** Parse the shapes. Once, before other threads start. */
void tool_results_start(struct arena *arena, const struct tool *tools, size_t count);

/** The result that an operation's answer makes. */
void tool_result_answer(struct tool_call *t, const struct operation_answer *answer);

/** A result whose value was made here. */
void tool_result_value(struct mcp_call *call, yyjson_mut_val *value);

/** A result with isError, whose text ends with the request id. */
void tool_result_error(struct mcp_call *call, const char *format, ...) attr_printf(2, 3);

/** The same for arguments with faults, one in each line. */
void tool_result_fault(struct mcp_call *call, const char *faults);

/** The Markdown or JSON text that a resource shows for the answer, shaped as the tool's result is,
 * in the arena; NULL: the operation failed. */
const char *tool_result_text(struct tool_call *t, const struct operation_answer *answer);
