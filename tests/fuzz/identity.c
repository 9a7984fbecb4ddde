/* identity_verify() accepts the values that identity_sign() signed for the same request with the
 * same secret, and refuses all others. Input: the value of the field; if it starts with NUL, the
 * rest is the repository of an identity to sign. */
#include "crypto/identity.h"

#include "base/base.h"
#include "fuzz.h"

#include <string.h>

#define NOW_MS 1767225600000 /* 2026-01-01 */
#define SECRET "0123456789abcdef0123456789abcdef"

static const struct identity_request REQUEST = {
	.method = "GET",
	.method_length = 3,
	.target = "/api/v1.0/experiments",
	.target_length = 21,
	.id = "request",
};

static void sign_and_verify(struct identity_verifier *verifier, struct arena *arena,
                            const char *text)
{
	struct identity caller = {.kind = KEY_AUTOMATION, .scopes = strlen(text), .repo = text};
	struct verified_identity read = {0};
	struct identity_signer *signer = identity_signer_new("gateway", "svc-search", SECRET);
	struct signed_identity *signed_identity = signed_identity_new(signer, &caller, NOW_MS);
	const char *value = identity_sign(signed_identity, arena, &REQUEST);
	require(identity_verify(verifier, arena, value, &REQUEST, NOW_MS, &read) == ERR_NONE);
	require(read.identity.kind == caller.kind && read.identity.scopes == caller.scopes);
	require(read.identity.repo && strcmp(read.identity.repo, text) == 0);
	signed_identity_free(signed_identity);
	identity_signer_free(signer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct identity_secret secret = {"gateway", SECRET};
	struct arena *arena = arena_new();
	struct identity_verifier *verifier = identity_verifier_new("svc-search", &secret, 1);
	char *text = arena_strndup(arena, (const char *)data, size);
	struct verified_identity read;
	/* Callers of identity_sign() pass a short repository name without `|`. */
	if (size > 1 && size < 200 && data[0] == '\0' && data[1] != '\0' &&
	    !memchr(data, '|', size))
		sign_and_verify(verifier, arena,
		                arena_strndup(arena, (const char *)data + 1, size - 1));
	require(identity_verify(verifier, arena, text, &REQUEST, NOW_MS, &read) ==
	        ERR_UNAUTHENTICATED);
	identity_verifier_free(verifier);
	arena_free(arena);
	return 0;
}
