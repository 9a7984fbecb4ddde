/** The secret of a template, which signs the results of its runs (crypto/webhook_signature.h). It
 * is stored sealed for its template and never read by a client. */
#pragma once

#include "crypto/webhook_signature.h"
#include "loop/request.h"
#include "vault/vault.h"

/** Seal a secret for the template; the request's memory is wiped when it is freed. */
struct sealed webhook_secret_seal(struct request *rq, const char *template_id, const char *text);

/** Open what was sealed for the template; the request's memory is wiped when it is freed. Raises
 * ERR_INTERNAL when it does not open: the row was changed, or its key is missing from SEAL_KEYS. */
struct webhook_key webhook_secret_open(struct request *rq, const char *template_id,
                                       const void *sealed, size_t length);
