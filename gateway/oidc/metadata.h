/** The metadata of an OpenID provider (OpenID Connect Discovery 1.0 section 3), what of it is used.
 */
#pragma once

#include "base/arena.h"

#include <yyjson.h>

#include <stdbool.h>

struct oidc_metadata {
	const char *authorization_endpoint, *token_endpoint, *jwks_uri;
	const char *userinfo_endpoint; /* NULL: it has none */
	bool names_issuer;             /* each of its answers has `iss` (RFC 9207 section 3) */
	bool takes_basic;              /* client_secret_basic; otherwise client_secret_post */
};

/** Read the metadata of the provider `issuer`, in the arena. Every endpoint is one that secrets may
 * be sent to (oidc_url_is_safe()), and of https when the issuer is. Returns NULL, or what is wrong,
 * as the rest of a sentence: `has the issuer of another provider`. */
const char *oidc_metadata_read(struct arena *arena, const char *issuer, yyjson_val *root,
                               struct oidc_metadata *ret_metadata);

/** A copy in the arena. */
struct oidc_metadata oidc_metadata_copy(struct arena *arena, const struct oidc_metadata *metadata);

/** Whether a URL is of the same scheme, host and port as the issuer. */
bool oidc_is_same_origin(const char *issuer, const char *url);
