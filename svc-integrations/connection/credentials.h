/** The secrets of a connection, sealed for its row: an account's access and refresh token, or its
 * API key. A text that was copied to the row of another connection, account or provider does not
 * open. */
#pragma once

#include "loop/request.h"
#include "vault/vault.h"

/** What `sealed` holds. Tokens of OAuth, or the key of a model provider; the others are NULL. */
struct credentials {
	const char *access_token, *refresh_token;
	const char *api_key;
};

/** The row that the credentials belong to. */
struct credentials_owner {
	const char *connection, *account; /* UUID text */
	const char *provider;
};

/** The row of a new connection of the caller. */
struct credentials_owner credentials_owner_new(struct request *rq, const char *provider);

/** The context that the credentials of a row are sealed with (vault.h), in `arena`. */
const char *credentials_context(struct arena *arena, const struct credentials_owner *owner);

/** Seal for a row, in `arena`. */
struct sealed credentials_seal(struct arena *arena, const struct credentials_owner *owner,
                               const struct credentials *credentials);

#define CREDENTIALS_UNREADABLE "the stored token cannot be read"

/** Open what was sealed for this row, in `arena`. False: it does not open; it is logged that the
 * row was changed or that its key is missing from SEAL_KEYS. */
bool credentials_try_open(struct arena *arena, const struct credentials_owner *owner,
                          const void *sealed, size_t length, struct credentials *ret_credentials);

/** As credentials_try_open(). Raises ERR_CONFLICT when it does not open. */
struct credentials credentials_open(struct request *rq, struct arena *arena,
                                    const struct credentials_owner *owner, const void *sealed,
                                    size_t length);
