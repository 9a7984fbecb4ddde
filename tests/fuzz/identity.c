/* identity_verify() accepts the values that identity_sign() signed with the same secret, and
 * refuses all others. Input: the value of the field; if it starts with NUL, the rest is the
 * repository of an identity to sign. */
#include "base/identity.h"

#include "base/base.h"
#include "fuzz.h"

#include <string.h>

#define NOW_MS 1767225600000 /* 2026-01-01 */

static void sign_and_verify(const struct identity_signer *signer, struct arena *arena,
                            const char *text)
{
	struct identity caller = {.kind = KEY_AUTOMATION, .scopes = strlen(text), .repo = text};
	struct identity read = {0};
	char *value = identity_sign(signer, arena, &caller, "request", NOW_MS);
	require(identity_verify(signer, arena, value, NOW_MS, &read) == ERR_NONE);
	require(read.kind == caller.kind && read.scopes == caller.scopes);
	require(read.repo && strcmp(read.repo, text) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	struct identity_signer *signer = identity_signer_new("0123456789abcdef0123456789abcdef");
	char *text = arena_strndup(arena, (const char *)data, size);
	struct identity read = {0};
	/* Callers of identity_sign() pass a short repository name without `|`. */
	if (size > 1 && size < 200 && data[0] == '\0' && data[1] != '\0' &&
	    !memchr(data, '|', size))
		sign_and_verify(signer, arena,
		                arena_strndup(arena, (const char *)data + 1, size - 1));
	require(identity_verify(signer, arena, text, NOW_MS, &read) == ERR_UNAUTHENTICATED);
	identity_signer_free(signer);
	arena_free(arena);
	return 0;
}
