#include "oidc/id_token.h"

#include "account/email_address.h"
#include "base/utf8.h"
#include "crypto/crypto.h"
#include "json/json.h"

#include <string.h>

#define SUBJECT_MAX         255 /* OpenID Connect Core 1.0 section 2 */
#define NAME_MAX_CHARACTERS 200

/* --- Form ------------------------------------------------------------------------------------- */

/* The parts of a token, between its two points. */
struct parts {
	const char *header, *claims, *signature;
	size_t header_length, claims_length, signature_length;
};

static bool split(const char *text, struct parts *parts)
{
	parts->header = text;
	parts->header_length = strcspn(text, ".");
	if (!text[parts->header_length])
		return false;
	parts->claims = text + parts->header_length + 1;
	parts->claims_length = strcspn(parts->claims, ".");
	if (!parts->claims[parts->claims_length])
		return false;
	parts->signature = parts->claims + parts->claims_length + 1;
	parts->signature_length = strlen(parts->signature);
	return parts->signature_length > 0 && !strchr(parts->signature, '.');
}

/* The object that a part encodes; NULL: none. */
static yyjson_val *decode(struct arena *arena, const char *text, size_t length)
{
	size_t json_length;
	yyjson_val *root;
	const char *json = base64url_decode(arena, text, length, &json_length);
	if (!json || json_parse(arena, json, json_length, &root, NULL) || !yyjson_is_obj(root))
		return NULL;
	return root;
}

const char *id_token_read(struct arena *arena, const char *text, struct id_token *ret_token)
{
	struct parts parts;
	if (strlen(text) > ID_TOKEN_MAX || !split(text, &parts))
		return "has not three parts";
	yyjson_val *header = decode(arena, parts.header, parts.header_length);
	struct id_token token = {
		.kid = json_get_text(header, "kid"),
		.signed_text = text,
		.signed_length = parts.header_length + 1 + parts.claims_length,
		.claims = decode(arena, parts.claims, parts.claims_length),
	};
	token.signature = base64url_decode(arena, parts.signature, parts.signature_length,
	                                   &token.signature_length);
	if (!header || !token.claims || !token.signature)
		return "is not the base64url of JSON";
	if (!signature_algorithm_find(json_get_text(header, "alg"), &token.algorithm))
		return "is not signed with RS256 or ES256";
	if (json_get(header, "crit"))
		return "has an extension that is not known"; /* RFC 7515 section 4.1.11 */
	if (!token.kid)
		return "does not name its key";
	*ret_token = token;
	return NULL;
}

/* --- Claims ----------------------------------------------------------------------------------- */

static bool is_text(yyjson_val *claims, const char *name, const char *expected)
{
	yyjson_val *claim = json_get(claims, name);
	return yyjson_is_str(claim) && yyjson_equals_str(claim, expected);
}

/* Whether it is for the client: `aud` is its id, or a list with it. With several audiences `azp`
 * must be the client, and wherever it is given. */
static bool is_for(yyjson_val *claims, const char *client)
{
	yyjson_val *audience = json_get(claims, "aud"), *item;
	bool is_listed = yyjson_equals_str(audience, client);
	bool is_several = yyjson_is_arr(audience) && yyjson_arr_size(audience) > 1;
	size_t index, count;
	if (yyjson_is_arr(audience))
		yyjson_arr_foreach (audience, index, count, item)
			is_listed |= yyjson_equals_str(item, client);
	bool has_party = is_several || json_get(claims, "azp");
	return is_listed && (!has_party || is_text(claims, "azp", client));
}

/* A NumericDate; it may have a fraction. False: it is none. */
static bool read_time(yyjson_val *claims, const char *name, double *ret_time)
{
	yyjson_val *claim = json_get(claims, name);
	*ret_time = yyjson_get_num(claim);
	return yyjson_is_num(claim);
}

static const char *check_times(yyjson_val *claims, double now)
{
	double expires, issued, not_before;
	if (!read_time(claims, "exp", &expires) || !read_time(claims, "iat", &issued))
		return "has no times";
	if (!(expires > now - ID_TOKEN_CLOCK_S))
		return "has expired";
	if (!(issued <= now + ID_TOKEN_CLOCK_S))
		return "is of the future: the clocks differ";
	if (!(issued >= now - ID_TOKEN_AGE_S - ID_TOKEN_CLOCK_S))
		return "is too old";
	if (json_get(claims, "nbf") &&
	    !(read_time(claims, "nbf", &not_before) && not_before <= now + ID_TOKEN_CLOCK_S))
		return "is of the future: the clocks differ";
	return NULL;
}

const char *id_token_check(const struct id_token *token, const struct id_token_rules *rules)
{
	yyjson_val *claims = token->claims;
	if (!is_text(claims, "iss", rules->issuer))
		return "is of another issuer";
	if (!is_for(claims, rules->client_id))
		return "is for another client";
	if (!is_text(claims, "nonce", rules->nonce))
		return "is of another log-in";
	if (!id_claims_read(claims).subject)
		return "has no subject";
	return check_times(claims, (double)rules->now_s);
}

/* --- The person ------------------------------------------------------------------------------- */

/* A text without control characters and of at most that many bytes. */
static const char *text_of(yyjson_val *claims, const char *name, size_t bytes_max)
{
	yyjson_val *claim = json_get(claims, name);
	const char *text = yyjson_get_str(claim);
	size_t length = yyjson_get_len(claim);
	if (!text || length < 1 || length > bytes_max)
		return NULL;
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return NULL;
	return text;
}

/* Addresses are compared by lower(), which makes others of some that are not ASCII: k of U+212A,
 * the sign of kelvin. At a provider where anybody may register these would be somebody else's. */
static bool is_ascii(const char *text)
{
	while (*text && !(*text & 0x80))
		text++;
	return !*text;
}

struct id_claims id_claims_read(yyjson_val *claims)
{
	const char *message;
	const char *email = text_of(claims, "email", EMAIL_MAX);
	const char *name = text_of(claims, "name", 4 * (size_t)NAME_MAX_CHARACTERS);
	if (email && !(email_address_check(email, strlen(email), &message) && is_ascii(email)))
		email = NULL;
	if (name && utf8_count(name, strlen(name)) > NAME_MAX_CHARACTERS)
		name = NULL;
	return (struct id_claims){
		.subject = text_of(claims, "sub", SUBJECT_MAX),
		.email = email,
		.name = name,
		.is_email_verified = yyjson_is_true(json_get(claims, "email_verified")),
	};
}
