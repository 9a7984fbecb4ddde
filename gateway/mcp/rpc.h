/** JSON-RPC 2.0 as the agent-tool protocol uses it: one message in, one out.
 *
 *     {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"get_digest"}}
 *     {"jsonrpc":"2.0","id":7,"result":{...}}
 *     {"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"unknown tool: x"}}
 *
 * Batches are refused: only revision 2025-03-26 had them.
 */
#pragma once

#include "base/arena.h"
#include "json/json.h"

#include <stdbool.h>
#include <stddef.h>

/** Codes of JSON-RPC, and those that the protocol adds. */
enum rpc_code {
	RPC_NONE = 0,
	RPC_PARSE = -32700,
	RPC_INVALID_REQUEST = -32600,
	RPC_UNKNOWN_METHOD = -32601,
	RPC_INVALID_PARAMS = -32602,
	RPC_INTERNAL = -32603,
	RPC_NO_RESOURCE = -32002,     /* legacy revisions */
	RPC_HEADER_MISMATCH = -32020, /* a field of HTTP differs from the message */
	RPC_VERSION = -32022,         /* the protocol version is not supported */
};

/** Why a message is refused. */
struct rpc_error {
	enum rpc_code code;  /* RPC_NONE: it is not */
	const char *message; /* for the client's developer */
	const char *data;    /* JSON text; NULL: none */
};

enum rpc_kind {
	RPC_REQUEST,      /* has a method and an id: it is answered */
	RPC_NOTIFICATION, /* has a method and no id */
	RPC_RESPONSE,     /* of a client to a request of a server */
};

struct rpc_message {
	enum rpc_kind kind;
	yyjson_val *id; /* a string or an integer; NULL: none, or not a valid one */
	const char *method;
	yyjson_val *params; /* an object; NULL: none */
};

/** Read a message, in the arena. RPC_PARSE: the text is not JSON (json_parse());
 * RPC_INVALID_REQUEST: the JSON is no message; ret_message->id is then set if it can be read. */
struct rpc_error rpc_read(struct arena *arena, const char *text, size_t length,
                          struct rpc_message *ret_message);

/** Make an error; the message is formatted into the arena. */
struct rpc_error rpc_error_of(struct arena *arena, enum rpc_code code, const char *format, ...)
	attr_printf(3, 4);

/** Append the start of a message: `{"jsonrpc":"2.0","id":7`; no id if it is NULL. */
void rpc_write_start(struct buf *out, yyjson_val *id);

/** Append a whole message with the error. */
void rpc_write_error(struct buf *out, yyjson_val *id, const struct rpc_error *error);
