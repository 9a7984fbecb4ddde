#include "mcp/rpc.h"

#include <string.h>

struct rpc_error rpc_error_of(struct arena *arena, enum rpc_code code, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	struct rpc_error error = {.code = code, .message = arena_vprintf(arena, format, args)};
	va_end(args);
	return error;
}

static struct rpc_error invalid(const char *message)
{
	return (struct rpc_error){.code = RPC_INVALID_REQUEST, .message = message};
}

static bool is_id(yyjson_val *value)
{
	return yyjson_is_str(value) || yyjson_is_int(value);
}

/* A message with a method is a request, or without an id a notification. */
static struct rpc_error read_call(yyjson_val *root, struct rpc_message *message)
{
	yyjson_val *method = yyjson_obj_get(root, "method");
	message->kind = yyjson_obj_get(root, "id") ? RPC_REQUEST : RPC_NOTIFICATION;
	message->params = yyjson_obj_get(root, "params");
	if (!yyjson_is_str(method))
		return invalid("method must be a string");
	message->method = yyjson_get_str(method);
	if (message->params && !yyjson_is_obj(message->params))
		return invalid("params must be an object");
	return (struct rpc_error){0};
}

static struct rpc_error read_object(yyjson_val *root, struct rpc_message *message)
{
	yyjson_val *id = yyjson_obj_get(root, "id");
	const char *version = json_get_text(root, "jsonrpc");
	message->id = is_id(id) ? id : NULL;
	if (!version || strcmp(version, "2.0") != 0)
		return invalid("jsonrpc must be \"2.0\"");
	if (id && !is_id(id))
		return invalid("id must be a string or an integer");
	if (yyjson_obj_get(root, "method"))
		return read_call(root, message);
	message->kind = RPC_RESPONSE;
	if (!id || !yyjson_obj_get(root, "result") == !yyjson_obj_get(root, "error"))
		return invalid("the message is neither a request, a notification nor a response");
	return (struct rpc_error){0};
}

struct rpc_error rpc_read(struct arena *arena, const char *text, size_t length,
                          struct rpc_message *ret_message)
{
	yyjson_val *root;
	const char *why;
	*ret_message = (struct rpc_message){0};
	if (json_parse(arena, text, length, &root, &why))
		return rpc_error_of(arena, RPC_PARSE, "the body %s", why);
	if (yyjson_is_arr(root))
		return invalid("batches are not supported: send one message in each request");
	if (!yyjson_is_obj(root))
		return invalid("the body must be one JSON-RPC message");
	return read_object(root, ret_message);
}

void rpc_write_start(struct buf *out, yyjson_val *id)
{
	buf_puts(out, "{\"jsonrpc\":\"2.0\"");
	if (!id)
		return;
	size_t length;
	char *text = json_write(out->arena, id, &length);
	buf_puts(out, ",\"id\":");
	buf_add(out, text, length);
}

void rpc_write_error(struct buf *out, yyjson_val *id, const struct rpc_error *error)
{
	rpc_write_start(out, id);
	buf_printf(out, ",\"error\":{\"code\":%d,\"message\":", (int)error->code);
	json_quote(out, error->message, strlen(error->message));
	if (error->data) {
		buf_puts(out, ",\"data\":");
		buf_puts(out, error->data);
	}
	buf_puts(out, "}}");
}
