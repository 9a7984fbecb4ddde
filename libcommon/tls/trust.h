/** The authorities that a client trusts: a server is refused unless one of them has signed its
 * certificate. They are read from a file in PEM, and again at a connection when the file has
 * changed. One trust is shared by the workers of a process. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <mbedtls/x509_crt.h>

struct tls_trust;

/** The authorities as one connection or more began with them. */
struct tls_authorities {
	mbedtls_x509_crt chain; /* the first of the list */
	unsigned references;    /* under the trust's lock */
	struct tls_trust *trust;
};

/** Read the file. `setting` names it in messages; both are copied. ERR_INVALID: it cannot be read,
 * or has no certificate; `ret_reason`, in the arena, is one line that begins with the setting. */
enum err_code tls_trust_new(const char *setting, const char *file, struct arena *arena,
                            struct tls_trust **ret_trust, const char **ret_reason);

/** After the last connection. NULL is fine. */
void tls_trust_free(struct tls_trust *trust);

/** The authorities of the file as it is now, or those before if it cannot be used any more, which
 * is logged. The caller releases them. From any thread; may read the file. */
struct tls_authorities *tls_trust_take(struct tls_trust *trust);
void tls_authorities_release(struct tls_authorities *authorities);
