/** The ID token: a JSON Web Token (RFC 7519) that the provider has signed (OpenID Connect Core 1.0
 * section 2). It is of use only after all of
 *
 * 1. id_token_read(): its form, with an algorithm of public keys;
 * 2. public_key_verify() with the provider's key of its `kid`, which covers `signed_text`;
 * 3. id_token_check(): whom it is from and for, and when.
 */
#pragma once

#include "base/arena.h"
#include "crypto/public_key.h"

#include <yyjson.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ID_TOKEN_MAX ((size_t)32 << 10) /* bytes */

/** Difference of the clocks, and how old a token may be. */
#define ID_TOKEN_CLOCK_S 60
#define ID_TOKEN_AGE_S   600

struct id_token {
	enum signature_algorithm algorithm;
	const char *kid;
	const char *signed_text; /* header and claims, as they were sent; borrowed */
	size_t signed_length;
	const void *signature;
	size_t signature_length;
	yyjson_val *claims;
};

/** Read a token of the compact form (RFC 7515 section 7.1), in the arena. Only RS256 and ES256 are
 * known, so neither `none` nor an algorithm of secrets, which the public key could be taken for.
 * Returns NULL, or what is wrong, as the rest of a sentence: `is not signed with RS256 or ES256`.
 */
const char *id_token_read(struct arena *arena, const char *text, struct id_token *ret_token);

struct id_token_rules {
	const char *issuer, *client_id, *nonce;
	int64_t now_s; /* Unix time */
};

/** Check the claims (section 3.1.3.7 there). NULL, or what is wrong. */
const char *id_token_check(const struct id_token *token, const struct id_token_rules *rules);

/** Who has logged in; borrows from the claims. */
struct id_claims {
	const char *subject;
	const char *email;      /* NULL: not told */
	const char *name;       /* NULL: not told */
	bool is_email_verified; /* `email_verified` is boolean true: not a text, not 1 */
};

/** The claims about the person, of a token or of an answer of the userinfo endpoint. A text of an
 * unusual length is taken for absent. */
struct id_claims id_claims_read(yyjson_val *claims);
