#include "provider/oauth_answer.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

#define TOKEN_MAX  16384
#define SCOPES_MAX 4096

/* Texts of a user that are longer are not kept. */
#define USER_TEXT_MAX 320

/* A longer life of a token is taken for this one, ten years. */
#define LIFETIME_MAX_S INT64_C(315360000)

/* Errors that say nothing about the code or the token: the client is not configured as the provider
 * expects it, or the provider has a fault (RFC 6749 section 5.2, RFC 6749 section 4.1.2.1, and the
 * code host's). */
static const char *const CLIENT_ERRORS[] = {
	"invalid_client",  "incorrect_client_credentials", "redirect_uri_mismatch",
	"invalid_request", "unsupported_grant_type",       "application_suspended",
	"server_error",    "temporarily_unavailable",      "slow_down",
};

bool oauth_error_is_of_client(const char *error)
{
	for (size_t i = 0; i < ARRAY_LEN(CLIENT_ERRORS); i++)
		if (strcmp(error, CLIENT_ERRORS[i]) == 0)
			return true;
	return false;
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

bool oauth_tokens_read(struct arena *arena, yyjson_val *root, struct oauth_tokens *ret_tokens)
{
	const char *access = json_get_text(root, "access_token");
	const char *refresh = json_get_text(root, "refresh_token");
	const char *type = json_get_text(root, "token_type");
	const char *scope = json_get_text(root, "scope");
	if (!is_token(access) || (refresh && !is_token(refresh)) || (type && !is_token(type)))
		return false;
	/* GitHub writes `bearer`. */
	bool is_bearer = !type || strcasecmp(type, "bearer") == 0;
	*ret_tokens = (struct oauth_tokens){
		.access_token = arena_strdup(arena, access),
		.refresh_token = arena_strdup(arena, refresh),
		.token_type = is_bearer ? "Bearer" : arena_strdup(arena, type),
		.scopes = scope && strlen(scope) <= SCOPES_MAX ? arena_strdup(arena, scope) : NULL,
		.expires_in_s = lifetime_of(root),
	};
	return true;
}

/* The first member of `names` that is a text of usual length or a number, as text. */
static const char *first_text(struct arena *arena, yyjson_val *object, const char *const *names)
{
	for (; *names; names++) {
		yyjson_val *value = json_get(object, *names);
		size_t length = yyjson_is_str(value) ? yyjson_get_len(value) : 0;
		if (length > 0 && length <= USER_TEXT_MAX)
			return yyjson_get_str(value);
		if (yyjson_is_uint(value))
			return arena_printf(arena, "%llu",
			                    (unsigned long long)yyjson_get_uint(value));
	}
	return NULL;
}

/* The object that describes the user: the answer itself, or its only one in `{"data": {"viewer":
 * …}}` of GraphQL. */
static yyjson_val *user_object(yyjson_val *root)
{
	yyjson_val *data = json_get(root, "data");
	if (!yyjson_is_obj(data))
		return root;
	size_t index, max;
	yyjson_val *name, *value;
	json_obj_foreach (data, index, max, name, value)
		return value;
	return NULL;
}

bool oauth_user_read(struct arena *arena, yyjson_val *root, struct oauth_user *ret_user)
{
	static const char *const ID[] = {"id", "account_id", "sub", NULL};
	static const char *const LOGIN[] = {"login", "nickname", "preferred_username", "name",
	                                    NULL};
	static const char *const EMAIL[] = {"email", NULL};
	yyjson_val *object = user_object(root);
	const char *id = first_text(arena, object, ID);
	if (!id)
		return false;
	*ret_user = (struct oauth_user){
		.id = id,
		.login = first_text(arena, object, LOGIN),
		.email = first_text(arena, object, EMAIL),
	};
	return true;
}
