#include "webhook/webhook_signature.h"

#include "crypto/crypto.h"

#include <string.h>

#define PREFIX "sha256="

const char *webhook_secrets_read(const char *list, struct webhook_secrets *ret_secrets)
{
	ret_secrets->count = 0;
	for (const char *at = list; *at;) {
		size_t length = strcspn(at, ",");
		if (length < WEBHOOK_SECRET_MIN)
			return "a secret must have 16 characters or more";
		if (ret_secrets->count == WEBHOOK_SECRETS_MAX)
			return "there are more than 8 secrets";
		ret_secrets->list[ret_secrets->count++] = (struct webhook_secret){at, length};
		at += length + (at[length] == ',');
	}
	return NULL;
}

int webhook_signature_check(const struct webhook_secrets *secrets, const char *signature,
                            const char *content, size_t length)
{
	uint8_t given[SHA256_LEN], right[SHA256_LEN];
	int found = 0;
	if (!signature || strncmp(signature, PREFIX, strlen(PREFIX)) != 0)
		return 0;
	signature += strlen(PREFIX);
	if (!hex_decode(signature, strlen(signature), given, SHA256_LEN))
		return 0;
	for (int i = secrets->count; i-- > 0;) {
		hmac_sha256(secrets->list[i].text, secrets->list[i].length, content, length, right);
		if (equal_constant_time(given, right, SHA256_LEN))
			found = i + 1;
	}
	return found;
}
