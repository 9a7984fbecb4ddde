#include "provider/oauth.h"

#include "base/timefmt.h"
#include "client/fetch.h"
#include "client/oauth_code.h"
#include "crypto/crypto.h"
#include "http/query.h"
#include "json/json.h"
#include "provider/reason.h"

#include <string.h>

#define ANSWER_MAX_BYTES ((size_t)256 * 1024)
#define TEXT_MAX_BYTES   ((size_t)16 * 1024) /* of a page that is read for its words */

const char *oauth_authorize_url(struct request *rq, const struct provider *provider,
                                const char *redirect_uri, const char *state, const char *verifier)
{
	const struct oauth_code_request request = {
		.endpoint = provider->oauth->authorize_url,
		.client_id = provider->oauth->client_id,
		.redirect_uri = redirect_uri,
		.scopes = provider->oauth->scopes,
		.state = state,
		.verifier = verifier,
	};
	return oauth_code_url(rq->arena, &request).data;
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
	if (!answer || fetch_json_outside(rq->arena, answer, &root))
		return NULL;
	return yyjson_is_obj(root) ? root : NULL;
}

/* The beginning of an answer, as a text. One of status 200 may have tokens. */
static const char *body_text(struct request *rq, const struct fetch_response *answer)
{
	bool is_refusal = answer->status != 200;
	size_t length = is_refusal ? MIN_OF(answer->body_length, TEXT_MAX_BYTES) : 0;
	return length > 0 ? arena_strndup(rq->arena, answer->body, length) : "";
}

/* The provider's own words: `tracker_a refused: invalid_grant: the code was used already`. */
static const char *reason_of(struct request *rq, const struct provider *provider,
                             const struct fetch_response *answer, yyjson_val *root,
                             const char *secret)
{
	const char *secrets[] = {provider->oauth->client_secret, secret, NULL};
	const char *words =
		answer ? oauth_error_words(rq->arena, root, body_text(rq, answer)) : NULL;
	words = reason_clean(rq->arena, words, secrets);
	if (words && json_get_text(root, "error"))
		return arena_printf(rq->arena, "%s refused: %s", provider->name, words);
	if (answer)
		return arena_printf(rq->arena, "%s answered with status %d%s%s", provider->name,
		                    answer->status, words ? ": " : "", words ? words : "");
	return arena_printf(rq->arena, "%s does not answer", provider->name);
}

/* What an answer without tokens says of the code or the token. The status and the error code of
 * RFC 6749 are clear. A gateway in front of a provider, and some providers, refuse in
 * their own words. */
static enum oauth_outcome outcome_of(const struct fetch_response *answer, yyjson_val *root)
{
	if (!answer || answer->status >= 500 || answer->status == 429)
		return OAUTH_UNAVAILABLE;
	yyjson_val *error = json_get(root, "error");
	if (yyjson_is_str(error))
		return oauth_error_is_of_client(yyjson_get_str(error)) ? OAUTH_UNAVAILABLE
		                                                       : OAUTH_REFUSED;
	bool is_final = answer->status == 400 || answer->status == 401 || answer->status == 403;
	bool has_error = answer->status == 200 && yyjson_is_ctn(error);
	return is_final || has_error ? OAUTH_REFUSED_UNCLEARLY : OAUTH_UNAVAILABLE;
}

/* POST a form to the token endpoint. `secret` is the code or token in it. The client authenticates
 * in the form (RFC 6749 section 2.3.1), which all providers take. OAuth errors come with status 400
 * and, from GitHub, with 200. The life of a token is counted from before the call. */
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
	if (root && answer->status == 200 && oauth_tokens_read(arena, root, ret_tokens)) {
		int64_t took_s = (int64_t)(time_monotonic_ms() - asked_ms) / 1000;
		if (ret_tokens->expires_in_s > 0)
			ret_tokens->expires_in_s = MAX_OF(ret_tokens->expires_in_s - took_s, 1);
		return OAUTH_DONE;
	}
	*ret_reason = reason_of(rq, provider, answer, root, secret);
	return outcome_of(answer, root);
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

/* Whether a user's email is verified: the code host says so apart, of all addresses, and only where
 * its app or scopes permit it. Without an answer it is not. */
static void ask_emails(struct request *rq, const char *access_token, struct oauth_user *user)
{
	const struct http_field fields[] = {
		{"Authorization", arena_printf(rq->arena, "Bearer %s", access_token)},
		{"Accept", "application/vnd.github+json"},
		{"User-Agent", "expops"},
	};
	const char *url =
		arena_printf(rq->arena, "%s/user/emails?per_page=100", code_host_api_url());
	struct fetch_response *answer = call(rq, "GET", url, fields, ARRAY_LEN(fields), NULL);
	yyjson_val *root;
	if (answer && answer->status == 200 && !fetch_json_outside(rq->arena, answer, &root))
		oauth_emails_read(root, user);
}

enum oauth_outcome oauth_user_get(struct request *rq, const struct provider *provider,
                                  const char *access_token, struct oauth_user *ret_user,
                                  const char **ret_reason)
{
	struct fetch_response *answer = ask_user(rq, provider, access_token);
	yyjson_val *root = parse(rq, answer);
	if (root && answer->status == 200 && oauth_user_read(rq->arena, root, ret_user)) {
		if (provider->kind == PROVIDER_CODE_HOST)
			ask_emails(rq, access_token, ret_user);
		return OAUTH_DONE;
	}
	*ret_reason = reason_of(rq, provider, answer, root, access_token);
	return answer && (answer->status == 401 || answer->status == 403) ? OAUTH_REFUSED
	                                                                  : OAUTH_UNAVAILABLE;
}

/* The code host takes no RFC 7009. It forgets one token, or the whole grant of a user with all its
 * tokens. */
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

/* HTML in place of what an OAuth endpoint answers. */
static bool is_page(const struct fetch_response *answer)
{
	return answer->body[strspn(answer->body, " \t\r\n")] == '<';
}

/* RFC 7009 section 2.2. A token that the provider does not know, which has codes of its own, is as
 * good as revoked. Not so when the client was refused, or another has answered: a page of a log-in,
 * a gateway in front of the provider, whose `error` may be `Unauthorized`, a server without this
 * endpoint. `may_expire`: a token that the provider does not revoke is left to its end. */
static bool is_revoked(struct request *rq, const struct fetch_response *answer, bool may_expire)
{
	int status = answer ? answer->status : 0;
	if (status != 200 && status != 204 && status != 400 && status != 401)
		return false;
	const char *error = json_get_text(parse(rq, answer), "error");
	if (error && strcmp(error, "unsupported_token_type") == 0)
		return may_expire;
	if (error)
		return strcmp(error, "invalid_token") == 0 || strcmp(error, "invalid_grant") == 0;
	return (status == 200 || status == 204) && !is_page(answer);
}

/* The code host answers 404 or 422 for a token that it does not know, and 401 when the client is
 * refused. */
static enum oauth_outcome revoke_at_code_host(struct request *rq, const struct provider *provider,
                                              const char *access_token, bool is_shared)
{
	const struct fetch_response *answer =
		forget_at_code_host(rq, provider, access_token, is_shared ? "token" : "grant");
	if (answer && answer->status == 204)
		return OAUTH_DONE;
	bool is_unknown = answer && (answer->status == 404 || answer->status == 422);
	return is_unknown ? OAUTH_REFUSED : OAUTH_UNAVAILABLE;
}

enum oauth_outcome oauth_revoke(struct request *rq, const struct provider *provider,
                                const char *access_token, const char *refresh_token, bool is_shared)
{
	if (provider->kind == PROVIDER_CODE_HOST)
		return revoke_at_code_host(rq, provider, access_token, is_shared);
	if (!provider->oauth->revoke_url[0])
		return OAUTH_DONE;
	bool is_done = (!refresh_token ||
	                is_revoked(rq, revoke_token(rq, provider, refresh_token, "refresh_token"),
	                           false)) &&
	               is_revoked(rq, revoke_token(rq, provider, access_token, "access_token"),
	                          refresh_token != NULL);
	return is_done ? OAUTH_DONE : OAUTH_UNAVAILABLE;
}
