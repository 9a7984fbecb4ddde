#include "repository/secret.h"

#include "connection/model_key.h"
#include "crypto/crypto.h"
#include "input/input.h"
#include "json/json.h"
#include "provider/provider.h"
#include "reply/reply.h"
#include "repository/repository.h"

#include <sodium.h>

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define NAME_MAX_LENGTH 200
#define VALUE_MAX       (48 * 1024) /* the code host's limit */

static const struct permission SECRET_PERMISSIONS[] = {{"secrets", "write"}, {0}};

struct secret_input {
	const char *repo, *name, *value, *model_provider;
};

/* The code host's rules for names. */
static bool name_check(const char *text, size_t length, const char **ret_message)
{
	*ret_message = "must be letters, digits and _, not begin with a digit or with GITHUB_";
	if (isdigit((unsigned char)text[0]) || strncasecmp(text, "GITHUB_", 7) == 0)
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_')
			return false;
	return true;
}

static const struct field SECRET_FIELDS[] = {
	BODY_TEXT(struct secret_input, repo, "repo", REQUIRED, 1, REPOSITORY_NAME_MAX),
	{IN_BODY, FIELD_TEXT, "name", FIELD_AT(struct secret_input, name, const char *), REQUIRED,
         1, NAME_MAX_LENGTH, .check = name_check},
	BODY_TEXT(struct secret_input, value, "value", NULLABLE, 1, VALUE_MAX),
	BODY_TEXT(struct secret_input, model_provider, "model_provider", NULLABLE, 1, 64),
	FIELD_END,
};

/* Encrypt for a public key in base64: an anonymous box of libsodium. NULL: it is no key. */
static char *seal(struct request *rq, const char *public_key, const char *value)
{
	size_t key_length, length = strlen(value);
	const uint8_t *key = base64_decode(rq->arena, public_key, strlen(public_key), &key_length);
	if (!key || key_length != crypto_box_PUBLICKEYBYTES || sodium_init() < 0)
		return NULL;
	uint8_t *box = arena_alloc(rq->arena, length + crypto_box_SEALBYTES);
	if (crypto_box_seal(box, (const uint8_t *)value, length, key) != 0)
		return NULL;
	return base64_encode(rq->arena, box, length + crypto_box_SEALBYTES);
}

/* Encrypt the value and store it; whether it is new. */
static bool put(struct request *rq, const struct repository *repository, const char *name,
                const char *value)
{
	struct code_host_answer key =
		repository_call(rq, repository, "GET", NULL, "/actions/secrets/public-key");
	const char *key_id = json_get_text(key.json, "key_id");
	const char *public_key = json_get_text(key.json, "key");
	if (key.status != 200)
		repository_refuse(rq, &key, "no such repository");
	const char *box = key_id && public_key ? seal(rq, public_key, value) : NULL;
	if (!box)
		raise_error(rq, ERR_UPSTREAM, "the code host gave no usable public key");
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, body, "encrypted_value", box);
	yyjson_mut_obj_add_str(doc, body, "key_id", key_id);
	struct code_host_answer answer =
		repository_call(rq, repository, "PUT", body, "/actions/secrets/%s", name);
	if (answer.status != 201 && answer.status != 204)
		repository_refuse(rq, &answer, "no such repository");
	return answer.status == 201;
}

static void reply(struct request *rq, const struct repository *repository, const char *name,
                  const char *outcome, const char *base_url)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_obj_add_str(doc, answer, "repo", repository->full_name);
	yyjson_mut_obj_add_str(doc, answer, "name", name);
	yyjson_mut_obj_add_str(doc, answer, "outcome", outcome);
	json_add_text(doc, answer, "base_url", base_url);
	reply_doc(rq, 200, doc);
}

/* The account's key of a model provider; false: it has none. */
static bool find_model_key(struct request *rq, const char *name, struct model_key *ret_key)
{
	const struct provider *provider = provider_get(rq, name);
	if (provider->kind != PROVIDER_MODEL)
		raise_error(rq, ERR_AUTH_TYPE, "%s is no model provider", provider->name);
	return model_key_get(rq, &rq->caller.account, provider->name, ret_key);
}

void secret_put(struct request *rq)
{
	struct secret_input *in = request_input(rq, struct secret_input, SECRET_FIELDS);
	if (!in->value == !in->model_provider)
		raise_field(rq, "value", "must be given, or model_provider, but not both");
	struct repository repository = repository_open(rq, in->repo, SECRET_PERMISSIONS);
	struct model_key key = {.api_key = in->value};
	if (in->model_provider && !find_model_key(rq, in->model_provider, &key)) {
		reply(rq, &repository, in->name, "model_key_missing", NULL);
		return;
	}
	bool is_new = put(rq, &repository, in->name, key.api_key);
	reply(rq, &repository, in->name, is_new ? "created" : "updated", key.base_url);
}

static const struct permission LOOK_PERMISSIONS[] = {{"secrets", "read"}, {0}};

static const struct field GET_FIELDS[] = {
	BODY_TEXT(struct secret_input, repo, "repo", REQUIRED, 1, REPOSITORY_NAME_MAX),
	{IN_BODY, FIELD_TEXT, "name", FIELD_AT(struct secret_input, name, const char *), REQUIRED,
         1, NAME_MAX_LENGTH, .check = name_check},
	FIELD_END,
};

void secret_get(struct request *rq)
{
	struct secret_input *in = request_input(rq, struct secret_input, GET_FIELDS);
	struct repository repository = repository_open(rq, in->repo, LOOK_PERMISSIONS);
	struct code_host_answer answer =
		repository_call(rq, &repository, "GET", NULL, "/actions/secrets/%s", in->name);
	if (answer.status != 200 && answer.status != 404)
		repository_refuse(rq, &answer, "no such repository");
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *found = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, found);
	yyjson_mut_obj_add_str(doc, found, "repo", repository.full_name);
	yyjson_mut_obj_add_str(doc, found, "name", in->name);
	yyjson_mut_obj_add_bool(doc, found, "found", answer.status == 200);
	reply_doc(rq, 200, doc);
}
