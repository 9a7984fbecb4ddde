#include "notify/endpoint/endpoint_secret.h"

#include "base/base.h"
#include "crypto/crypto.h"
#include "observe/log.h"

#include <string.h>

#define PREFIX     "whsec_"
#define HINT_CHARS 4

static const char *context(struct request *rq, const char *endpoint, const char *account)
{
	arena_wipe_on_free(rq->arena);
	return arena_printf(rq->arena, "endpoint %s %s", endpoint, account);
}

struct endpoint_secret endpoint_secret_of(struct request *rq, const char *endpoint,
                                          const char *account, const char *text)
{
	size_t length = strlen(text);
	return (struct endpoint_secret){
		.text = text,
		.hint = text + length - MIN_OF(length, HINT_CHARS),
		.sealed = vault_seal(rq->arena, context(rq, endpoint, account), text),
	};
}

struct endpoint_secret endpoint_secret_new(struct request *rq, const char *endpoint,
                                           const char *account)
{
	uint8_t key[ENDPOINT_KEY_BYTES];
	random_bytes(key, sizeof(key));
	const char *text =
		arena_printf(rq->arena, PREFIX "%s", base64_encode(rq->arena, key, sizeof(key)));
	memset(key, 0, sizeof(key));
	return endpoint_secret_of(rq, endpoint, account, text);
}

const char *endpoint_secret_open(struct request *rq, const char *endpoint, const char *account,
                                 const void *sealed, size_t length)
{
	const char *text = vault_open(rq->arena, context(rq, endpoint, account), sealed, length);
	if (!text)
		log_error(LOG_GROUP_APP,
		          "a stored secret does not open: its row was changed, or its key is "
		          "missing from SEAL_KEYS",
		          f_text("endpoint", endpoint));
	return text;
}

const void *endpoint_secret_key(struct arena *arena, const char *secret, size_t *ret_length)
{
	if (strncmp(secret, PREFIX, strlen(PREFIX)) != 0)
		return NULL;
	const char *base64 = secret + strlen(PREFIX);
	return base64_decode(arena, base64, strlen(base64), ret_length);
}
