/** Resources: what a person can attach to a conversation. Each is the answer of a tool that reads,
 * listed when the key has the tool. */
#pragma once

#include "mcp/mcp.h"

/** resources/list, resources/templates/list and resources/read. */
void resources_list(struct mcp_call *call);
void resource_templates_list(struct mcp_call *call);
void resources_read(struct mcp_call *call);
