/** The calls of OAuth 2.0 to a provider: authorization code with PKCE S256 (RFC 7636), refresh, and
 * revocation (RFC 7009). Every function suspends, and must not be called inside a transaction.
 *
 * Results that hold tokens are in the arena that the caller gives, which should be wiped when it is
 * freed. */
#pragma once

#include "provider/oauth_answer.h"
#include "provider/provider.h"

/** How a call to a provider ended. */
enum oauth_outcome {
	OAUTH_DONE,
	OAUTH_REFUSED, /* the code or the token was refused: trying again is of no use */
	/* refused in another form than that of RFC 6749: by status, or in its own words */
	OAUTH_REFUSED_UNCLEARLY,
	OAUTH_UNAVAILABLE, /* no answer, one that is no answer of OAuth, or the client was refused;
				  nothing is known of the code or the token */
};

/** The authorization URL for a new attempt, in the request's arena. */
const char *oauth_authorize_url(struct request *rq, const struct provider *provider,
                                const char *redirect_uri, const char *state, const char *verifier);

/** Exchange a code, and refresh. `ret_reason` is set unless the outcome is OAUTH_DONE: a sentence
 * with the provider's own words, in the request's arena. */
enum oauth_outcome oauth_exchange(struct request *rq, const struct provider *provider,
                                  struct arena *arena, const char *code, const char *redirect_uri,
                                  const char *verifier, struct oauth_tokens *ret_tokens,
                                  const char **ret_reason);
enum oauth_outcome oauth_refresh(struct request *rq, const struct provider *provider,
                                 struct arena *arena, const char *refresh_token,
                                 struct oauth_tokens *ret_tokens, const char **ret_reason);

/** Ask whose a token is; the strings are in the request's arena. */
enum oauth_outcome oauth_user_get(struct request *rq, const struct provider *provider,
                                  const char *access_token, struct oauth_user *ret_user,
                                  const char **ret_reason);

/** Revoke a connection's tokens. OAUTH_DONE also when the provider does not know them any more, or
 * has no address for it. OAUTH_REFUSED: the code host does not know the access token, which may
 * have expired; what its user has granted is reached by a fresh one only (oauth_refresh()).
 * `refresh_token` may be NULL. `is_shared`: the same user of the provider is also connected
 * elsewhere, whose tokens must stay valid. */
enum oauth_outcome oauth_revoke(struct request *rq, const struct provider *provider,
                                const char *access_token, const char *refresh_token,
                                bool is_shared);
