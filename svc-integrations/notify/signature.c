#include "notify/signature.h"

#include "crypto/crypto.h"
#include "notify/endpoint/endpoint_secret.h"

#include <string.h>

static bool add(struct buf *list, const char *secret, const char *text)
{
	uint8_t mac[SHA256_LEN];
	size_t length;
	const void *key = endpoint_secret_key(list->arena, secret, &length);
	if (!key)
		return false;
	hmac_sha256(key, length, text, strlen(text), mac);
	buf_printf(list, "%sv1,%s", list->length ? " " : "",
	           base64_encode(list->arena, mac, sizeof(mac)));
	return true;
}

const char *signature_make(struct arena *arena, const char *const secrets[2], const char *id,
                           const char *time, const char *body)
{
	struct buf list = {.arena = arena};
	const char *text = arena_printf(arena, "%s.%s.%s", id, time, body);
	for (int i = 0; i < 2 && secrets[i]; i++)
		if (!add(&list, secrets[i], text))
			return NULL;
	return list.data;
}
