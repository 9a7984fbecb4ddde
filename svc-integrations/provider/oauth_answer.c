#include "provider/oauth_answer.h"

#include "client/oauth_code.h"
#include "json/json.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCOPES_MAX 4096
#define WORDS_MAX  1024 /* of a page */

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

/* For how long the token lives; some providers write the number as a text. 0: not given. */
static int64_t lifetime_of(yyjson_val *root)
{
	yyjson_val *member = json_get(root, "expires_in");
	const char *text = yyjson_get_str(member);
	char *end = NULL;
	double seconds = text ? strtod(text, &end) : yyjson_get_num(member);
	if ((text ? end == text : !yyjson_is_num(member)) || isnan(seconds))
		return 0;
	if (seconds <= 0)
		return OAUTH_EXPIRES_AT_ONCE;
	return seconds > (double)LIFETIME_MAX_S ? LIFETIME_MAX_S : MAX_OF((int64_t)seconds, 1);
}

/* The scopes, a text or an array of texts. NULL: not given. */
static const char *scopes_of(struct arena *arena, yyjson_val *root)
{
	yyjson_val *member = json_get(root, "scope"), *item;
	struct buf out = {.arena = arena};
	size_t index, max;
	if (yyjson_is_str(member))
		buf_puts(&out, yyjson_get_str(member));
	yyjson_arr_foreach (member, index, max, item)
		if (yyjson_is_str(item))
			buf_printf(&out, "%s%s", out.length > 0 ? " " : "", yyjson_get_str(item));
	return out.length > 0 && out.length <= SCOPES_MAX ? out.data : NULL;
}

bool oauth_tokens_read(struct arena *arena, yyjson_val *root, struct oauth_tokens *ret_tokens)
{
	const char *access = json_get_text(root, "access_token");
	const char *refresh = json_get_text(root, "refresh_token");
	const char *type = json_get_text(root, "token_type");
	if (!oauth_token_is_valid(access))
		return false;
	/* GitHub writes `bearer`. */
	bool is_bearer = !oauth_token_is_valid(type) || strcasecmp(type, "bearer") == 0;
	*ret_tokens = (struct oauth_tokens){
		.access_token = arena_strdup(arena, access),
		.refresh_token =
			oauth_token_is_valid(refresh) ? arena_strdup(arena, refresh) : NULL,
		.token_type = is_bearer ? "Bearer" : arena_strdup(arena, type),
		.scopes = scopes_of(arena, root),
		.expires_in_s = lifetime_of(root),
	};
	return true;
}

/* The text of a page, without tags and with single spaces. */
static const char *page_words(struct arena *arena, const char *body)
{
	struct buf out = {.arena = arena};
	bool is_tag = false, is_after_space = false;
	for (; *body && out.length < WORDS_MAX; body++) {
		is_tag = *body == '<' || (is_tag && body[-1] != '>');
		bool is_space = is_tag || isspace((unsigned char)*body);
		if (!is_space) {
			buf_puts(&out, is_after_space && out.length > 0 ? " " : "");
			buf_add(&out, body, 1);
		}
		is_after_space = is_space;
	}
	return out.length > 0 ? out.data : NULL;
}

/* The texts of `names` that an object has: `invalid_grant: the code was used already`. */
static const char *object_words(struct arena *arena, yyjson_val *object, const char *const *names)
{
	struct buf out = {.arena = arena};
	for (; *names; names++) {
		const char *text = json_get_text(object, *names);
		if (text && text[0])
			buf_printf(&out, "%s%s", out.length > 0 ? ": " : "", text);
	}
	return out.length > 0 ? out.data : NULL;
}

const char *oauth_error_words(struct arena *arena, yyjson_val *root, const char *body)
{
	static const char *const FLAT[] = {"error", "error_description", NULL};
	static const char *const NESTED[] = {
		"code",   "type", "error", "title", "message", "description", "error_description",
		"detail", NULL};
	if (!root)
		return page_words(arena, body);
	yyjson_val *error = json_get(root, "error");
	const char *words = object_words(arena, root, FLAT);
	words = words ? words : object_words(arena, error, NESTED);
	words = words ? words
	              : object_words(arena, yyjson_arr_get_first(json_get(root, "errors")), NESTED);
	return words ? words : object_words(arena, root, NESTED);
}

/* The first member of `names` that is a text of usual length or a number, as text. */
static const char *first_text(struct arena *arena, yyjson_val *object, const char *const *names)
{
	for (; *names; names++) {
		yyjson_val *value = json_get(object, *names);
		size_t length = yyjson_is_str(value) ? yyjson_get_len(value) : 0;
		if (length > 0 && length <= USER_TEXT_MAX)
			return yyjson_get_str(value);
		json_spell_whole(value);
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
		.is_email_verified = yyjson_is_true(json_get(object, "email_verified")),
	};
	return true;
}

static bool is_verified_email(yyjson_val *row)
{
	size_t length = yyjson_get_len(json_get(row, "email"));
	return json_get_text(row, "email") && length > 0 && length <= USER_TEXT_MAX &&
	       yyjson_is_true(json_get(row, "verified"));
}

void oauth_emails_read(yyjson_val *list, struct oauth_user *user)
{
	size_t index, max;
	yyjson_val *row;
	const char *primary = NULL;
	yyjson_arr_foreach (list, index, max, row) {
		if (!is_verified_email(row))
			continue;
		const char *email = json_get_text(row, "email");
		user->is_email_verified |= user->email && strcasecmp(email, user->email) == 0;
		if (yyjson_is_true(json_get(row, "primary")))
			primary = email;
	}
	if (primary && !user->is_email_verified) {
		user->email = primary;
		user->is_email_verified = true;
	}
}
