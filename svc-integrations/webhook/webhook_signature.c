#include "webhook/webhook_signature.h"

#include "crypto/crypto.h"

#include <string.h>

#define PREFIX "sha256="

static bool is_stored(const char *item, size_t length)
{
	return length == strlen(WEBHOOK_SECRET_STORED) &&
	       memcmp(item, WEBHOOK_SECRET_STORED, length) == 0;
}

const char *webhook_secrets_read(const char *list, struct webhook_secrets *ret_secrets)
{
	*ret_secrets = (struct webhook_secrets){0};
	for (const char *at = list; *at;) {
		size_t length = strcspn(at, ",");
		bool is_secret = !is_stored(at, length);
		if (is_secret && length < WEBHOOK_SECRET_MIN)
			return "a secret must have 16 characters or more";
		if (is_secret && ret_secrets->count == WEBHOOK_SECRETS_MAX)
			return "there are more than 8 secrets";
		if (is_secret)
			ret_secrets->list[ret_secrets->count++] =
				(struct webhook_secret){at, length};
		ret_secrets->has_stored |= !is_secret;
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
