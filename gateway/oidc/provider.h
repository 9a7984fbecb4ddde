/** Calls of the OpenID provider of OIDC_ISSUER.
 *
 * Each worker keeps the provider's metadata and keys for an hour. Keys are read again for a token
 * whose `kid` is unknown, at most once a minute. After a failure the provider is left alone for a
 * while, and a client has only a part of the calls that run at once (llm/call_gate.h), so a
 * provider that does not answer costs a bounded number of fibers.
 *
 * Endpoints come from the provider: one of another origin than the issuer's must have a public
 * address, or one of FETCH_ALLOW. No redirect is followed. What an answer says is not trusted, and
 * has at most 256 KiB.
 *
 * All suspend, and raise ERR_UNAVAILABLE when the provider does not answer, or is not asked;
 * ERR_UPSTREAM when the answer is of no use. The log says why.
 */
#pragma once

#include "loop/request.h"
#include "oidc/id_token.h"
#include "oidc/metadata.h"

/** What the workers of a process keep. */
struct oidc_cache;

/** In the arena, for that many workers. */
struct oidc_cache *oidc_cache_new(struct arena *arena, int workers);

/** Free what the workers keep. Accepts NULL. */
void oidc_cache_free(struct oidc_cache *cache);

/** The metadata, in the arena of the request. */
struct oidc_metadata provider_metadata(struct request *rq);

/** What a code is exchanged for; in the arena. */
struct provider_tokens {
	const char *id_token;
	const char *access_token; /* NULL: none */
};

/** Exchange a code. Raises ERR_FORBIDDEN when the provider refuses it. */
struct provider_tokens provider_exchange(struct request *rq, const struct oidc_metadata *metadata,
                                         const char *code, const char *redirect_uri,
                                         const char *verifier);

/** Whether the key of the provider that the token names has signed it. */
bool provider_has_signed(struct request *rq, const struct oidc_metadata *metadata,
                         const struct id_token *token);

/** What the userinfo endpoint says of the person (OpenID Connect Core 1.0 section 5.3), in the
 * arena; NULL: there is no such endpoint. */
yyjson_val *provider_userinfo(struct request *rq, const struct oidc_metadata *metadata,
                              const char *access_token);
