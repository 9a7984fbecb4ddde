#include "proxy/signature.h"

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

struct signatures {
	const struct identity_signer *signer;
	struct signature slots[SLOTS];
};

struct signatures *signatures_new(const struct identity_signer *signer)
{
	struct signatures *signatures = calloc(1, sizeof(*signatures));
	require(signatures);
	signatures->signer = signer;
	return signatures;
}

void signatures_free(struct signatures *signatures)
{
	if (!signatures)
		return;
	explicit_bzero(signatures, sizeof(*signatures));
	free(signatures);
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

/* Copy `text` to `to`. Returns false when it is too long. */
static bool keep_text(const char *text, char *to, size_t max, const char **ret_kept)
{
	size_t length = text ? strlen(text) : 0;
	if (length >= max)
		return false;
	if (text)
		memcpy(to, text, length + 1);
	*ret_kept = text ? to : NULL;
	return true;
}

static void keep(struct signature *slot, const struct identity *caller, const char *value,
                 int64_t now_ms)
{
	const char *kept_value;
	slot->caller = *caller;
	slot->signed_ms = now_ms;
	if (!keep_text(caller->repo, slot->repo, REPO_MAX, &slot->caller.repo) ||
	    !keep_text(caller->interest, slot->interest, INTEREST_MAX, &slot->caller.interest) ||
	    !keep_text(value, slot->value, VALUE_MAX, &kept_value))
		slot->value[0] = '\0';
}

const char *signature_of(struct signatures *signatures, struct arena *arena,
                         const struct identity *caller, int64_t now_ms)
{
	/* The last bytes of a version 7 UUID are random. */
	struct signature *slot = &signatures->slots[caller->key_id.bytes[15] % SLOTS];
	int64_t age_ms = now_ms - slot->signed_ms;
	if (slot->value[0] && age_ms >= 0 && age_ms < SIGNATURE_REUSE_MS &&
	    is_same(&slot->caller, caller))
		return slot->value;
	const char *value = identity_sign(signatures->signer, arena, caller, NULL, now_ms);
	keep(slot, caller, value, now_ms);
	return value;
}
