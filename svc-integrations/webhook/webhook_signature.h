/** Whether a delivery is the code host's: the field X-Hub-Signature-256 is `sha256=` and the
 * HMAC-SHA-256 of the content, as it was sent, in hex. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define WEBHOOK_SECRET_MIN  16 /* characters */
#define WEBHOOK_SECRETS_MAX 8

/** In a list of secrets: that of the registered app. Shorter than a secret. */
#define WEBHOOK_SECRET_STORED "stored"

/** Each of them is accepted. */
struct webhook_secrets {
	struct webhook_secret {
		const char *text;
		size_t length;
	} list[WEBHOOK_SECRETS_MAX + 1]; /* with the stored one */
	int count;
	bool has_stored; /* the list had WEBHOOK_SECRET_STORED, which is not counted */
};

/** Read secrets, separated by commas; borrows. Returns what is wrong with them; NULL: nothing. */
const char *webhook_secrets_read(const char *list, struct webhook_secrets *ret_secrets);

/** The number of the secret that signed the content, from 1; 0: none did, or there is none. The
 * time does not depend on the secrets or the signature, once that has its form. `signature` may
 * be NULL. Takes about 3 ms for a megabyte and secret: for the thread pool, when the content is
 * large. */
int webhook_signature_check(const struct webhook_secrets *secrets, const char *signature,
                            const char *content, size_t length);
