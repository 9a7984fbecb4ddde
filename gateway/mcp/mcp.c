#include "mcp/mcp.h"

#include "base/base.h"
#include "crypto/crypto.h"
#include "input/input.h"
#include "loop/wait.h"
#include "mcp/method.h"
#include "proxy/edge.h"
#include "reply/reply.h"
#include "request/http_request.h"

#include <string.h>

#define META_VERSION      "io.modelcontextprotocol/protocolVersion"
#define META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"

#define FIELD_VERSION "MCP-Protocol-Version"
#define FIELD_METHOD  "Mcp-Method"
#define FIELD_NAME    "Mcp-Name"

static const char *const LEGACY_REVISIONS[] = {"2025-11-25", "2025-06-18", "2025-03-26"};

const char MCP_REVISIONS[] = "[\"" MCP_MODERN "\",\"2025-11-25\",\"2025-06-18\",\"2025-03-26\"]";

bool mcp_is_legacy_revision(const char *version)
{
	for (size_t i = 0; i < ARRAY_LEN(LEGACY_REVISIONS); i++)
		if (strcmp(LEGACY_REVISIONS[i], version) == 0)
			return true;
	return false;
}

struct buf *mcp_member(struct mcp_call *call, const char *name)
{
	buf_printf(&call->members, "%s\"%s\":", call->members.length ? "," : "", name);
	return &call->members;
}

void mcp_fail(struct mcp_call *call, enum rpc_code code, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	call->error = (struct rpc_error){
		.code = code,
		.message = arena_vprintf(call->rq->arena, format, args),
	};
	va_end(args);
}

/* --- The checks of a request ------------------------------------------------------------------ */

static yyjson_val *meta_of(const struct mcp_call *call)
{
	return json_get(call->params, "_meta");
}

static bool is_method(const struct mcp_call *call, const char *method)
{
	return strcmp(call->message.method, method) == 0;
}

/* The body says the era; the field of HTTP only when it contradicts. */
static void check_era(struct mcp_call *call)
{
	yyjson_val *version = json_get(meta_of(call), META_VERSION);
	const char *field = request_header(call->rq, FIELD_VERSION);
	bool is_modern_field = field && strcmp(field, MCP_MODERN) == 0;
	if (version && !yyjson_is_str(version)) {
		mcp_fail(call, RPC_INVALID_PARAMS, "_meta[\"" META_VERSION "\"] must be a string");
		return;
	}
	if (!version && is_modern_field && is_method(call, "initialize"))
		mcp_fail(call, RPC_HEADER_MISMATCH,
		         FIELD_VERSION ": revision " MCP_MODERN " has no initialize");
	else if (!version && is_modern_field)
		mcp_fail(call, RPC_INVALID_PARAMS, "_meta[\"" META_VERSION "\"] is missing");
	call->version = version ? yyjson_get_str(version) : field ? field : "2025-03-26";
	call->is_modern = version && !mcp_is_legacy_revision(call->version);
}

static void check_capabilities(struct mcp_call *call)
{
	if (call->is_modern && !yyjson_is_obj(json_get(meta_of(call), META_CAPABILITIES)))
		mcp_fail(call, RPC_INVALID_PARAMS,
		         "_meta[\"" META_CAPABILITIES "\"] must be an object");
}

static void check_version_field(struct mcp_call *call)
{
	const char *field = request_header(call->rq, FIELD_VERSION);
	if (call->is_modern && (!field || strcmp(field, call->version) != 0))
		mcp_fail(call, RPC_HEADER_MISMATCH,
		         FIELD_VERSION " must be the revision of the message, %s", call->version);
}

static void check_version(struct mcp_call *call)
{
	struct buf data = {.arena = call->rq->arena};
	if (!call->is_modern && !mcp_is_legacy_revision(call->version))
		mcp_fail(call, RPC_INVALID_REQUEST, FIELD_VERSION ": unknown revision");
	if (!call->is_modern || strcmp(call->version, MCP_MODERN) == 0)
		return;
	mcp_fail(call, RPC_VERSION, "the protocol version is not supported");
	buf_printf(&data, "{\"supported\":%s,\"requested\":", MCP_REVISIONS);
	json_quote(&data, call->version, strlen(call->version));
	buf_puts(&data, "}");
	call->error.data = data.data;
}

static void check_method(struct mcp_call *call)
{
	call->method = mcp_method_find(call->message.method, call->is_modern);
	if (!call->method)
		mcp_fail(call, RPC_UNKNOWN_METHOD, "unknown method");
}

/* The value of a field that may be written as `=?base64?...?=`; NULL: there is none, or it is no
 * base64. */
static const char *decoded_field(struct request *rq, const char *name)
{
	static const char START[] = "=?base64?", END[] = "?=";
	const char *value = request_header(rq, name);
	size_t length = value ? strlen(value) : 0, around = sizeof(START) - 1 + sizeof(END) - 1;
	if (length < around || strncmp(value, START, sizeof(START) - 1) != 0 ||
	    strcmp(value + length - (sizeof(END) - 1), END) != 0)
		return value;
	return base64_decode(rq->arena, value + sizeof(START) - 1, length - around, &length);
}

static void require_field(struct mcp_call *call, const char *field, const char *value)
{
	const char *sent = decoded_field(call->rq, field);
	if (!sent || strcmp(sent, value) != 0)
		mcp_fail(call, RPC_HEADER_MISMATCH, "%s must be that of the message", field);
}

/* A parameter that is missing is the method's to refuse. */
static void check_fields(struct mcp_call *call)
{
	if (!call->is_modern)
		return;
	require_field(call, FIELD_METHOD, call->message.method);
	const char *param = call->method->name_param;
	const char *name = param ? json_get_text(call->params, param) : NULL;
	if (name && !call->error.code)
		require_field(call, FIELD_NAME, name);
}

/* In this order, until one fails. Before them: the method of HTTP, Origin and Host, the key, its
 * rate (gateway/proxy/), the size and the type of the content, and rpc_read(); after them the
 * method checks its parameters. */
static const struct check {
	void (*check)(struct mcp_call *call);
	int modern_status, legacy_status; /* of the answer when it fails */
} CHECKS[] = {
	{check_era, 400, 400},     {check_capabilities, 400, 400}, {check_version_field, 400, 400},
	{check_version, 400, 400}, {check_method, 404, 200},       {check_fields, 400, 400},
};

/* Returns the status of the answer: 200 if every check passes, else that of the one that failed. */
static int run_checks(struct mcp_call *call)
{
	for (size_t i = 0; i < ARRAY_LEN(CHECKS); i++) {
		CHECKS[i].check(call);
		if (call->error.code)
			return call->is_modern ? CHECKS[i].modern_status : CHECKS[i].legacy_status;
	}
	return 200;
}

/* --- The answer ------------------------------------------------------------------------------- */

static void reply_buf(struct request *rq, int status, const struct buf *out)
{
	reply_json_length(rq, status, out->data, out->length);
}

static void reply_error(struct request *rq, int status, yyjson_val *id,
                        const struct rpc_error *error)
{
	struct buf out = {.arena = rq->arena};
	rpc_write_error(&out, id, error);
	reply_buf(rq, status, &out);
}

/* The members that every modern result has. */
static void write_modern_members(struct buf *out, const struct mcp_call *call)
{
	const char *type = call->result_type ? call->result_type : "complete";
	buf_printf(out,
	           "\"resultType\":\"%s\",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{"
	           "\"name\":\"expops\",\"version\":\"" EXPOPS_VERSION "\"}}",
	           type);
	if (call->method->ttl_ms >= 0)
		buf_printf(out, ",\"ttlMs\":%d,\"cacheScope\":\"private\"", call->method->ttl_ms);
	if (call->members.length)
		buf_puts(out, ",");
}

static void reply_result(struct mcp_call *call)
{
	struct buf out = {.arena = call->rq->arena};
	buf_reserve(&out, call->members.length + 512);
	rpc_write_start(&out, call->message.id);
	buf_puts(&out, ",\"result\":{");
	if (call->is_modern)
		write_modern_members(&out, call);
	buf_add(&out, call->members.data, call->members.length);
	buf_puts(&out, "}}");
	reply_buf(call->rq, 200, &out);
}

static void answer(struct request *rq, const struct rpc_message *message)
{
	struct mcp_call call = {
		.rq = rq,
		.message = *message,
		.params = message->params,
		.members = {.arena = rq->arena},
	};
	int status = run_checks(&call);
	if (!call.error.code)
		call.method->run(&call);
	if (call.error.code)
		reply_error(rq, status, message->id, &call.error);
	else
		reply_result(&call);
}

/* --- The message ------------------------------------------------------------------------------ */

struct reading {
	struct request *rq;
	struct rpc_message message;
	struct rpc_error error;
};

static void read_message(void *arg)
{
	struct reading *reading = arg;
	const struct http_call *http = reading->rq->http;
	reading->error =
		rpc_read(reading->rq->arena, http->body, http->body_length, &reading->message);
}

void mcp_post(struct request *rq)
{
	struct reading reading = {.rq = rq};
	size_t length = rq->http->body_length;
	/* The service of an operation has REQUEST_TIMEOUT: its answer, or that of the proxy which
	 * has waited for it, is to become a result. */
	rq->deadline_ms += 2 * (uint64_t)ANSWER_GRACE_MS;
	request_input_none(rq);
	request_require_json_type(rq);
	request_take_json(rq, rq->http->body, length);
	fiber_offload_text(rq, length, read_message, &reading);
	if (reading.error.code)
		reply_error(rq, 400, reading.message.id, &reading.error);
	else if (reading.message.kind != RPC_REQUEST)
		reply_empty(rq, 202);
	else
		answer(rq, &reading.message);
}
