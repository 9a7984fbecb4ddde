#include "provider/oauth.h"

#include "base/crypto.h"
#include "base/json.h"
#include "base/timefmt.h"
#include "client/fetch.h"
#include "provider/form.h"
#include "provider/reason.h"

#include <stdlib.h>
#include <string.h>

#define ANSWER_MAX_BYTES ((size_t)256 * 1024)
#define TOKEN_MAX        16384
#define SCOPES_MAX       4096

/* Texts of a user that are longer are not kept. */
#define USER_TEXT_MAX 320

/* A longer life of a token is taken for this one, ten years. */
#define LIFETIME_MAX_S INT64_C(315360000)

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
		.timeout_ms = (uint64_t)oauth_timeout_ms(),
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

/* The provider's own words: `tracker_a refused: invalid_grant: the code was used already`. */
static const char *reason_of(struct request *rq, const struct provider *provider,
                             const struct fetch_response *answer, yyjson_val *root,
                             const char *secret)
{
	const char *secrets[] = {provider->oauth->client_secret, secret, NULL};
	const char *const *known = provider->oauth->client_secret[0] ? secrets : secrets + 1;
	const char *error = reason_clean(rq->arena, json_get_text(root, "error"), known);
	const char *description =
		reason_clean(rq->arena, json_get_text(root, "error_description"), known);
	if (error)
		return arena_printf(rq->arena, "%s refused: %s%s%s", provider->name, error,
		                    description ? ": " : "", description ? description : "");
	if (answer)
		return arena_printf(rq->arena, "%s answered with status %d", provider->name,
		                    answer->status);
	return arena_printf(rq->arena, "%s does not answer", provider->name);
}

/* Errors that say nothing about the code or the token: the client is not configured as the provider expects
 * it, or the provider has a fault (RFC 6749 section 5.2, RFC 6749 section 4.1.2.1, and the code host's). */
static const char *const CLIENT_ERRORS[] = {
	"invalid_client",  "incorrect_client_credentials", "redirect_uri_mismatch",
	"invalid_request", "unsupported_grant_type",       "application_suspended",
	"server_error",    "temporarily_unavailable",      "slow_down",
};

static bool is_client_error(const char *error)
{
	for (size_t i = 0; i < ARRAY_LEN(CLIENT_ERRORS); i++)
		if (strcmp(error, CLIENT_ERRORS[i]) == 0)
			return true;
	return false;
}

/* Whether the code or the token was refused, so that the same request cannot succeed. */
static bool is_refusal(const struct fetch_response *answer, yyjson_val *root)
{
	const char *error = json_get_text(root, "error");
	return error && answer->status < 500 && answer->status != 429 && !is_client_error(error);
}

/* A token is sent in an HTTP field, so it must be visible ASCII (RFC 6749 appendix A.12). */
static bool is_token(const char *text)
{
	size_t length = text ? strlen(text) : 0;
	for (size_t i = 0; i < length; i++)
		if (text[i] < 0x21 || text[i] > 0x7E)
			return false;
	return length > 0 && length <= TOKEN_MAX;
}

/* For how long the token lives; some providers write the number as a text. 0: not told. */
static int64_t lifetime_of(yyjson_val *root)
{
	const char *text = json_get_text(root, "expires_in");
	double seconds = text ? strtod(text, NULL) : json_get_float(root, "expires_in", 0);
	if (!(seconds > 0))
		return 0;
	return seconds > (double)LIFETIME_MAX_S ? LIFETIME_MAX_S : MAX_OF((int64_t)seconds, 1);
}

static bool read_tokens(struct arena *arena, yyjson_val *root, struct oauth_tokens *tokens)
{
	const char *access = json_get_text(root, "access_token");
	const char *refresh = json_get_text(root, "refresh_token");
	const char *type = json_get_text(root, "token_type");
	const char *scope = json_get_text(root, "scope");
	if (!is_token(access) || (refresh && !is_token(refresh)) || (type && !is_token(type)))
		return false;
	/* GitHub writes `bearer`. */
	bool is_bearer = !type || strcasecmp(type, "bearer") == 0;
	*tokens = (struct oauth_tokens){
		.access_token = arena_strdup(arena, access),
		.refresh_token = arena_strdup(arena, refresh),
		.token_type = is_bearer ? "Bearer" : arena_strdup(arena, type),
		.scopes = scope && strlen(scope) <= SCOPES_MAX ? arena_strdup(arena, scope) : NULL,
		.expires_in_s = lifetime_of(root),
	};
	return true;
}

/* POST a form to the token endpoint. `secret` is the code or token in it. The client authenticates in the
 * form (RFC 6749 section 2.3.1), which all providers take. OAuth errors come with status 400 and, from
 * GitHub, with 200. The life of a token is counted from before the call. */
static enum oauth_outcome ask_tokens(struct request *rq, const struct provider *provider,
                                     struct arena *arena, struct buf *form, const char *secret,
                                     struct oauth_tokens *ret_tokens, const char **ret_reason)
{
	static const struct http_field FIELDS[] = {
		{"Content-Type", "application/x-www-form-urlencoded"},
		{"Accept", "application/json"},
	};
	form_add(form, "client_id", provider->oauth->client_id);
	if (provider->oauth->client_secret[0])
		form_add(form, "client_secret", provider->oauth->client_secret);
	uint64_t asked_ms = time_monotonic_ms();
	struct fetch_response *answer =
		call(rq, "POST", provider->oauth->token_url, FIELDS, ARRAY_LEN(FIELDS), form->data);
	yyjson_val *root = parse(rq, answer);
	if (root && answer->status == 200 && read_tokens(arena, root, ret_tokens)) {
		int64_t took_s = (int64_t)(time_monotonic_ms() - asked_ms) / 1000;
		if (ret_tokens->expires_in_s)
			ret_tokens->expires_in_s = MAX_OF(ret_tokens->expires_in_s - took_s, 1);
		return OAUTH_DONE;
	}
	*ret_reason = reason_of(rq, provider, answer, root, secret);
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
	return ask_tokens(rq, provider, arena, &form, code, ret_tokens, ret_reason);
}

enum oauth_outcome oauth_refresh(struct request *rq, const struct provider *provider,
                                 struct arena *arena, const char *refresh_token,
                                 struct oauth_tokens *ret_tokens, const char **ret_reason)
{
	struct buf form = {.arena = arena};
	form_add(&form, "grant_type", "refresh_token");
	form_add(&form, "refresh_token", refresh_token);
	return ask_tokens(rq, provider, arena, &form, refresh_token, ret_tokens, ret_reason);
}

/* The first member of `names` that is a text of usual length or a number, as text. */
static const char *first_text(struct request *rq, yyjson_val *object, const char *const *names)
{
	for (; *names; names++) {
		yyjson_val *value = json_get(object, *names);
		size_t length = yyjson_is_str(value) ? yyjson_get_len(value) : 0;
		if (length > 0 && length <= USER_TEXT_MAX)
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
	*ret_reason = reason_of(rq, provider, answer, NULL, NULL);
	return answer && (answer->status == 401 || answer->status == 403) ? OAUTH_REFUSED
	                                                                  : OAUTH_UNAVAILABLE;
}

/* The code host takes no RFC 7009. It forgets one token, or the whole grant of a user with all its tokens. */
static struct fetch_response *forget_at_code_host(struct request *rq,
                                                  const struct provider *provider,
                                                  const char *access_token, const char *what)
{
	const struct oauth_settings *oauth = provider->oauth;
	const char *pair = arena_printf(rq->arena, "%s:%s", oauth->client_id, oauth->client_secret);
	const struct http_field fields[] = {
		{"Authorization",
	         arena_printf(rq->arena, "Basic %s", base64_encode(rq->arena, pair, strlen(pair)))},
		{"Accept", "application/vnd.github+json"},
		{"User-Agent", "expops"},
		{"Content-Type", "application/json"},
	};
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, body, "access_token", access_token);
	const char *url = arena_printf(rq->arena, "%s/applications/%s/%s", code_host_api_url(),
	                               oauth->client_id, what);
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

/* A token that the provider does not know is as good as revoked. Not so when the client was refused. */
static bool is_revoked(struct request *rq, const struct fetch_response *answer)
{
	if (!answer || answer->status >= 500 || answer->status == 429)
		return false;
	const char *error = json_get_text(parse(rq, answer), "error");
	return !error || !is_client_error(error);
}

/* The code host answers 404 or 422 for a token that it does not know, and 401 when the client is refused. The
 * grant of a token that has expired is reached by a new token only. */
static bool revoke_at_code_host(struct request *rq, const struct provider *provider,
                                const char *access_token, const char *refresh_token, bool is_shared)
{
	const char *what = is_shared ? "token" : "grant";
	const struct fetch_response *answer = forget_at_code_host(rq, provider, access_token, what);
	if (answer && answer->status == 204)
		return true;
	if (!is_revoked(rq, answer) || answer->status == 401 || answer->status == 403)
		return false;
	struct oauth_tokens fresh;
	const char *reason;
	if (!refresh_token)
		return true;
	enum oauth_outcome outcome =
		oauth_refresh(rq, provider, rq->arena, refresh_token, &fresh, &reason);
	if (outcome == OAUTH_DONE)
		forget_at_code_host(rq, provider, fresh.access_token, what);
	return outcome != OAUTH_UNAVAILABLE;
}

enum oauth_outcome oauth_revoke(struct request *rq, const struct provider *provider,
                                const char *access_token, const char *refresh_token, bool is_shared)
{
	bool is_done;
	if (provider->kind == PROVIDER_CODE_HOST)
		is_done = revoke_at_code_host(rq, provider, access_token, refresh_token, is_shared);
	else if (!provider->oauth->revoke_url[0])
		is_done = true;
	else
		is_done =
			(!refresh_token || is_revoked(rq, revoke_token(rq, provider, refresh_token,
		                                                       "refresh_token"))) &&
			is_revoked(rq, revoke_token(rq, provider, access_token, "access_token"));
	return is_done ? OAUTH_DONE : OAUTH_UNAVAILABLE;
}
