/** Identity of the caller of a request, and passing it between processes.
 *
 * The gateway checks the API key and sends the caller's identity, signed, in the field
 * IDENTITY_HEADER. Services trust only this field. Its value is
 *
 *     base64url(fields) "." base64url(HMAC-SHA-256(IDENTITY_SECRET, fields))
 *
 * where fields are version, account, key id, kind, scopes (hex mask), expiry (Unix ms), repo,
 * interest and request id, joined by `|`: `1|0197…|0197…|personal|3f|1767225600000|||req-1`. It
 * expires after IDENTITY_TTL_MS.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/uuid.h"

#include <stdbool.h>
#include <stdint.h>

#define IDENTITY_HEADER "X-Expops-Identity"
#define IDENTITY_TTL_MS 60000
#define REQUEST_ID_MAX  128

enum key_kind {
	KEY_PERSONAL,   /* `usr_` */
	KEY_AUTOMATION, /* `auto_` */
	KEY_SERVICE,    /* no key: a service calls another on behalf of the account */
};

/** The caller of a request. One account is one user. */
struct identity {
	struct uuid account;
	struct uuid key_id; /* nil for KEY_SERVICE */
	enum key_kind kind;
	uint64_t scopes;      /* mask of the bits in scope.h */
	const char *repo;     /* `owner/name`, for an automation key; NULL: none */
	const char *interest; /* UUID text, for an automation key; NULL: none */
};

/** Whether the caller's key is limited to a repository or an interest. */
bool identity_is_limited(const struct identity *identity);

/** The signing key, made once from the setting IDENTITY_SECRET. */
struct identity_signer;
struct identity_signer *identity_signer_new(const char *secret);
void identity_signer_free(struct identity_signer *signer);

/** The signed value for `identity`, in the arena. `request_id` may be NULL. */
char *identity_sign(const struct identity_signer *signer, struct arena *arena,
                    const struct identity *identity, const char *request_id, int64_t now_ms);

/** Verify and read a signed value; strings are in the arena.
 * ERR_UNAUTHENTICATED: the signature, version or form is wrong, or the value has expired. */
enum err_code identity_verify(const struct identity_signer *signer, struct arena *arena,
                              const char *value, int64_t now_ms,
                              struct identity *ret_identity) attr_must_use;

/** `personal`, `automation`, `service`. */
const char *key_kind_name(enum key_kind kind);
