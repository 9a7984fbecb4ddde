/** Signatures of Standard Webhooks 1.0.0, section "Signature scheme". */
#pragma once

#include "base/arena.h"

/** The value of `webhook-signature` for a message: `v1,` and the base64 of the HMAC-SHA-256 of
 * `ID.TIME.BODY`, and the same with the old secret, if there is one. The secrets are `whsec_…`;
 * the keys are the bytes that their base64 stands for. NULL: a secret has another form. In the
 * arena. */
const char *signature_make(struct arena *arena, const char *const secrets[2], const char *id,
                           const char *time, const char *body);
