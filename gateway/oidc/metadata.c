#include "oidc/metadata.h"

#include "base/base.h"
#include "base/url.h"
#include "json/json.h"
#include "oidc/oidc.h"

#include <string.h>
#include <strings.h>

/* The scheme, the host and the port of a URL. */
static size_t origin_length(const char *url)
{
	size_t scheme = url_scheme_length(url);
	return scheme + strcspn(url + scheme, "/?#");
}

bool oidc_is_same_origin(const char *issuer, const char *url)
{
	size_t length = origin_length(issuer);
	return origin_length(url) == length && strncasecmp(url, issuer, length) == 0;
}

static bool is_https(const char *url)
{
	return strncasecmp(url, "https:", 6) == 0;
}

/* The endpoint of a name, in the arena; NULL: there is none that may be used. */
static const char *endpoint_of(struct arena *arena, const char *issuer, yyjson_val *root,
                               const char *name)
{
	const char *url = json_get_text(root, name);
	bool is_usable = url && oidc_url_is_safe(url) && !strchr(url, '#') &&
	                 (is_https(url) || !is_https(issuer));
	return is_usable ? arena_strdup(arena, url) : NULL;
}

/* Whether the list `name` has the text; `fallback`: there is no list. */
static bool list_has(yyjson_val *root, const char *name, const char *text, bool fallback)
{
	yyjson_val *list = json_get(root, name), *item;
	size_t index, count;
	if (!yyjson_is_arr(list))
		return fallback;
	yyjson_arr_foreach (list, index, count, item)
		if (yyjson_equals_str(item, text))
			return true;
	return false;
}

const char *oidc_metadata_read(struct arena *arena, const char *issuer, yyjson_val *root,
                               struct oidc_metadata *ret_metadata)
{
	const char *named = json_get_text(root, "issuer");
	if (!named || strcmp(named, issuer) != 0)
		return "has another issuer than OIDC_ISSUER";
	struct oidc_metadata metadata = {
		.authorization_endpoint =
			endpoint_of(arena, issuer, root, "authorization_endpoint"),
		.token_endpoint = endpoint_of(arena, issuer, root, "token_endpoint"),
		.jwks_uri = endpoint_of(arena, issuer, root, "jwks_uri"),
		.userinfo_endpoint = endpoint_of(arena, issuer, root, "userinfo_endpoint"),
		.names_issuer =
			json_get_bool(root, "authorization_response_iss_parameter_supported",
	                              false),
		.takes_basic = list_has(root, "token_endpoint_auth_methods_supported",
	                                "client_secret_basic", true),
	};
	if (!metadata.authorization_endpoint || !metadata.token_endpoint || !metadata.jwks_uri)
		return "lacks an endpoint of https";
	*ret_metadata = metadata;
	return NULL;
}

struct oidc_metadata oidc_metadata_copy(struct arena *arena, const struct oidc_metadata *metadata)
{
	struct oidc_metadata copy = *metadata;
	copy.authorization_endpoint = arena_strdup(arena, metadata->authorization_endpoint);
	copy.token_endpoint = arena_strdup(arena, metadata->token_endpoint);
	copy.jwks_uri = arena_strdup(arena, metadata->jwks_uri);
	copy.userinfo_endpoint = arena_strdup(arena, metadata->userinfo_endpoint);
	return copy;
}
