/* rpc_read(): whatever the bytes are, the message is a whole one or there is an error with a
 * message; what is answered to it is JSON with the id of the request. Each text is also an
 * arguments object: schema_faults() ends each fault with a line feed. And it is a text of others:
 * clean_text() leaves nothing to clean. */
#include "mcp/rpc.h"

#include "base/base.h"
#include "fuzz.h"
#include "mcp/clean_text.h"
#include "mcp/schema.h"

#include <string.h>

static const char SCHEMA[] =
	"{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"a\"],\"properties\":{"
	"\"a\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":3,\"pattern\":\"^[a-z]+$\"},"
	"\"b\":{\"type\":[\"integer\",\"string\"],\"minimum\":1,\"maximum\":5},"
	"\"c\":{\"type\":\"array\",\"maxItems\":2,\"items\":{\"type\":\"string\",\"enum\":[\"x\"]}}"
	","
	"\"d\":{\"type\":\"string\",\"format\":\"uuid\"},\"e\":{\"type\":\"boolean\"}}}";

static void check_answer(struct arena *arena, const struct rpc_message *message)
{
	const struct rpc_error error = {.code = RPC_INTERNAL, .message = "\"", .data = "{}"};
	struct buf out = {.arena = arena};
	rpc_write_error(&out, message->id, &error);
	yyjson_val *root = json_parse_own(arena, out.data), *id = yyjson_obj_get(root, "id");
	require(message->id ? yyjson_equals(id, message->id) : !id);
}

static void check_message(struct arena *arena, const char *text, size_t length)
{
	struct rpc_message message;
	struct rpc_error error = rpc_read(arena, text, length, &message);
	check_answer(arena, &message);
	if (error.code) {
		require(error.code == RPC_PARSE || error.code == RPC_INVALID_REQUEST);
		require(error.message && error.message[0]);
		return;
	}
	require((message.kind == RPC_RESPONSE) == !message.method);
	require((message.kind == RPC_NOTIFICATION) == !message.id);
	require(!message.params || yyjson_is_obj(message.params));
}

static void check_arguments(struct arena *arena, const char *text, size_t length)
{
	yyjson_val *value;
	struct buf faults = {.arena = arena};
	if (json_parse(arena, text, length, &value, NULL))
		return;
	yyjson_val *schema = json_parse_own(arena, SCHEMA);
	schema_start(schema);
	size_t count = schema_faults(&faults, schema, value, "");
	require((count == 0) == (faults.length == 0));
	require(!count || faults.data[faults.length - 1] == '\n');
	require(schema_faults(&faults, json_parse_own(arena, "{}"), value, "") == 0 ||
	        yyjson_is_obj(value));
}

/* Cleaning removes, and nothing is left to remove. */
static void check_clean(struct arena *arena, const char *text, size_t length)
{
	size_t cleaned_length, again_length;
	const char *cleaned = clean_text(arena, text, length, &cleaned_length);
	const char *again = clean_text(arena, cleaned, cleaned_length, &again_length);
	require(cleaned_length <= length && again == cleaned && again_length == cleaned_length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	check_message(arena, (const char *)data, size);
	check_arguments(arena, (const char *)data, size);
	check_clean(arena, (const char *)data, size);
	arena_free(arena);
	return 0;
}
