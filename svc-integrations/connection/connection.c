#include "connection/connection.h"

#include "connection.sql.h"
#include "connection/oauth_client.h"
#include "input/input.h"
#include "json/json.h"
#include "pg/pg.h"
#include "provider/provider.h"
#include "reply/resource.h"
#include "request/audited.h"

#include <string.h>

#define PROVIDER_NAME_MAX 64

struct connection_input {
	const char *provider;
	int64_t limit, offset;
};

static const struct field LIST_FIELDS[] = {
	QUERY_LIMIT(struct connection_input, limit, 20, 100),
	QUERY_OFFSET(struct connection_input, offset),
	FIELD_END,
};

static const struct field PROVIDER_FIELDS[] = {
	PATH_TEXT(struct connection_input, provider, "provider_name", 1, PROVIDER_NAME_MAX),
	FIELD_END,
};

static bool has_value(const struct pg_rows *rows, const char *value)
{
	for (int row = 0; row < rows->count; row++)
		if (strcmp(pg_value(rows, row), value) == 0)
			return true;
	return false;
}

/* The scopes that a connection asks for, as an array. */
static yyjson_mut_val *scopes_of(yyjson_mut_doc *doc, const struct provider *provider)
{
	yyjson_mut_val *array = yyjson_mut_arr(doc);
	for (const char *at = provider->oauth ? provider->oauth->scopes : ""; *at;) {
		size_t length = strcspn(at, " ,");
		if (length > 0)
			yyjson_mut_arr_add_strncpy(doc, array, at, length);
		at += length + strspn(at + length, " ,");
	}
	return array;
}

void provider_list(struct request *rq)
{
	struct connection_input *in = request_input(rq, struct connection_input, LIST_FIELDS);
	const struct pg_rows *connected =
		pg_query(rq, CONNECTION_NAMES_SQL, pg_uuid(rq->caller.account));
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *list = yyjson_mut_arr(doc);
	for (const struct provider *provider = PROVIDERS; provider->name; provider++) {
		yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, list);
		yyjson_mut_obj_add_str(doc, row, "name", provider->name);
		yyjson_mut_obj_add_str(doc, row, "kind", provider_kind_name(provider->kind));
		yyjson_mut_obj_add_bool(doc, row, "configured",
		                        oauth_client_is_configured(rq, provider));
		yyjson_mut_obj_add_bool(doc, row, "connected",
		                        has_value(connected, provider->name));
		yyjson_mut_obj_add_str(doc, row, "auth_type",
		                       provider->oauth ? "oauth2" : "api_key");
		yyjson_mut_obj_add_val(doc, row, "scopes", scopes_of(doc, provider));
	}
	yyjson_mut_doc_set_root(doc, list);
	reply_doc_page(rq, doc, in->limit, in->offset);
}

void connection_reply(struct request *rq, const struct provider *provider, const char *connection)
{
	reply_json(rq, 200,
	           arena_printf(rq->arena,
	                        "{\"provider\": \"%s\", \"connected\": true, \"connection\": %s}",
	                        provider->name, connection));
}

void connection_list(struct request *rq)
{
	struct connection_input *in = request_input(rq, struct connection_input, LIST_FIELDS);
	struct pg_rows *rows = pg_query(rq, CONNECTION_LIST_SQL, pg_uuid(rq->caller.account),
	                                pg_int(in->limit), pg_int(in->offset));
	reply_page(rq, rows, in->limit, in->offset);
}

void connection_status_get(struct request *rq)
{
	struct connection_input *in = request_input(rq, struct connection_input, PROVIDER_FIELDS);
	const struct provider *provider = provider_get(rq, in->provider);
	struct pg_rows *rows = pg_query(rq, CONNECTION_GET_SQL, pg_uuid(rq->caller.account),
	                                pg_text(provider->name));
	bool is_connected = !pg_empty(rows) && pg_get_bool(rows, 0, "is_active");
	reply_json(rq, 200,
	           arena_printf(rq->arena,
	                        "{\"provider\": \"%s\", \"configured\": %s, \"connected\": %s, "
	                        "\"connection\": %s}",
	                        provider->name,
	                        oauth_client_is_configured(rq, provider) ? "true" : "false",
	                        is_connected ? "true" : "false",
	                        pg_empty(rows) ? "null" : pg_json(rows)));
}

void connection_delete(struct request *rq)
{
	struct connection_input *in = request_input(rq, struct connection_input, PROVIDER_FIELDS);
	const struct provider *provider = provider_get(rq, in->provider);
	audited_begin(rq); /* on a connection of its own, since it waits for others that verify */
	struct pg_rows *rows = pg_query(rq, CONNECTION_REMOVE_SQL, pg_uuid(rq->caller.account),
	                                pg_text(provider->name), pg_text(code_host_web_url()));
	if (pg_empty(rows))
		raise_error(rq, ERR_NOT_FOUND, "%s is not connected", provider->name);
	pg_commit(rq);
	reply_json(rq, 200, pg_json(rows));
}
