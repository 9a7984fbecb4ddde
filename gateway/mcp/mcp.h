/** gateway/mcp/: the agent-tool protocol (MCP, the Model Context Protocol) at `POST /mcp`: the
 * operations of the API as tools of models. Entry points: the handlers below.
 *
 *     mcp.c            a message, the order of its checks, and its answer
 *     method.c         the methods, and those that describe the server
 *     tool.c           tools: their list, and a call's way to its operation
 *     tools.yaml       the rows of the tools; tools_header.py makes tools.h of it
 *     tool_result.c    the result of a tool: shaping, bounds, what went wrong
 *     confirm.c        asking the user before a run is started
 *     prompt.c         prompts; resource.c   resources
 *     well_known.c     what clients probe for OAuth
 *     operation.c      making an operation's request by the proxy
 *     rpc.c            JSON-RPC; schema.c   arguments; shape.c, clean_text.c   answers
 *
 * Words used here:
 *
 *   revision  a version of the protocol, named by its date
 *   modern    from revision 2026-07-28 on: no handshake; each request names its revision, and
 *             fields of HTTP repeat what of the message a load balancer wants to know
 *   legacy    the revisions before: `initialize` first
 *
 * Both are served without state, so that any replica answers any request: there is no session, no
 * stream, no request to the client. Sources: the specification of each revision; the comments name
 * its sections where the code cannot be understood without.
 */
#pragma once

#include "loop/request.h"
#include "mcp/rpc.h"

#define MCP_MODERN "2026-07-28"

/** Where a method writes its answer, and what it knows of the request. */
struct mcp_call {
	struct request *rq;
	struct rpc_message message;
	const char *version; /* the revision; of a modern request, maybe one that is not ours */
	bool is_modern;
	const struct mcp_method *method; /* NULL: not found, or not yet */
	yyjson_val *params;              /* an object, or NULL */
	/* What the method answers: members of the result, or why it failed. */
	struct buf members;
	const char *result_type; /* of a modern result; NULL: `complete` */
	struct rpc_error error;
};

/** POST /mcp. */
void mcp_post(struct request *rq);

/** GET /.well-known/oauth-…: 404 that says how a key is sent. There is no authorization server. */
void oauth_metadata_get(struct request *rq);

/** Begin a member of the result; its value is to be appended to what is returned. */
struct buf *mcp_member(struct mcp_call *call, const char *name);

/** The method fails: the answer is this error and no result. Returns: the caller goes no further
 * with what is wrong. */
void mcp_fail(struct mcp_call *call, enum rpc_code code, const char *format, ...) attr_printf(3, 4);

/** The revisions as a JSON array, newest first. */
extern const char MCP_REVISIONS[];

/** Whether the revision is one of the legacy ones. */
bool mcp_is_legacy_revision(const char *version);
