/** Identity of the caller of a request, and passing it between processes.
 *
 * The gateway checks the API key and sends the caller's identity, signed, in the field
 * IDENTITY_HEADER. Services trust only this field. A service that calls another one does the same,
 * as KEY_SERVICE on behalf of an account. Words used here:
 *
 *   sender    the process that signs and sends a request: `gateway`, `svc-interests`
 *   receiver  the process that verifies it: `svc-search`
 *   secret    known only to one sender and one receiver. So a process can sign only as itself, and
 *             only for processes that it is meant to call
 *
 * The value of the field is
 *
 *     base64url(claims) "." base64url(AES-128-CMAC(key, request))
 *     key = the first 16 bytes of HMAC-SHA-256(secret, claims)
 *
 * where claims are version, sender, receiver, account, key id, kind, scopes (hex mask), time of
 * signing (Unix ms), repo, interest, and `verified` if the account has proved that the repo is its
 * own, joined by `|`. Version 4 has the id of the person behind them as its last. It is written
 * for a caller with a person, and the gateway names one only when IDENTITY_PERSON is set, since the
 * release before reads version 3 alone. And request is the method, the target with its query, and
 * the value of X-Request-Id:
 *
 *     3|gateway|svc-search|0197…|0197…|personal|3f|1767225600000|||
 *     GET /api/v1.0/search/assets/list?limit=5
 *     req-1
 *
 * So a value is of no use for another request, receiver or caller. It is valid for
 * IDENTITY_LIFETIME_MS from the time of signing, by the receiver's clock and limit. The claims and
 * their key are made once for many requests (struct signed_identity); each request then costs one
 * CMAC. The content of a request is not signed: who can read and change what the processes send
 * each other can replace it. Use a network where nobody can.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "crypto/uuid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IDENTITY_HEADER      "X-Expops-Identity"
#define IDENTITY_LIFETIME_MS 60000
#define REQUEST_ID_MAX       128

enum key_kind {
	KEY_PERSONAL,   /* `usr_` */
	KEY_AUTOMATION, /* `auto_` */
	KEY_SERVICE,    /* no key: a service calls another on behalf of the account */
};

/** The caller of a request. */
struct identity {
	struct uuid account;
	struct uuid key_id; /* nil for KEY_SERVICE */
	struct uuid person; /* nil: not known, or not a person. Never decides what is allowed */
	enum key_kind kind;
	uint64_t scopes;      /* mask of the bits in scope.h */
	const char *repo;     /* `owner/name`, for an automation key; NULL: none */
	const char *interest; /* UUID text, for an automation key; NULL: none */
	/* The key proves that the repository is the account's. A key that was made by hand for a
	 * repository does not. */
	bool is_repo_verified;
};

/** What a signature binds of a request. */
struct identity_request {
	const char *method, *target; /* as sent; the target with its query */
	size_t method_length, target_length;
	const char *id; /* the value of X-Request-Id; NULL: it has none */
};

/** Signs for one receiver. */
struct identity_signer;
struct identity_signer *identity_signer_new(const char *sender, const char *receiver,
                                            const char *secret);

/** Wipe and free. Accepts NULL. */
void identity_signer_free(struct identity_signer *signer);

/** An identity, signed for one receiver at one time. It signs requests until its lifetime is
 * over. */
struct signed_identity;

/** Copies `identity`; borrows nothing. */
struct signed_identity *signed_identity_new(const struct identity_signer *signer,
                                            const struct identity *identity, int64_t now_ms);

/** Wipe and free. Accepts NULL. */
void signed_identity_free(struct signed_identity *signed_identity);

int64_t signed_identity_age_ms(const struct signed_identity *signed_identity, int64_t now_ms);

/** Whether it was made by `signer` of this identity, at most `age_max_ms` ago. */
bool signed_identity_is_of(const struct signed_identity *signed_identity,
                           const struct identity_signer *signer, const struct identity *identity,
                           int64_t now_ms, int64_t age_max_ms);

/** The value of IDENTITY_HEADER for a request, in the arena. */
char *identity_sign(struct signed_identity *signed_identity, struct arena *arena,
                    const struct identity_request *request);

/** One sender that may call this process. Each sender may have several secrets, so that they can be
 * changed one process after the other. */
struct identity_secret {
	const char *sender, *secret;
};

/** Verifies what others have signed for this process, and keeps the keys of the claims that it has
 * verified lately, so that each further request costs one CMAC. Not thread-safe: each worker has
 * its own. Copies the secrets. */
struct identity_verifier;
struct identity_verifier *
identity_verifier_new(const char *receiver, const struct identity_secret *secrets, size_t count);

/** Another verifier with the same secrets; NULL of NULL. */
struct identity_verifier *identity_verifier_copy(const struct identity_verifier *verifier);

/** Wipe and free. Accepts NULL. */
void identity_verifier_free(struct identity_verifier *verifier);

/** A verified value; its strings are in the arena. */
struct verified_identity {
	struct identity identity;
	const char *sender;
	int64_t signed_ms; /* by the sender's clock */
};

/** Verify and read the value of IDENTITY_HEADER of a request. ERR_UNAUTHENTICATED: its form or
 * version is wrong, or no secret of its sender makes this signature. ERR_UNAVAILABLE: the sender
 * has signed it, but more than IDENTITY_LIFETIME_MS ago, or in the future: the clocks differ;
 * `ret_verified` is set. */
enum err_code identity_verify(struct identity_verifier *verifier, struct arena *arena,
                              const char *value, const struct identity_request *request,
                              int64_t now_ms, struct verified_identity *ret_verified) attr_must_use;

/** `personal`, `automation`, `service`. */
const char *key_kind_name(enum key_kind kind);
