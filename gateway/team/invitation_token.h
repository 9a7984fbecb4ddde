/** The token of an invitation: 32 bytes in base64url, which HKDF-SHA-256 makes of SEAL_SECRETS and
 * the invitation's id. So it is stored nowhere, and this process can make it once more for the mail
 * that svc-integrations sends; nobody else can, as the SEAL_SECRETS of each process are its own. */
#pragma once

#include "loop/request.h"
#include "pg/pg.h"

/** The token of a new invitation with that id, a UUID text; in the arena of the request, which is
 * wiped when it ends. */
const char *invitation_token_make(struct request *rq, const char *id);

/** The token of an invitation, which has the SHA-256 `hash`. NULL: it was made by a secret that is
 * none of SEAL_SECRETS any more. */
const char *invitation_token_find(struct request *rq, const char *id, const void *hash,
                                  size_t hash_length);

/** A check of struct field: whether a text may be a token. */
bool invitation_token_check(const char *text, size_t length, const char **ret_message);
