#include "connection/credentials.h"

#include "json/json.h"
#include "observe/log.h"

#include <string.h>

static const char *uuid_text(struct arena *arena, struct uuid id)
{
	char *text = arena_alloc(arena, UUID_TEXT_LEN + 1);
	uuid_format(&id, text);
	return text;
}

struct credentials_owner credentials_owner_new(struct request *rq, const char *provider)
{
	return (struct credentials_owner){
		.connection = uuid_text(rq->arena, uuid_new()),
		.account = uuid_text(rq->arena, rq->caller.account),
		.provider = provider,
	};
}

const char *credentials_context(struct arena *arena, const struct credentials_owner *owner)
{
	return arena_printf(arena, "connection %s %s %s", owner->connection, owner->account,
	                    owner->provider);
}

static void add(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name, const char *value)
{
	if (value)
		yyjson_mut_obj_add_str(doc, object, name, value);
}

struct sealed credentials_seal(struct arena *arena, const struct credentials_owner *owner,
                               const struct credentials *credentials)
{
	yyjson_mut_doc *doc = json_doc_new(arena);
	yyjson_mut_val *object = yyjson_mut_obj(doc);
	add(doc, object, "access_token", credentials->access_token);
	add(doc, object, "refresh_token", credentials->refresh_token);
	add(doc, object, "api_key", credentials->api_key);
	return vault_seal(arena, credentials_context(arena, owner),
	                  json_write_mut(arena, object, NULL));
}

bool credentials_try_open(struct arena *arena, const struct credentials_owner *owner,
                          const void *sealed, size_t length, struct credentials *ret_credentials)
{
	yyjson_val *root = NULL;
	const char *text = vault_open(arena, credentials_context(arena, owner), sealed, length);
	if (!text || json_parse(arena, text, strlen(text), &root, NULL)) {
		log_error("a stored token does not open: its row was changed, or its key is "
		          "missing from SEAL_KEYS",
		          f_text("connection", owner->connection),
		          f_text("provider", owner->provider));
		return false;
	}
	*ret_credentials = (struct credentials){
		.access_token = json_get_text(root, "access_token"),
		.refresh_token = json_get_text(root, "refresh_token"),
		.api_key = json_get_text(root, "api_key"),
	};
	return true;
}

struct credentials credentials_open(struct request *rq, struct arena *arena,
                                    const struct credentials_owner *owner, const void *sealed,
                                    size_t length)
{
	struct credentials credentials;
	if (!credentials_try_open(arena, owner, sealed, length, &credentials))
		raise_error(rq, ERR_CONFLICT, CREDENTIALS_UNREADABLE "; connect again");
	return credentials;
}
