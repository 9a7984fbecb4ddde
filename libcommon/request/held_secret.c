#include "request/held_secret.h"

#include "crypto/crypto.h"
#include "loop/worker.h"
#include "service/process.h"

#include <string.h>

/* Make the encryption key of the next of SEAL_SECRETS; returns the rest of the list, NULL at its
 * end. */
static const char *next_key(struct request *rq, const struct held_secret *held, const char *secrets,
                            uint8_t ret_key[GCM_KEY_LEN])
{
	size_t length = strcspn(secrets, ",");
	hkdf_sha256(secrets, length, arena_printf(rq->arena, "%s %s", held->purpose, held->secret),
	            ret_key, GCM_KEY_LEN);
	return secrets[length] ? secrets + length + 1 : NULL;
}

static const char *seal_secrets(const struct request *rq)
{
	return rq->worker->process->settings->seal_secrets;
}

void held_secret_seal(struct request *rq, const struct held_secret *held, const void *text,
                      size_t length, uint8_t *out)
{
	uint8_t key[GCM_KEY_LEN];
	next_key(rq, held, seal_secrets(rq), key);
	gcm_seal(key, held->context, text, length, out);
}

char *held_secret_open(struct request *rq, const struct held_secret *held, const void *sealed,
                       size_t length)
{
	uint8_t key[GCM_KEY_LEN];
	require(length >= GCM_OVERHEAD);
	char *text = arena_alloc(rq->arena, length - GCM_OVERHEAD + 1);
	for (const char *secrets = seal_secrets(rq); secrets;) {
		secrets = next_key(rq, held, secrets, key);
		if (!gcm_open(key, held->context, sealed, length, (uint8_t *)text))
			return text;
	}
	return NULL;
}
