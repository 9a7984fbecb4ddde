#include "client/oauth_code.h"

#include "crypto/crypto.h"
#include "http/query.h"

#include <string.h>

#define TOKEN_MAX ((size_t)16 << 10)

static const char *challenge_of(struct arena *arena, const char *verifier)
{
	uint8_t digest[SHA256_LEN];
	sha256(verifier, strlen(verifier), digest);
	return base64url_encode(arena, digest, sizeof(digest));
}

struct buf oauth_code_url(struct arena *arena, const struct oauth_code_request *request)
{
	struct buf url = {.arena = arena};
	buf_puts(&url, request->endpoint);
	buf_puts(&url, strchr(request->endpoint, '?') ? "&" : "?");
	form_add(&url, "response_type", "code");
	form_add(&url, "client_id", request->client_id);
	form_add(&url, "redirect_uri", request->redirect_uri);
	form_add(&url, "scope", request->scopes);
	form_add(&url, "state", request->state);
	form_add(&url, "code_challenge", challenge_of(arena, request->verifier));
	form_add(&url, "code_challenge_method", "S256");
	return url;
}

bool oauth_token_is_valid(const char *text)
{
	size_t length = text ? strlen(text) : 0;
	for (size_t i = 0; i < length; i++)
		if (text[i] < 0x21 || text[i] > 0x7E)
			return false;
	return length > 0 && length <= TOKEN_MAX;
}
