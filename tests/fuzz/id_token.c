/* An ID token: any text is refused, or names an algorithm of public keys, and its person is a
 * subject that can be stored. The same bytes as a set of keys give keys that can verify. */
#include "oidc/id_token.h"

#include "fuzz.h"
#include "json/json.h"
#include "oidc/jwks.h"

#include <string.h>

static void check_token(struct arena *arena, const char *text)
{
	struct id_token token;
	const struct id_token_rules rules = {"https://op.example.org", "us", "n1", 1800000000};
	if (id_token_read(arena, text, &token))
		return;
	require(token.algorithm < SIGNATURE_ALGORITHM_COUNT && token.kid);
	require(token.signed_text == text && text[token.signed_length] == '.');
	if (id_token_check(&token, &rules))
		return;
	struct id_claims claims = id_claims_read(token.claims);
	require(claims.subject && claims.subject[0] && strlen(claims.subject) <= 255);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	const char *text = arena_strndup(arena, (const char *)data, size);
	yyjson_val *root;
	check_token(arena, text);
	if (!json_parse(arena, (const char *)data, size, &root, NULL)) {
		struct jwks jwks = jwks_read(arena, root);
		for (size_t i = 0; i < jwks.count; i++)
			require(jwks.keys[i].kid && public_key_is_valid(&jwks.keys[i].key));
	}
	arena_free(arena);
	return 0;
}
