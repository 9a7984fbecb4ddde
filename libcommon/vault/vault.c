#include "vault/vault.h"

#include "crypto/crypto.h"

#include <stdio.h>
#include <string.h>

#define KEYS_MAX   16
#define KEY_ID_MAX 32

static const char *seal_keys;

const struct setting VAULT_SETTINGS[] = {
	SETTING_SECRET(&seal_keys, "SEAL_KEYS", NULL,
                       "Keys that seal stored tokens and secrets, as id:base64 of 32 bytes, "
                       "separated by commas; the "
                       "first one seals, all of them open."),
	SETTING_END,
};

static struct key {
	char id[KEY_ID_MAX + 1];
	uint8_t bytes[GCM_KEY_LEN];
} keys[KEYS_MAX];
static size_t key_count;

/* Read `id:base64`. Returns what is wrong with it, or NULL. */
static const char *read_key(struct arena *arena, const char *text, size_t length)
{
	const char *colon = memchr(text, ':', length);
	if (!colon || colon == text || (size_t)(colon - text) > KEY_ID_MAX)
		return "a key must be written id:base64, with an id of 1 to 32 characters";
	if (key_count == KEYS_MAX)
		return "there are more than 16 keys";
	size_t key_length;
	const char *encoded = colon + 1;
	void *bytes = base64_decode(arena, encoded, length - (size_t)(encoded - text), &key_length);
	if (!bytes || key_length != GCM_KEY_LEN)
		return "a key must be 32 bytes, encoded as base64";
	struct key *key = &keys[key_count];
	snprintf(key->id, sizeof(key->id), "%.*s", (int)(colon - text), text);
	memcpy(key->bytes, bytes, GCM_KEY_LEN);
	for (size_t i = 0; i < key_count; i++)
		if (strcmp(keys[i].id, key->id) == 0)
			return "two keys have the same id";
	key_count++;
	return NULL;
}

enum err_code vault_init(void)
{
	struct arena *arena = arena_new_wiped();
	const char *fault = NULL;
	key_count = 0;
	for (const char *at = seal_keys; !fault && *at;) {
		size_t length = strcspn(at, ",");
		fault = read_key(arena, at, length);
		at += length + (at[length] == ',');
	}
	arena_free(arena);
	if (!fault)
		return ERR_NONE;
	fprintf(stderr, "SEAL_KEYS: %s\n", fault);
	return ERR_INVALID;
}

char *vault_prefix_hex(struct arena *arena)
{
	size_t length = strlen(keys[0].id);
	uint8_t prefix[1 + KEY_ID_MAX] = {(uint8_t)length};
	memcpy(prefix + 1, keys[0].id, length);
	char *hex = arena_alloc(arena, 2 * (1 + length) + 1);
	hex_encode(prefix, 1 + length, hex);
	return hex;
}

struct sealed vault_seal(struct arena *arena, const char *context, const char *text)
{
	const struct key *key = &keys[0];
	size_t id_length = strlen(key->id), length = strlen(text);
	struct sealed sealed = {.length = 1 + id_length + length + GCM_OVERHEAD};
	uint8_t *out = arena_alloc(arena, sealed.length);
	out[0] = (uint8_t)id_length;
	memcpy(out + 1, key->id, id_length);
	gcm_seal(key->bytes, context, text, length, out + 1 + id_length);
	sealed.data = out;
	return sealed;
}

static const struct key *key_of(const uint8_t *id, size_t length)
{
	for (size_t i = 0; i < key_count; i++)
		if (strlen(keys[i].id) == length && memcmp(keys[i].id, id, length) == 0)
			return &keys[i];
	return NULL;
}

char *vault_open(struct arena *arena, const char *context, const void *data, size_t length)
{
	const uint8_t *bytes = data;
	if (length < 1 || length < 1 + (size_t)bytes[0] + GCM_OVERHEAD)
		return NULL;
	const struct key *key = key_of(bytes + 1, bytes[0]);
	if (!key)
		return NULL;
	const uint8_t *sealed = bytes + 1 + bytes[0];
	size_t sealed_length = length - 1 - bytes[0];
	char *text = arena_alloc(arena, sealed_length - GCM_OVERHEAD + 1);
	if (gcm_open(key->bytes, context, sealed, sealed_length, (uint8_t *)text))
		return NULL;
	return text;
}
