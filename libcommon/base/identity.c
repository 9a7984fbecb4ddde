#include "base/identity.h"

#include "base/base.h"
#include "base/crypto.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define VERSION     "1"
#define FIELD_COUNT 9
#define VALUE_MAX   2048 /* longest value accepted; valid ones have under 600 characters */

struct identity_signer {
	size_t length;
	uint8_t key[];
};

enum field_index {
	FIELD_VERSION,
	FIELD_ACCOUNT,
	FIELD_KEY_ID,
	FIELD_KIND,
	FIELD_SCOPES,
	FIELD_EXPIRY,
	FIELD_REPO,
	FIELD_INTEREST,
	FIELD_REQUEST_ID,
};

static const char *const KIND_NAMES[] = {
	[KEY_PERSONAL] = "personal",
	[KEY_AUTOMATION] = "automation",
	[KEY_SERVICE] = "service",
};

bool identity_is_limited(const struct identity *identity)
{
	return identity->repo || identity->interest;
}

struct identity_signer *identity_signer_new(const char *secret)
{
	size_t length = strlen(secret);
	struct identity_signer *signer = malloc(sizeof(*signer) + length + 1);
	require(signer);
	signer->length = length;
	memcpy(signer->key, secret, length + 1);
	return signer;
}

void identity_signer_free(struct identity_signer *signer)
{
	if (!signer)
		return;
	explicit_bzero(signer, sizeof(*signer) + signer->length);
	free(signer);
}

const char *key_kind_name(enum key_kind kind)
{
	require((unsigned)kind < ARRAY_LEN(KIND_NAMES));
	return KIND_NAMES[kind];
}

static const char *text_or_empty(const char *text)
{
	return text ? text : "";
}

char *identity_sign(const struct identity_signer *signer, struct arena *arena,
                    const struct identity *identity, const char *request_id, int64_t now_ms)
{
	char account[UUID_TEXT_LEN + 1], key_id[UUID_TEXT_LEN + 1];
	uuid_format(&identity->account, account);
	uuid_format(&identity->key_id, key_id);
	struct buf fields = {.arena = arena};
	buf_printf(&fields, VERSION "|%s|%s|%s|%" PRIx64 "|%" PRId64 "|%s|%s|%s", account, key_id,
	           key_kind_name(identity->kind), identity->scopes, now_ms + IDENTITY_TTL_MS,
	           text_or_empty(identity->repo), text_or_empty(identity->interest),
	           text_or_empty(request_id));

	uint8_t mac[SHA256_LEN];
	hmac_sha256(signer->key, signer->length, fields.data, fields.length, mac);
	struct buf value = {.arena = arena};
	buf_puts(&value, base64url_encode(arena, fields.data, fields.length));
	buf_puts(&value, ".");
	buf_puts(&value, base64url_encode(arena, mac, sizeof(mac)));
	return value.data;
}

/* The signed text, in the arena; NULL: the signature is not valid. */
static char *value_open(const struct identity_signer *signer, struct arena *arena,
                        const char *value, size_t *ret_length)
{
	size_t length = strnlen(value, VALUE_MAX + 1), mac_length;
	const char *dot = memchr(value, '.', length);
	if (!dot || length > VALUE_MAX)
		return NULL;
	char *fields = base64url_decode(arena, value, (size_t)(dot - value), ret_length);
	const char *mac_text = dot + 1;
	uint8_t *mac =
		base64url_decode(arena, mac_text, length - (size_t)(mac_text - value), &mac_length);
	if (!fields || !mac || mac_length != SHA256_LEN)
		return NULL;
	uint8_t expected[SHA256_LEN];
	hmac_sha256(signer->key, signer->length, fields, *ret_length, expected);
	return equal_constant_time(mac, expected, SHA256_LEN) ? fields : NULL;
}

/* Split at each `|`; false: there are not FIELD_COUNT parts. */
static bool fields_split(char *text, size_t length, const char *parts[FIELD_COUNT])
{
	if (memchr(text, '\0', length))
		return false;
	size_t count = 0;
	for (char *part = text; part && count <= FIELD_COUNT; count++) {
		char *bar = strchr(part, '|');
		if (bar)
			*bar++ = '\0';
		if (count < FIELD_COUNT)
			parts[count] = part;
		part = bar;
	}
	return count == FIELD_COUNT;
}

static bool number_parse(const char *text, int base, const char *digits, uint64_t *ret_number)
{
	size_t length = strlen(text);
	if (length == 0 || length > 19 || strspn(text, digits) != length)
		return false;
	*ret_number = strtoull(text, NULL, base);
	return true;
}

static bool kind_parse(const char *text, enum key_kind *ret_kind)
{
	for (size_t kind = 0; kind < ARRAY_LEN(KIND_NAMES); kind++) {
		if (strcmp(text, KIND_NAMES[kind]) == 0) {
			*ret_kind = (enum key_kind)kind;
			return true;
		}
	}
	return false;
}

static const char *text_or_null(const char *text)
{
	return text[0] == '\0' ? NULL : text;
}

enum err_code identity_verify(const struct identity_signer *signer, struct arena *arena,
                              const char *value, int64_t now_ms, struct identity *ret_identity)
{
	size_t length;
	const char *parts[FIELD_COUNT];
	char *text = value ? value_open(signer, arena, value, &length) : NULL;
	if (!text || !fields_split(text, length, parts))
		return ERR_UNAUTHENTICATED;

	struct identity identity = {
		.repo = text_or_null(parts[FIELD_REPO]),
		.interest = text_or_null(parts[FIELD_INTEREST]),
	};
	uint64_t expiry_ms;
	if (strcmp(parts[FIELD_VERSION], VERSION) != 0 ||
	    !uuid_parse(parts[FIELD_ACCOUNT], strlen(parts[FIELD_ACCOUNT]), &identity.account) ||
	    !uuid_parse(parts[FIELD_KEY_ID], strlen(parts[FIELD_KEY_ID]), &identity.key_id) ||
	    !kind_parse(parts[FIELD_KIND], &identity.kind) ||
	    !number_parse(parts[FIELD_SCOPES], 16, "0123456789abcdef", &identity.scopes) ||
	    !number_parse(parts[FIELD_EXPIRY], 10, "0123456789", &expiry_ms) ||
	    (int64_t)expiry_ms <= now_ms)
		return ERR_UNAUTHENTICATED;
	*ret_identity = identity;
	return ERR_NONE;
}
