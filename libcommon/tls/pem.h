/** A certificate with its chain and its private key, in PEM. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <mbedtls/pk.h>
#include <mbedtls/x509_crt.h>

#include <stdbool.h>
#include <stdint.h>

/** The files, the settings that name them in messages, and what was read from them: NULL before
 * tls_pem_read(). */
struct tls_pem {
	const char *certificate_setting, *key_setting;
	const char *certificate_file, *key_file;
	char *certificate, *key;
};

/** Read both files. ERR_INVALID: one cannot be read, is too large, or the key's may be read or
 * written by other users than its owner and group; `ret_reason`, in the arena, names the setting
 * and the file. */
enum err_code tls_pem_read(struct tls_pem *pem, struct arena *arena, const char **ret_reason);

/** Wipe and free what was read. */
void tls_pem_free(struct tls_pem *pem);

struct tls_pair {
	mbedtls_x509_crt chain; /* the certificate, then those that signed it */
	mbedtls_pk_context key;
};

/** Parse what was read. ERR_INVALID: a part is not valid PEM, or the key is not that of the
 * certificate; `ret_reason` as above. */
enum err_code tls_pair_new(const struct tls_pem *pem, struct arena *arena,
                           struct tls_pair **ret_pair, const char **ret_reason);

/** NULL is fine. */
void tls_pair_free(struct tls_pair *pair);

/** Whether the certificate is for this server name (RFC 6125 section 6.4): a DNS name of its
 * subjectAltName is equal without case, or is `*.` and the name without its first label. */
bool tls_pair_has_name(const struct tls_pair *pair, const char *name, size_t length);

/** When the certificate expires, in seconds since the Unix epoch. */
int64_t tls_pair_expires_s(const struct tls_pair *pair);
