#include "proxy/signature_cache.h"

#include "base/base.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS        256 /* a power of two */
#define VALUE_MAX    640
#define REPO_MAX     160
#define INTEREST_MAX 40

/* The signature of one caller. Another caller with the same slot replaces it. */
struct signature {
	struct identity caller; /* its strings are in the arrays below */
	char repo[REPO_MAX];
	char interest[INTEREST_MAX];
	char value[VALUE_MAX]; /* "" when the slot is empty */
	int64_t signed_ms;
};

struct signature_cache {
	const struct identity_signer *signer;
	struct signature slots[SLOTS];
};

struct signature_cache *signature_cache_new(const struct identity_signer *signer)
{
	struct signature_cache *cache = calloc(1, sizeof(*cache));
	require(cache);
	cache->signer = signer;
	return cache;
}

void signature_cache_free(struct signature_cache *cache)
{
	if (!cache)
		return;
	explicit_bzero(cache, sizeof(*cache));
	free(cache);
}

static bool text_equal(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_same(const struct identity *a, const struct identity *b)
{
	return uuid_equal(&a->key_id, &b->key_id) && uuid_equal(&a->account, &b->account) &&
	       a->kind == b->kind && a->scopes == b->scopes && text_equal(a->repo, b->repo) &&
	       text_equal(a->interest, b->interest);
}

/* Copy `text`, which may be NULL, to `to`. Returns false when it is too long. */
static bool copy_text(const char *text, char *to, size_t max, const char **ret_copy)
{
	size_t length = text ? strlen(text) : 0;
	if (length >= max)
		return false;
	if (text)
		memcpy(to, text, length + 1);
	*ret_copy = text ? to : NULL;
	return true;
}

/* Store the signature; leave the slot empty when something is too long for it. */
static void slot_fill(struct signature *slot, const struct identity *caller, const char *value,
                      int64_t now_ms)
{
	const char *value_copy;
	slot->caller = *caller;
	slot->signed_ms = now_ms;
	if (!copy_text(caller->repo, slot->repo, REPO_MAX, &slot->caller.repo) ||
	    !copy_text(caller->interest, slot->interest, INTEREST_MAX, &slot->caller.interest) ||
	    !copy_text(value, slot->value, VALUE_MAX, &value_copy))
		slot->value[0] = '\0';
}

const char *signature_cache_get(struct signature_cache *cache, struct arena *arena,
                                const struct identity *caller, int64_t now_ms)
{
	/* The last bytes of a version 7 UUID are random. */
	struct signature *slot = &cache->slots[caller->key_id.bytes[15] % SLOTS];
	int64_t age_ms = now_ms - slot->signed_ms;
	if (slot->value[0] && age_ms >= 0 && age_ms < SIGNATURE_REUSE_MS &&
	    is_same(&slot->caller, caller))
		return slot->value;
	const char *value = identity_sign(cache->signer, arena, caller, NULL, now_ms);
	slot_fill(slot, caller, value, now_ms);
	return value;
}
