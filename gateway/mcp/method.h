/** The methods of the protocol. */
#pragma once

#include "mcp/mcp.h"

/** The eras that have a method. */
enum mcp_eras {
	MCP_LEGACY = 1,
	MCP_IN_MODERN = 2,
	MCP_BOTH = 3,
};

struct mcp_method {
	const char *name;
	enum mcp_eras eras;
	void (*run)(struct mcp_call *call); /* writes members of the result, or fails */
	const char *name_param; /* the parameter that the field Mcp-Name repeats; NULL: none */
	int ttl_ms;             /* how long a modern client may keep the result; -1: not at all */
};

/** The method; NULL: the era has no such method. */
const struct mcp_method *mcp_method_find(const char *name, bool is_modern);
