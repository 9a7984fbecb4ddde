/** The secret of a template, which signs the results of its runs: `whsec_` and the base64 of 24 to
 * 64 bytes, as Standard Webhooks has it. It is stored sealed for its template and never read by a
 * client. */
#pragma once

#include "loop/request.h"
#include "vault/vault.h"

struct webhook_key {
	const void *bytes;
	size_t length;
};

/** Decode a secret, in the arena. False: it is none. */
bool webhook_secret_decode(struct arena *arena, const char *text, struct webhook_key *ret_key);

/** For the `check` of a field. */
bool webhook_secret_check(const char *text, size_t length, const char **ret_message);

/** Seal a secret for the template; the request's memory is wiped when it is freed. */
struct sealed webhook_secret_seal(struct request *rq, const char *template_id, const char *text);

/** Open what was sealed for the template; the request's memory is wiped when it is freed. Raises
 * ERR_INTERNAL when it does not open: the row was changed, or its key is missing from SEAL_KEYS. */
struct webhook_key webhook_secret_open(struct request *rq, const char *template_id,
                                       const void *sealed, size_t length);
