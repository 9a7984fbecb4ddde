#include "notify/endpoint_secret.h"

#include "crypto/crypto.h"

#include <string.h>

#define PREFIX     "whsec_"
#define HINT_CHARS 4

static const char *context(struct request *rq, const char *endpoint, const char *account)
{
	arena_wipe_on_free(rq->arena);
	return arena_printf(rq->arena, "endpoint %s %s", endpoint, account);
}

struct endpoint_secret endpoint_secret_new(struct request *rq, const char *endpoint,
                                           const char *account)
{
	uint8_t key[ENDPOINT_KEY_BYTES];
	random_bytes(key, sizeof(key));
	const char *where = context(rq, endpoint, account);
	const char *base64 = base64_encode(rq->arena, key, sizeof(key));
	const char *text = arena_printf(rq->arena, PREFIX "%s", base64);
	memset(key, 0, sizeof(key));
	return (struct endpoint_secret){
		.text = text,
		.hint = text + strlen(text) - HINT_CHARS,
		.sealed = vault_seal(rq->arena, where, text),
	};
}
