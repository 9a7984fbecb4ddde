/** libcommon/crypto/: UUIDs (uuid.h), scopes of keys (scope.h), signed identities of callers
 * (identity.h) and signed webhooks (webhook_signature.h). This header has random bytes, digests,
 * MACs, encryption and encodings, over mbedTLS (2.28 and 3.x). Thread-safe. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHA256_LEN   32
#define CMAC_LEN     16
#define GCM_KEY_LEN  32
#define GCM_OVERHEAD 28 /* a nonce of 12 bytes before the sealed text, a tag of 16 after it */

/** Fill `out` from the system's random source (getrandom(2)). Never fails. */
void random_bytes(void *out, size_t length);

/** Write `length` random characters of [0-9A-Za-z], uniformly distributed, and a NUL: `out` holds
 * length + 1. */
void random_base62(char *out, size_t length);

void sha256(const void *data, size_t length, uint8_t out[SHA256_LEN]);

/** The hash of a message in pieces: sha256_add() each, then sha256_finish(), which frees. */
struct sha256;
struct sha256 *sha256_new(void);
void sha256_add(struct sha256 *hash, const void *data, size_t length);
void sha256_finish(struct sha256 *hash, uint8_t out[SHA256_LEN]);

void hmac_sha256(const void *key, size_t key_length, const void *data, size_t length,
                 uint8_t out[SHA256_LEN]);

/** HKDF-SHA-256 (RFC 5869) without salt; `out_length` is at most 255 * 32. */
void hkdf_sha256(const void *secret, size_t secret_length, const char *info, void *out,
                 size_t out_length);

/** AES-128-CMAC (RFC 4493) with a key for many messages. Not thread-safe. A MAC of 100 bytes costs
 * a fifth of what hmac_sha256() costs, because processors have instructions for AES. */
struct cmac;
struct cmac *cmac_new(const uint8_t key[CMAC_LEN]);

/** Wipe and free. Accepts NULL. */
void cmac_free(struct cmac *cmac);

/** The MAC of a message in pieces: cmac_add() each, then cmac_finish(), after which the next
 * message can begin. */
void cmac_add(struct cmac *cmac, const void *data, size_t length);
void cmac_finish(struct cmac *cmac, uint8_t out[CMAC_LEN]);

/** CRC-32 of RFC 1952 (gzip, PNG). */
uint32_t crc32_of(const void *data, size_t length);

/** Compare in a time that depends only on `length`. */
bool equal_constant_time(const void *a, const void *b, size_t length);

/** Encrypt with AES-256-GCM and a new random nonce. `context` (may be "") is authenticated together
 * with the text. `out` holds length + GCM_OVERHEAD bytes. */
void gcm_seal(const uint8_t key[GCM_KEY_LEN], const char *context, const void *text, size_t length,
              uint8_t *out);

/** Decrypt what gcm_seal() wrote; `out` holds length - GCM_OVERHEAD bytes. ERR_INVALID: the text
 * or the context was changed, or the key differs. */
enum err_code gcm_open(const uint8_t key[GCM_KEY_LEN], const char *context, const void *sealed,
                       size_t length, uint8_t *out) attr_must_use;

/** A private RSA key, for signing. Never changes, so threads may share it. */
struct rsa_key;

/** Signatures of keys of up to 8192 bits. */
#define RSA_SIGNATURE_MAX 1024

/** Read a key from PEM (PKCS#1 or PKCS#8, not encrypted). NULL: it is none. */
struct rsa_key *rsa_key_new(const char *pem);
void rsa_key_free(struct rsa_key *key);

/** Sign by RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 section 8.2; RS256 of RFC 7518). Returns the
 * length. Takes a millisecond or more: for the thread pool. */
size_t rsa_sign_sha256(const struct rsa_key *key, const void *data, size_t length,
                       uint8_t out[RSA_SIGNATURE_MAX]);

/** Write lower-case hex and a NUL: `out` holds 2 * length + 1. */
void hex_encode(const void *data, size_t length, char *out);

/** The hash as lower-case hex and a NUL. */
#define SHA256_HEX_LEN (2 * SHA256_LEN)
void sha256_hex(const void *data, size_t length, char out[SHA256_HEX_LEN + 1]);

/** Decode hex of either case. False: `text` is not exactly 2 * length hex digits. */
bool hex_decode(const char *text, size_t text_length, void *out, size_t length);

/** base64 (RFC 4648 section 4) with padding, and base64url (section 5) without; in the arena. */
char *base64_encode(struct arena *arena, const void *data, size_t length);
char *base64url_encode(struct arena *arena, const void *data, size_t length);

/** Decode into the arena, with a NUL at the end. NULL: not canonical base64url without padding, or
 * base64 with padding. */
void *base64url_decode(struct arena *arena, const char *text, size_t text_length,
                       size_t *ret_length);
void *base64_decode(struct arena *arena, const char *text, size_t text_length, size_t *ret_length);
