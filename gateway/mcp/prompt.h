/** Prompts: texts that a person chooses, which clients show as commands. Each names the tools to
 * call, and is listed when the key has them all. */
#pragma once

#include "mcp/mcp.h"

/** prompts/list and prompts/get. */
void prompts_list(struct mcp_call *call);
void prompts_get(struct mcp_call *call);
