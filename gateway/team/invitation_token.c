#include "team/invitation_token.h"

#include "crypto/crypto.h"
#include "key/key_text.h"
#include "loop/worker.h"
#include "service/process.h"

#include <string.h>

#define TOKEN_BYTES 32

static const char *seal_secrets(const struct request *rq)
{
	return rq->worker->process->settings->seal_secrets;
}

/* By the first of `secrets`. */
static const char *token_of(struct request *rq, const char *id, const char *secrets)
{
	struct arena *arena = request_secrets_arena(rq);
	uint8_t *bytes = arena_alloc(arena, TOKEN_BYTES);
	hkdf_sha256(secrets, strcspn(secrets, ","), arena_printf(arena, "invitation %s", id), bytes,
	            TOKEN_BYTES);
	return base64url_encode(arena, bytes, TOKEN_BYTES);
}

const char *invitation_token_make(struct request *rq, const char *id)
{
	return token_of(rq, id, seal_secrets(rq));
}

static bool has_hash(const char *token, const void *hash, size_t length)
{
	uint8_t own[SHA256_LEN];
	sha256(token, strlen(token), own);
	return length == SHA256_LEN && equal_constant_time(own, hash, SHA256_LEN);
}

const char *invitation_token_find(struct request *rq, const char *id, const void *hash,
                                  size_t hash_length)
{
	for (const char *rest = seal_secrets(rq); rest;) {
		const char *token = token_of(rq, id, rest), *comma = strchr(rest, ',');
		if (has_hash(token, hash, hash_length))
			return token;
		rest = comma ? comma + 1 : NULL;
	}
	return NULL;
}

bool invitation_token_check(const char *text, size_t length attr_unused, const char **ret_message)
{
	*ret_message = "must be what follows # in the link of an invitation";
	return session_text_is_valid(text);
}
