#include "oidc/jwks.h"

#include "crypto/crypto.h"
#include "json/json.h"

#include <string.h>

/* What a key of an algorithm is called in a set (RFC 7518 section 6.1). */
static const char *const KEY_TYPES[SIGNATURE_ALGORITHM_COUNT] = {
	[SIGNATURE_RS256] = "RSA",
	[SIGNATURE_ES256] = "EC",
};

static struct key_number number_of(struct arena *arena, yyjson_val *row, const char *name)
{
	struct key_number number = {0};
	yyjson_val *member = json_get(row, name);
	if (yyjson_is_str(member))
		number.bytes = base64url_decode(arena, yyjson_get_str(member),
		                                yyjson_get_len(member), &number.length);
	return number.bytes ? number : (struct key_number){0};
}

static bool is_text_or_absent(yyjson_val *row, const char *name, const char *text)
{
	yyjson_val *member = json_get(row, name);
	return !member || yyjson_equals_str(member, text);
}

/* The algorithm of a key; false: it cannot verify. */
static bool algorithm_of(yyjson_val *row, enum signature_algorithm *ret_algorithm)
{
	const char *type = json_get_text(row, "kty");
	for (int i = 0; type && i < SIGNATURE_ALGORITHM_COUNT; i++)
		if (strcmp(type, KEY_TYPES[i]) == 0) {
			*ret_algorithm = (enum signature_algorithm)i;
			return is_text_or_absent(row, "use", "sig") &&
			       is_text_or_absent(row, "alg",
			                         signature_algorithm_name(*ret_algorithm)) &&
			       is_text_or_absent(row, "crv", "P-256");
		}
	return false;
}

static bool jwk_read(struct arena *arena, yyjson_val *row, struct jwk *ret_jwk)
{
	const char *kid = json_get_text(row, "kid");
	struct public_key key = {0};
	if (!kid || !algorithm_of(row, &key.algorithm))
		return false;
	key.n = number_of(arena, row, "n");
	key.e = number_of(arena, row, "e");
	key.x = number_of(arena, row, "x");
	key.y = number_of(arena, row, "y");
	*ret_jwk = (struct jwk){.kid = arena_strdup(arena, kid), .key = key};
	return public_key_is_valid(&key);
}

struct jwks jwks_read(struct arena *arena, yyjson_val *root)
{
	yyjson_val *list = json_get(root, "keys"), *row;
	struct jwk *keys = arena_array(arena, JWKS_KEYS_MAX, sizeof(*keys));
	size_t index, max, count = 0;
	yyjson_arr_foreach (list, index, max, row)
		if (count < JWKS_KEYS_MAX && jwk_read(arena, row, &keys[count]))
			count++;
	return (struct jwks){keys, count};
}

const struct public_key *jwks_find(const struct jwks *jwks, const char *kid,
                                   enum signature_algorithm algorithm)
{
	for (size_t i = 0; i < jwks->count; i++)
		if (strcmp(jwks->keys[i].kid, kid) == 0 && jwks->keys[i].key.algorithm == algorithm)
			return &jwks->keys[i].key;
	return NULL;
}
