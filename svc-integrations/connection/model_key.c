#include "connection/model_key.h"

#include "connection.sql.h"
#include "connection/connection.h"
#include "connection/credentials.h"
#include "input/input.h"
#include "pg/pg.h"
#include "provider/model_provider.h"
#include "reply/resource.h"
#include "request/audited.h"

#include <string.h>

#define KEY_MAX 1024

struct model_key_input {
	const char *provider;
	const char *api_key, *base_url;
};

/* A key is sent as an HTTP field. */
static bool is_visible_ascii(const char *text, size_t length, const char **ret_message)
{
	*ret_message = "must be visible ASCII characters";
	for (size_t i = 0; i < length; i++)
		if (text[i] < 0x21 || text[i] > 0x7E)
			return false;
	return true;
}

static const struct field CONNECT_FIELDS[] = {
	PATH_TEXT(struct model_key_input, provider, "provider_name", 1, 64),
	{IN_BODY, FIELD_TEXT, "api_key", FIELD_AT(struct model_key_input, api_key, const char *),
         REQUIRED | TRIMMED, 1, KEY_MAX, .check = is_visible_ascii},
	BODY_URL(struct model_key_input, base_url, "base_url", NULLABLE),
	FIELD_END,
};

/* Add the fault of a base_url that does not fit the provider, if that is one of models. Before
 * request_input(). */
static void check_base_url(struct request *rq)
{
	const char *name = request_path(rq, "provider_name");
	const struct provider *provider = PROVIDERS;
	while (provider->name && strcmp(provider->name, name) != 0)
		provider++;
	if (!provider->name || provider->kind != PROVIDER_MODEL)
		return;
	bool is_custom = !provider->model_url, is_given = request_has_member(rq, "base_url");
	if (is_custom != is_given)
		problem_add_field(rq->arena, &rq->problem, "base_url",
		                  is_custom ? "is required for the provider custom"
		                            : "is only for the provider custom");
}

/* The provider of a connect call. Raises when it is none of models. */
static const struct provider *provider_of(struct request *rq, const struct model_key_input *in)
{
	const struct provider *provider = provider_get(rq, in->provider);
	if (provider->kind != PROVIDER_MODEL)
		raise_error(rq, ERR_AUTH_TYPE, "%s is connected with OAuth", provider->name);
	return provider;
}

void model_key_connect(struct request *rq)
{
	check_base_url(rq);
	struct model_key_input *in = request_input(rq, struct model_key_input, CONNECT_FIELDS);
	const struct provider *provider = provider_of(rq, in);
	model_key_try(rq, provider, in->base_url, in->api_key);
	struct arena *arena = request_secrets_arena(rq);
	struct credentials_owner owner = credentials_owner_new(rq, provider->name);
	struct sealed sealed =
		credentials_seal(arena, &owner, &(struct credentials){.api_key = in->api_key});
	audited_begin(rq); /* committed together with the answer */
	struct pg_rows *rows =
		pg_query(rq, CONNECTION_STORE_SQL, pg_text(owner.connection),
	                 pg_text(owner.account), pg_text(provider->name), pg_null(), pg_null(),
	                 pg_null(), pg_null(), pg_bytes(sealed.data, sealed.length), pg_null(),
	                 pg_int(0), pg_text(in->base_url), pg_bool(false), caller_key(rq),
	                 caller_person(rq), pg_null());
	connection_reply(rq, provider, pg_json(rows));
}

bool model_key_get(struct request *rq, const struct uuid *account, const char *provider,
                   struct model_key *ret_key)
{
	struct pg_rows *rows =
		pg_query(rq, CONNECTION_CREDENTIALS_SQL, pg_uuid(*account), pg_text(provider));
	if (pg_empty(rows))
		return false;
	struct arena *arena = request_secrets_arena(rq);
	const struct credentials_owner owner = {
		.connection = pg_get(rows, 0, "id"),
		.account = pg_uuid(*account).text,
		.provider = provider,
	};
	size_t length;
	const void *sealed = pg_get_bytes(arena, rows, 0, "sealed", &length);
	*ret_key = (struct model_key){
		.api_key = credentials_open(rq, arena, &owner, sealed, length).api_key,
		.base_url = pg_get(rows, 0, "base_url"),
	};
	return ret_key->api_key;
}
