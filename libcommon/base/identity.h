/** Who a request is for, and how one process tells another.
 *
 * The gateway checks the key and signs what it found into one header, IDENTITY_HEADER; a service
 * believes nothing else. A value is
 *
 *     base64url(fields) "." base64url(HMAC-SHA-256(IDENTITY_SECRET, fields))
 *
 * where fields are version, account, key id, kind, scopes (hex mask), expiry (Unix ms), repo,
 * interest and request id, joined by `|`: `1|0197…|0197…|personal|3f|1767225600000|||req-1`. It
 * lives IDENTITY_TTL_MS.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/uuid.h"

#include <stdint.h>

#define IDENTITY_HEADER "X-Expops-Identity"
#define IDENTITY_TTL_MS 60000
#define REQUEST_ID_MAX  128

enum key_kind {
	KEY_PERSONAL,   /* `usr_` */
	KEY_AUTOMATION, /* `auto_` */
	KEY_SERVICE,    /* no key: one service asks another on behalf of the account */
};

/** The caller of one request. `account` is the user: one account is one user. */
struct identity {
	struct uuid account;
	struct uuid key_id; /* nil for KEY_SERVICE */
	enum key_kind kind;
	uint64_t scopes;      /* mask of scope bits, scope.h */
	const char *repo;     /* `owner/name` that an automation key is for; NULL: none */
	const char *interest; /* UUID text that an automation key is for; NULL: none */
};

/** The key that signs, made once from the IDENTITY_SECRET setting. */
struct identity_signer;
struct identity_signer *identity_signer_new(const char *secret);
void identity_signer_free(struct identity_signer *signer);

/** The header's value for `identity`, in the arena; `request_id` NULL: for any request. */
char *identity_sign(const struct identity_signer *signer, struct arena *arena,
                    const struct identity *identity, const char *request_id, int64_t now_ms);

/** Check and read a header's value; strings in the arena.
 * ERR_UNAUTHENTICATED: forged, damaged, of another version or past its time. */
enum err_code identity_verify(const struct identity_signer *signer, struct arena *arena,
                              const char *value, int64_t now_ms,
                              struct identity *ret_identity) attr_must_use;

/** `personal`, `automation`, `service`. */
const char *key_kind_name(enum key_kind kind);
