#include "webhook/webhook_signature.h"

#include "crypto/crypto.h"

#include <string.h>

#define PREFIX "sha256="

/* In the order of CODE_HOST_WEBHOOK_SECRETS. */
static struct secret {
	const char *text; /* borrows from the setting */
	size_t length;
} secrets[WEBHOOK_SECRETS_MAX];
static int secret_count;

const char *webhook_signature_init(const char *list)
{
	secret_count = 0;
	for (const char *at = list; *at;) {
		size_t length = strcspn(at, ",");
		if (length < WEBHOOK_SECRET_MIN)
			return "a secret must have 16 characters or more";
		if (secret_count == WEBHOOK_SECRETS_MAX)
			return "there are more than 8 secrets";
		secrets[secret_count++] = (struct secret){at, length};
		at += length + (at[length] == ',');
	}
	return NULL;
}

int webhook_signature_check(const char *signature, const char *content, size_t length)
{
	uint8_t given[SHA256_LEN], right[SHA256_LEN];
	int found = 0;
	if (!signature || strncmp(signature, PREFIX, strlen(PREFIX)) != 0)
		return 0;
	signature += strlen(PREFIX);
	if (!hex_decode(signature, strlen(signature), given, SHA256_LEN))
		return 0;
	for (int i = secret_count; i-- > 0;) {
		hmac_sha256(secrets[i].text, secrets[i].length, content, length, right);
		if (equal_constant_time(given, right, SHA256_LEN))
			found = i + 1;
	}
	return found;
}
