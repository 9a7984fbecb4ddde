/** What every client of OAuth 2.0 does with an authorization code: the way to the server, with PKCE
 * S256 (RFC 7636), and which tokens it takes. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>

struct oauth_code_request {
	const char *endpoint; /* the server's authorization endpoint */
	const char *client_id, *redirect_uri, *scopes, *state;
	const char *verifier; /* of PKCE: the URL has its challenge (section 4.2) */
};

/** The URL that a browser is led to, in the arena; form_add() adds further parameters. */
struct buf oauth_code_url(struct arena *arena, const struct oauth_code_request *request);

/** Whether a token can be sent in an HTTP field: visible ASCII (RFC 6749 appendix A.12), at most 16
 * KiB. `text` may be NULL. */
bool oauth_token_is_valid(const char *text);
