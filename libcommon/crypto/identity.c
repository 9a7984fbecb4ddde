#include "crypto/identity.h"

#include "base/base.h"
#include "crypto/crypto.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#define VALUE_MAX 2048 /* longest value accepted; valid ones have under 600 characters */
#define VERIFIED  "verified"
#define SLOTS     8192 /* of claims */
#define SWEPT     8    /* of them, for each that is filled */

struct identity_signer {
	const char *sender, *receiver;
	const char *secret;
	struct arena *arena;
};

/* One allocation: the strings follow the claims in `text`. */
struct signed_identity {
	const struct identity_signer *signer; /* for comparison only */
	struct identity identity;
	int64_t signed_ms;
	struct cmac *mac;
	size_t claims_length;
	char text[]; /* base64url of the claims, and a dot */
};

/* Claims that a signature has proved, and their key. One allocation: the strings follow the
 * base64url of the claims in `text`. */
struct proved_claims {
	struct cmac *mac;
	struct verified_identity verified;
	size_t length; /* of the base64url */
	char text[];
};

struct identity_verifier {
	const char *receiver;
	struct identity_secret *secrets;
	size_t count;
	struct proved_claims *proved[SLOTS]; /* by hash of their base64url; NULL: empty */
	size_t swept;                        /* slots that were looked at */
	struct arena *arena;
};

enum field_index {
	FIELD_VERSION,
	FIELD_SENDER,
	FIELD_RECEIVER,
	FIELD_ACCOUNT,
	FIELD_KEY_ID,
	FIELD_KIND,
	FIELD_SCOPES,
	FIELD_SIGNED,
	FIELD_REPO,
	FIELD_INTEREST,
	FIELD_VERIFIED,
	FIELD_PERSON, /* from version 4 on */
	FIELD_COUNT
};

/* The versions that are read, and how many fields each has. */
static const struct version {
	const char *name;
	size_t fields;
} VERSIONS[] = {{"3", FIELD_PERSON}, {"4", FIELD_COUNT}};

static const char *const KIND_NAMES[] = {
	[KEY_PERSONAL] = "personal",
	[KEY_AUTOMATION] = "automation",
	[KEY_SERVICE] = "service",
};

const char *key_kind_name(enum key_kind kind)
{
	require((unsigned)kind < ARRAY_LEN(KIND_NAMES));
	return KIND_NAMES[kind];
}

static const char *text_or_empty(const char *text)
{
	return text ? text : "";
}

/* The version and the person of what is written: version 4 only where there is one. */
static const char *version_of(const struct identity *identity)
{
	return uuid_is_nil(&identity->person) ? "3" : "4";
}

static const char *person_field(struct arena *arena, const struct identity *identity)
{
	char text[UUID_TEXT_LEN + 1];
	if (uuid_is_nil(&identity->person))
		return "";
	uuid_format(&identity->person, text);
	return arena_printf(arena, "|%s", text);
}

static bool text_equal(const char *a, const char *b)
{
	return strcmp(text_or_empty(a), text_or_empty(b)) == 0;
}

static size_t size_of(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

/* Copy a string to `*at`, behind which the next one goes. */
static const char *place(char **at, const char *text)
{
	if (!text)
		return NULL;
	char *placed = memcpy(*at, text, size_of(text));
	*at += size_of(text);
	return placed;
}

/* The key that signs requests with these claims. */
static struct cmac *claims_key(const char *secret, const char *claims, size_t length)
{
	uint8_t digest[SHA256_LEN];
	hmac_sha256(secret, strlen(secret), claims, length, digest);
	struct cmac *mac = cmac_new(digest);
	explicit_bzero(digest, sizeof(digest));
	return mac;
}

static void sign_request(struct cmac *mac, const struct identity_request *request,
                         uint8_t out[CMAC_LEN])
{
	const char *id = text_or_empty(request->id);
	cmac_add(mac, request->method, request->method_length);
	cmac_add(mac, " ", 1);
	cmac_add(mac, request->target, request->target_length);
	cmac_add(mac, "\n", 1);
	cmac_add(mac, id, strlen(id));
	cmac_finish(mac, out);
}

/* --- Signing ---------------------------------------------------------------------------------- */

struct identity_signer *identity_signer_new(const char *sender, const char *receiver,
                                            const char *secret)
{
	struct arena *arena = arena_new_wiped();
	struct identity_signer *signer = arena_new_of(arena, struct identity_signer);
	*signer = (struct identity_signer){
		.sender = arena_strdup(arena, sender),
		.receiver = arena_strdup(arena, receiver),
		.secret = arena_strdup(arena, secret),
		.arena = arena,
	};
	return signer;
}

void identity_signer_free(struct identity_signer *signer)
{
	if (signer)
		arena_free(signer->arena);
}

/* The claims of a caller, in the arena. */
static const char *claims_of(struct arena *arena, const struct identity_signer *signer,
                             const struct identity *identity, int64_t now_ms)
{
	char account[UUID_TEXT_LEN + 1], key_id[UUID_TEXT_LEN + 1];
	uuid_format(&identity->account, account);
	uuid_format(&identity->key_id, key_id);
	return arena_printf(arena, "%s|%s|%s|%s|%s|%s|%" PRIx64 "|%" PRId64 "|%s|%s|%s%s",
	                    version_of(identity), signer->sender, signer->receiver, account, key_id,
	                    key_kind_name(identity->kind), identity->scopes, now_ms,
	                    text_or_empty(identity->repo), text_or_empty(identity->interest),
	                    identity->is_repo_verified ? VERIFIED : "",
	                    person_field(arena, identity));
}

struct signed_identity *signed_identity_new(const struct identity_signer *signer,
                                            const struct identity *identity, int64_t now_ms)
{
	struct arena *arena = arena_new_wiped();
	const char *claims = claims_of(arena, signer, identity, now_ms);
	const char *text =
		arena_printf(arena, "%s.", base64url_encode(arena, claims, strlen(claims)));
	size_t length = strlen(text);
	struct signed_identity *made = malloc(sizeof(*made) + length + size_of(identity->repo) +
	                                      size_of(identity->interest));
	require(made);
	*made = (struct signed_identity){
		.signer = signer,
		.identity = *identity,
		.signed_ms = now_ms,
		.mac = claims_key(signer->secret, claims, strlen(claims)),
		.claims_length = length,
	};
	memcpy(made->text, text, length);
	char *at = made->text + length;
	made->identity.repo = place(&at, identity->repo);
	made->identity.interest = place(&at, identity->interest);
	arena_free(arena);
	return made;
}

void signed_identity_free(struct signed_identity *signed_identity)
{
	if (!signed_identity)
		return;
	cmac_free(signed_identity->mac);
	free(signed_identity);
}

int64_t signed_identity_age_ms(const struct signed_identity *signed_identity, int64_t now_ms)
{
	return now_ms - signed_identity->signed_ms;
}

bool signed_identity_is_of(const struct signed_identity *signed_identity,
                           const struct identity_signer *signer, const struct identity *identity,
                           int64_t now_ms, int64_t age_max_ms)
{
	const struct identity *own = &signed_identity->identity;
	int64_t age_ms = signed_identity_age_ms(signed_identity, now_ms);
	return signed_identity->signer == signer && age_ms >= 0 && age_ms <= age_max_ms &&
	       uuid_equal(&own->key_id, &identity->key_id) &&
	       uuid_equal(&own->account, &identity->account) &&
	       uuid_equal(&own->person, &identity->person) && own->kind == identity->kind &&
	       own->scopes == identity->scopes && text_equal(own->repo, identity->repo) &&
	       own->is_repo_verified == identity->is_repo_verified &&
	       text_equal(own->interest, identity->interest);
}

char *identity_sign(struct signed_identity *signed_identity, struct arena *arena,
                    const struct identity_request *request)
{
	uint8_t mac[CMAC_LEN];
	sign_request(signed_identity->mac, request, mac);
	const char *text = base64url_encode(arena, mac, sizeof(mac));
	size_t length = signed_identity->claims_length;
	char *value = arena_alloc(arena, length + strlen(text) + 1);
	memcpy(value, signed_identity->text, length);
	memcpy(value + length, text, strlen(text) + 1);
	return value;
}

/* --- Verifying -------------------------------------------------------------------------------- */

struct identity_verifier *identity_verifier_new(const char *receiver,
                                                const struct identity_secret *secrets, size_t count)
{
	struct arena *arena = arena_new_wiped();
	struct identity_verifier *verifier = arena_new_of(arena, struct identity_verifier);
	verifier->receiver = arena_strdup(arena, receiver);
	verifier->secrets = arena_array(arena, count, sizeof(*secrets));
	verifier->count = count;
	verifier->arena = arena;
	for (size_t i = 0; i < count; i++)
		verifier->secrets[i] = (struct identity_secret){
			.sender = arena_strdup(arena, secrets[i].sender),
			.secret = arena_strdup(arena, secrets[i].secret),
		};
	return verifier;
}

struct identity_verifier *identity_verifier_copy(const struct identity_verifier *verifier)
{
	if (!verifier)
		return NULL;
	return identity_verifier_new(verifier->receiver, verifier->secrets, verifier->count);
}

static void proved_free(struct proved_claims *proved)
{
	if (!proved)
		return;
	cmac_free(proved->mac);
	free(proved);
}

void identity_verifier_free(struct identity_verifier *verifier)
{
	if (!verifier)
		return;
	for (size_t i = 0; i < SLOTS; i++)
		proved_free(verifier->proved[i]);
	arena_free(verifier->arena);
}

/* A value in its parts. The fields point into a copy of the claims. */
struct parsed_value {
	const char *text; /* base64url of the claims */
	size_t text_length;
	char *claims;
	size_t claims_length;
	const char *fields[FIELD_COUNT];
	uint8_t *mac;
};

static bool is_version(const char *name, size_t fields)
{
	for (size_t i = 0; i < ARRAY_LEN(VERSIONS); i++)
		if (strcmp(VERSIONS[i].name, name) == 0)
			return VERSIONS[i].fields == fields;
	return false;
}

/* Split at each `|`; false: these are not the fields of a version. */
static bool fields_split(char *text, size_t length, const char *fields[FIELD_COUNT])
{
	if (memchr(text, '\0', length))
		return false;
	size_t count = 0;
	for (char *field = text; field && count <= FIELD_COUNT; count++) {
		char *bar = strchr(field, '|');
		if (bar)
			*bar++ = '\0';
		if (count < FIELD_COUNT)
			fields[count] = field;
		field = bar;
	}
	return is_version(fields[FIELD_VERSION], count);
}

/* Split into claims and MAC, and decode the latter. */
static bool value_split(struct arena *arena, const char *value, struct parsed_value *parsed)
{
	size_t length = strnlen(value, VALUE_MAX + 1), mac_length;
	const char *dot = memchr(value, '.', length);
	if (!dot || length > VALUE_MAX)
		return false;
	parsed->text = value;
	parsed->text_length = (size_t)(dot - value);
	const char *mac_text = dot + 1;
	parsed->mac =
		base64url_decode(arena, mac_text, length - (size_t)(mac_text - value), &mac_length);
	return parsed->mac && mac_length == CMAC_LEN;
}

static bool claims_parse(struct arena *arena, struct parsed_value *parsed)
{
	parsed->claims =
		base64url_decode(arena, parsed->text, parsed->text_length, &parsed->claims_length);
	if (!parsed->claims)
		return false;
	char *copy = arena_memdup(arena, parsed->claims, parsed->claims_length);
	return fields_split(copy, parsed->claims_length, parsed->fields);
}

static bool is_signed_with(struct cmac *mac, const struct parsed_value *parsed,
                           const struct identity_request *request)
{
	uint8_t expected[CMAC_LEN];
	sign_request(mac, request, expected);
	return equal_constant_time(parsed->mac, expected, CMAC_LEN);
}

/* The key of the claims with which the request is signed; NULL: it is signed with none. */
static struct cmac *signing_key(const struct identity_verifier *verifier,
                                const struct parsed_value *parsed,
                                const struct identity_request *request)
{
	if (strcmp(parsed->fields[FIELD_RECEIVER], verifier->receiver) != 0)
		return NULL;
	for (size_t i = 0; i < verifier->count; i++) {
		const struct identity_secret *row = &verifier->secrets[i];
		if (strcmp(row->sender, parsed->fields[FIELD_SENDER]) != 0)
			continue;
		struct cmac *mac = claims_key(row->secret, parsed->claims, parsed->claims_length);
		if (is_signed_with(mac, parsed, request))
			return mac;
		cmac_free(mac);
	}
	return NULL;
}

/* `digits_max` digits of the base fit into 64 bits. */
static bool number_parse(const char *text, int base, const char *digits, size_t digits_max,
                         uint64_t *ret_number)
{
	size_t length = strlen(text);
	if (length == 0 || length > digits_max || strspn(text, digits) != length)
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

/* The person of version 4, who may be absent. */
static bool person_parse(const char *text, struct uuid *ret_person)
{
	return !text || text[0] == '\0' || uuid_parse(text, strlen(text), ret_person);
}

static bool claims_read(const char *const fields[FIELD_COUNT], struct verified_identity *verified)
{
	struct identity *identity = &verified->identity;
	uint64_t signed_ms;
	if (!uuid_parse(fields[FIELD_ACCOUNT], strlen(fields[FIELD_ACCOUNT]), &identity->account) ||
	    !uuid_parse(fields[FIELD_KEY_ID], strlen(fields[FIELD_KEY_ID]), &identity->key_id) ||
	    !kind_parse(fields[FIELD_KIND], &identity->kind) ||
	    !person_parse(fields[FIELD_PERSON], &identity->person) ||
	    !number_parse(fields[FIELD_SCOPES], 16, "0123456789abcdef", 16, &identity->scopes) ||
	    !number_parse(fields[FIELD_SIGNED], 10, "0123456789", 18, &signed_ms))
		return false;
	identity->repo = text_or_null(fields[FIELD_REPO]);
	identity->interest = text_or_null(fields[FIELD_INTEREST]);
	identity->is_repo_verified = strcmp(fields[FIELD_VERIFIED], VERIFIED) == 0;
	verified->sender = fields[FIELD_SENDER];
	verified->signed_ms = (int64_t)signed_ms;
	return true;
}

/* The sender signs many requests with the same claims, in the gateway those of one key and some
 * seconds: what follows from the claims alone is kept. Other claims with the same slot replace
 * it. */
static struct proved_claims **slot_of(struct identity_verifier *verifier,
                                      const struct parsed_value *parsed)
{
	unsigned hash;
	HASH_VALUE(parsed->text, parsed->text_length, hash);
	return &verifier->proved[hash % SLOTS];
}

static bool is_of(const struct proved_claims *proved, const struct parsed_value *parsed)
{
	return proved && proved->length == parsed->text_length &&
	       memcmp(proved->text, parsed->text, parsed->text_length) == 0;
}

/* Takes `mac`. */
static struct proved_claims *proved_new(const struct parsed_value *parsed, struct cmac *mac,
                                        const struct verified_identity *verified)
{
	const struct identity *identity = &verified->identity;
	size_t strings =
		size_of(verified->sender) + size_of(identity->repo) + size_of(identity->interest);
	struct proved_claims *proved = malloc(sizeof(*proved) + parsed->text_length + strings);
	require(proved);
	*proved = (struct proved_claims){.mac = mac,
	                                 .verified = *verified,
	                                 .length = parsed->text_length};
	memcpy(proved->text, parsed->text, parsed->text_length);
	char *at = proved->text + parsed->text_length;
	proved->verified.sender = place(&at, verified->sender);
	proved->verified.identity.repo = place(&at, identity->repo);
	proved->verified.identity.interest = place(&at, identity->interest);
	return proved;
}

/* Free the claims of some slots in turn which have become worthless. */
static void sweep(struct identity_verifier *verifier, int64_t now_ms)
{
	for (int i = 0; i < SWEPT; i++) {
		struct proved_claims **slot = &verifier->proved[verifier->swept++ % SLOTS];
		if (*slot && now_ms - (*slot)->verified.signed_ms > IDENTITY_LIFETIME_MS) {
			proved_free(*slot);
			*slot = NULL;
		}
	}
}

/* Check the signature, and that the claims are well formed; keep what follows from them. */
static struct proved_claims *prove(struct identity_verifier *verifier, struct arena *arena,
                                   struct parsed_value *parsed,
                                   const struct identity_request *request, int64_t now_ms)
{
	struct proved_claims **slot = slot_of(verifier, parsed);
	if (is_of(*slot, parsed) && is_signed_with((*slot)->mac, parsed, request))
		return *slot;
	struct verified_identity verified = {0};
	struct cmac *mac =
		claims_parse(arena, parsed) ? signing_key(verifier, parsed, request) : NULL;
	if (!mac || !claims_read(parsed->fields, &verified)) {
		cmac_free(mac);
		return NULL;
	}
	sweep(verifier, now_ms);
	proved_free(*slot);
	*slot = proved_new(parsed, mac, &verified);
	return *slot;
}

enum err_code identity_verify(struct identity_verifier *verifier, struct arena *arena,
                              const char *value, const struct identity_request *request,
                              int64_t now_ms, struct verified_identity *ret_verified)
{
	struct parsed_value parsed = {0};
	if (!value || !value_split(arena, value, &parsed))
		return ERR_UNAUTHENTICATED;
	const struct proved_claims *proved = prove(verifier, arena, &parsed, request, now_ms);
	if (!proved)
		return ERR_UNAUTHENTICATED;
	*ret_verified = proved->verified;
	ret_verified->sender = arena_strdup(arena, proved->verified.sender);
	ret_verified->identity.repo = arena_strdup(arena, proved->verified.identity.repo);
	ret_verified->identity.interest = arena_strdup(arena, proved->verified.identity.interest);
	int64_t age_ms = now_ms - proved->verified.signed_ms;
	bool is_current = age_ms < IDENTITY_LIFETIME_MS && age_ms > -IDENTITY_LIFETIME_MS;
	return is_current ? ERR_NONE : ERR_UNAVAILABLE;
}
