/** gateway/oidc/: log-in of persons at an OpenID provider, by OpenID Connect Core 1.0 with the
 * authorization code and PKCE (RFC 7636), as a confidential client.
 *
 *     oidc.c        settings
 *     provider.c    calls of the provider: its metadata, keys, token and userinfo endpoints
 *     metadata.c    reads its metadata
 *     jwks.c        reads its keys
 *     id_token.c    reads and checks the ID token
 *     login.c       the operations: the way to the provider, and the way back
 *     login_state.c what is kept between the two
 *     identity.c    whose log-in it is, and their session
 *
 *     browser                    gateway                          provider
 *        | GET start  ------------> |  row `login`, cookie            |
 *        | <- 302 ----------------- |  (state, nonce, PKCE)           |
 *        | GET authorization endpoint ------------------------------> |  the person logs in
 *        | <- 302 --------------------------------------------------- |
 *        | GET callback ----------> |  the row is taken once          |
 *        |                          | POST token endpoint ----------> |
 *        |                          | <- ID token ------------------- |
 *        | <- 303, session -------- |  identity, person, session      |
 *
 * Only issuer and subject identify a person. An email address does so only in the
 * cases of identity.fn.sql.
 */
#pragma once

#include "base/config.h"

#include <stdbool.h>
#include <stdint.h>

/** OIDC_ISSUER and so on. */
extern const struct setting OIDC_SETTINGS[];

/** Check what the table cannot express; for struct service, after all settings are loaded. */
enum err_code oidc_settings_check(void);

struct oidc_settings {
	const char *issuer; /* "": no provider */
	const char *client_id, *client_secret;
	const char *name; /* what people call it; "": they are shown the issuer's host */
	const char *scopes;
	const char *domains; /* of email addresses, separated by commas or spaces; "": all */
	const char *join;    /* `ACCOUNT_ID:role`; "": an invitation is needed */
	int64_t timeout_ms;  /* of a call */
	bool trusts_email;   /* an address is the person's although the provider does not say so */
};

extern struct oidc_settings oidc_settings;

bool oidc_is_configured(void);

/** Whether OIDC_DOMAINS has the domain of an address, in any case. */
bool oidc_allows_domain(const char *email);

/** Whether a URL is one that secrets may be sent to: of https, or of http on a loopback host. */
bool oidc_url_is_safe(const char *url);
