/** Whom a client trusts, and what it shows of itself: a server is refused unless one of the
 * authorities has signed its certificate, and gets the client's own certificate when it asks for
 * one. They are read from files in PEM, and again at a connection when a file has changed. One
 * trust is shared by the workers of a process. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "tls/pem.h"

#include <mbedtls/x509_crt.h>

struct tls_trust;

/** The files, and the settings that name them in messages. */
struct tls_trust_files {
	const char *setting, *file; /* of the authorities */
	struct tls_pem own; /* the client's certificate; its certificate_file NULL or "": none */
};

/** What one connection or more began with. */
struct tls_authorities {
	mbedtls_x509_crt chain; /* the first of the list */
	struct tls_pem own;     /* as it was read; certificate NULL: none */
	unsigned references;    /* under the trust's lock */
	struct tls_trust *trust;
};

/** Read the files; their names are copied. ERR_INVALID: one cannot be read, there is no authority,
 * or the key is not that of the certificate; `ret_reason`, in the arena, is one line that begins
 * with the setting. */
enum err_code tls_trust_new(const struct tls_trust_files *files, struct arena *arena,
                            struct tls_trust **ret_trust, const char **ret_reason);

/** After the last connection. NULL is fine. */
void tls_trust_free(struct tls_trust *trust);

/** What the files are now, or what they were before if they cannot be used any more, which is
 * logged. The caller releases them. From any thread; may read the file. */
struct tls_authorities *tls_trust_take(struct tls_trust *trust);
void tls_authorities_release(struct tls_authorities *authorities);
