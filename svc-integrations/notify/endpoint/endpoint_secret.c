#include "notify/endpoint/endpoint_secret.h"

#include "base/base.h"
#include "crypto/webhook_signature.h"
#include "observe/log.h"

#include <string.h>

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
	arena_wipe_on_free(rq->arena);
	return endpoint_secret_of(rq, endpoint, account, webhook_secret_new(rq->arena));
}

const char *endpoint_secret_open(struct request *rq, const char *endpoint, const char *account,
                                 const void *sealed, size_t length)
{
	const char *text = vault_open(rq->arena, context(rq, endpoint, account), sealed, length);
	if (!text)
		log_error("a stored secret does not open: its row was changed, or its key is "
		          "missing from SEAL_KEYS",
		          f_text("endpoint", endpoint));
	return text;
}
