#include "provider/oauth.h"

#include "base/crypto.h"
#include "base/json.h"
#include "client/fetch.h"
#include "provider/form.h"

#include <string.h>

#define ANSWER_MAX_BYTES ((size_t)256 * 1024)
#define CALL_TIMEOUT_MS  10000
#define REASON_MAX       300

const char *oauth_challenge(struct arena *arena, const char *verifier)
{
	uint8_t digest[SHA256_LEN];
	sha256(verifier, strlen(verifier), digest);
	return base64url_encode(arena, digest, sizeof(digest));
}

const char *oauth_authorize_url(struct request *rq, const struct provider *provider,
                                const char *redirect_uri, const char *state, const char *challenge)
{
	const struct oauth_settings *oauth = provider->oauth;
	struct buf url = {.arena = rq->arena};
	buf_puts(&url, oauth->authorize_url);
	buf_puts(&url, strchr(oauth->authorize_url, '?') ? "&" : "?");
	form_add(&url, "response_type", "code");
	form_add(&url, "client_id", oauth->client_id);
	form_add(&url, "redirect_uri", redirect_uri);
	form_add(&url, "scope", oauth->scopes);
	form_add(&url, "state", state);
	form_add(&url, "code_challenge", challenge);
	form_add(&url, "code_challenge_method", "S256");
	return url.data;
}

/* NULL: no answer. */
static struct fetch_response *call(struct request *rq, const char *method, const char *url,
                                   const struct http_field *fields, size_t field_count,
                                   const char *body)
{
	struct fetch_call call = {
		.method = method,
		.url = url,
		.fields = fields,
		.field_count = field_count,
		.body = body,
		.body_length = body ? strlen(body) : 0,
		.response_max_bytes = ANSWER_MAX_BYTES,
		.timeout_ms = CALL_TIMEOUT_MS,
	};
	struct fetch_response *answer;
	return fetch_try(rq, &call, &answer) ? NULL : answer;
}

static yyjson_val *parse(struct request *rq, const struct fetch_response *answer)
{
	yyjson_val *root;
	if (!answer || json_parse(rq->arena, answer->body, answer->body_length, &root, NULL))
		return NULL;
	return yyjson_is_obj(root) ? root : NULL;
}

/* The provider's own words: `invalid_grant: the code was used already`. */
static const char *reason_of(struct request *rq, const struct provider *provider,
                             const struct fetch_response *answer, yyjson_val *root)
{
	const char *error = json_get_text(root, "error");
	const char *description = json_get_text(root, "error_description");
	if (error)
		return arena_printf(rq->arena, "%s refused: %.*s%s%.*s", provider->name, REASON_MAX,
		                    error, description ? ": " : "", REASON_MAX,
		                    description ? description : "");
	if (answer)
		return arena_printf(rq->arena, "%s answered with status %d", provider->name,
		                    answer->status);
	return arena_printf(rq->arena, "%s does not answer", provider->name);
}

/* Errors of RFC 6749 section 5.2, and GitHub's own, after which the same request cannot succeed. */
static bool is_refusal(const struct fetch_response *answer, yyjson_val *root)
{
	return json_get_text(root, "error") && answer->status < 500 && answer->status != 429;
}

static bool read_tokens(struct arena *arena, yyjson_val *root, struct oauth_tokens *tokens)
{
	const char *access = json_get_text(root, "access_token");
	if (!access || !access[0])
		return false;
	const char *type = json_get_text(root, "token_type");
	/* GitHub writes `bearer`. */
	bool is_bearer = !type || strcasecmp(type, "bearer") == 0;
	yyjson_val *scope = json_get(root, "scope");
	*tokens = (struct oauth_tokens){
		.access_token = arena_strdup(arena, access),
		.refresh_token = arena_strdup(arena, json_get_text(root, "refresh_token")),
		.token_type = is_bearer ? "Bearer" : arena_strdup(arena, type),
		.scopes = yyjson_is_str(scope) ? arena_strdup(arena, yyjson_get_str(scope)) : NULL,
		.expires_in_s = json_get_int(root, "expires_in", 0),
	};
	return true;
}

/* POST a form to the token endpoint. The client authenticates in the form (RFC 6749 section 2.3.1), which
 * all providers take. OAuth errors come with status 400 and, from GitHub, with 200. */
static enum oauth_outcome ask_tokens(struct request *rq, const struct provider *provider,
                                     struct arena *arena, struct buf *form,
                                     struct oauth_tokens *ret_tokens, const char **ret_reason)
{
	static const struct http_field FIELDS[] = {
		{"Content-Type", "application/x-www-form-urlencoded"},
		{"Accept", "application/json"},
	};
	form_add(form, "client_id", provider->oauth->client_id);
	if (provider->oauth->client_secret[0])
		form_add(form, "client_secret", provider->oauth->client_secret);
	struct fetch_response *answer =
		call(rq, "POST", provider->oauth->token_url, FIELDS, ARRAY_LEN(FIELDS), form->data);
	yyjson_val *root = parse(rq, answer);
	if (root && answer->status == 200 && read_tokens(arena, root, ret_tokens))
		return OAUTH_DONE;
	*ret_reason = reason_of(rq, provider, answer, root);
	return root && is_refusal(answer, root) ? OAUTH_REFUSED : OAUTH_UNAVAILABLE;
}

enum oauth_outcome oauth_exchange(struct request *rq, const struct provider *provider,
                                  struct arena *arena, const char *code, const char *redirect_uri,
                                  const char *verifier, struct oauth_tokens *ret_tokens,
                                  const char **ret_reason)
{
	struct buf form = {.arena = arena};
	form_add(&form, "grant_type", "authorization_code");
	form_add(&form, "code", code);
	form_add(&form, "redirect_uri", redirect_uri);
	form_add(&form, "code_verifier", verifier);
	return ask_tokens(rq, provider, arena, &form, ret_tokens, ret_reason);
}

enum oauth_outcome oauth_refresh(struct request *rq, const struct provider *provider,
                                 struct arena *arena, const char *refresh_token,
                                 struct oauth_tokens *ret_tokens, const char **ret_reason)
{
	struct buf form = {.arena = arena};
	form_add(&form, "grant_type", "refresh_token");
	form_add(&form, "refresh_token", refresh_token);
	return ask_tokens(rq, provider, arena, &form, ret_tokens, ret_reason);
}

/* The first member of `names` that is a text or a number, as text. */
static const char *first_text(struct request *rq, yyjson_val *object, const char *const *names)
{
	for (; *names; names++) {
		yyjson_val *value = json_get(object, *names);
		if (yyjson_is_str(value) && yyjson_get_len(value) > 0)
			return yyjson_get_str(value);
		if (yyjson_is_uint(value))
			return arena_printf(rq->arena, "%llu",
			                    (unsigned long long)yyjson_get_uint(value));
	}
	return NULL;
}

/* The object that describes the user: the answer itself, or its only one in `{"data": {"viewer": …}}` of
 * GraphQL. */
static yyjson_val *user_object(yyjson_val *root)
{
	yyjson_val *data = json_get(root, "data");
	if (!yyjson_is_obj(data))
		return root;
	size_t index, max;
	yyjson_val *name, *value;
	yyjson_obj_foreach (data, index, max, name, value)
		return value;
	return NULL;
}

static struct fetch_response *ask_user(struct request *rq, const struct provider *provider,
                                       const char *access_token)
{
	const struct oauth_settings *oauth = provider->oauth;
	const struct http_field fields[] = {
		{"Authorization", arena_printf(rq->arena, "Bearer %s", access_token)},
		{"Accept", "application/json"},
		{"Content-Type", "application/json"},
	};
	if (!oauth->user_query[0])
		return call(rq, "GET", oauth->user_url, fields, 2, NULL);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, body, "query", oauth->user_query);
	return call(rq, "POST", oauth->user_url, fields, ARRAY_LEN(fields),
	            json_write_mut(rq->arena, body, NULL));
}

enum oauth_outcome oauth_user_get(struct request *rq, const struct provider *provider,
                                  const char *access_token, struct oauth_user *ret_user,
                                  const char **ret_reason)
{
	static const char *const ID[] = {"id", "account_id", "sub", NULL};
	static const char *const LOGIN[] = {"login", "nickname", "preferred_username", "name",
	                                    NULL};
	static const char *const EMAIL[] = {"email", NULL};
	struct fetch_response *answer = ask_user(rq, provider, access_token);
	yyjson_val *root = parse(rq, answer);
	yyjson_val *user = root && answer->status == 200 ? user_object(root) : NULL;
	const char *id = first_text(rq, user, ID);
	if (id) {
		*ret_user = (struct oauth_user){
			.id = id,
			.login = first_text(rq, user, LOGIN),
			.email = first_text(rq, user, EMAIL),
		};
		return OAUTH_DONE;
	}
	*ret_reason = reason_of(rq, provider, answer, NULL);
	return answer && (answer->status == 401 || answer->status == 403) ? OAUTH_REFUSED
	                                                                  : OAUTH_UNAVAILABLE;
}

/* The code host takes no RFC 7009, but forgets the whole grant of a user. */
static struct fetch_response *delete_grant(struct request *rq, const struct provider *provider,
                                           const char *access_token)
{
	const struct oauth_settings *oauth = provider->oauth;
	const char *pair = arena_printf(rq->arena, "%s:%s", oauth->client_id, oauth->client_secret);
	const struct http_field fields[] = {
		{"Authorization",
	         arena_printf(rq->arena, "Basic %s", base64_encode(rq->arena, pair, strlen(pair)))},
		{"Accept", "application/vnd.github+json"},
		{"Content-Type", "application/json"},
	};
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, body, "access_token", access_token);
	const char *url = arena_printf(rq->arena, "%s/applications/%s/grant", code_host_api_url(),
	                               oauth->client_id);
	return call(rq, "DELETE", url, fields, ARRAY_LEN(fields),
	            json_write_mut(rq->arena, body, NULL));
}

static struct fetch_response *revoke_token(struct request *rq, const struct provider *provider,
                                           const char *token, const char *hint)
{
	static const struct http_field FIELDS[] = {
		{"Content-Type", "application/x-www-form-urlencoded"},
	};
	struct buf form = {.arena = rq->arena};
	form_add(&form, "token", token);
	form_add(&form, "token_type_hint", hint);
	form_add(&form, "client_id", provider->oauth->client_id);
	if (provider->oauth->client_secret[0])
		form_add(&form, "client_secret", provider->oauth->client_secret);
	return call(rq, "POST", provider->oauth->revoke_url, FIELDS, ARRAY_LEN(FIELDS), form.data);
}

/* A token that the provider does not know is as good as revoked. */
static bool is_revoked(const struct fetch_response *answer)
{
	return answer && answer->status < 500 && answer->status != 429;
}

enum oauth_outcome oauth_revoke(struct request *rq, const struct provider *provider,
                                const char *access_token, const char *refresh_token)
{
	bool is_done;
	if (provider->kind == PROVIDER_CODE_HOST)
		is_done = is_revoked(delete_grant(rq, provider, access_token));
	else if (!provider->oauth->revoke_url[0])
		is_done = true;
	else
		is_done = (!refresh_token || is_revoked(revoke_token(rq, provider, refresh_token,
		                                                     "refresh_token"))) &&
		          is_revoked(revoke_token(rq, provider, access_token, "access_token"));
	return is_done ? OAUTH_DONE : OAUTH_UNAVAILABLE;
}
