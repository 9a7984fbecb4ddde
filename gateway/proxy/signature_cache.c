#include "proxy/signature_cache.h"

#include "base/base.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS 16384 /* a power of two, at most 65,536 */
#define SWEPT 8     /* of them, for each that is filled */

/* Another caller or receiver with the same slot replaces what is in it. */
struct signature_cache {
	struct signed_identity *slots[SLOTS]; /* NULL: empty */
	size_t swept;                         /* slots that were looked at */
};

struct signature_cache *signature_cache_new(void)
{
	struct signature_cache *cache = calloc(1, sizeof(*cache));
	require(cache);
	return cache;
}

void signature_cache_free(struct signature_cache *cache)
{
	if (!cache)
		return;
	for (size_t i = 0; i < SLOTS; i++)
		signed_identity_free(cache->slots[i]);
	free(cache);
}

/* The last bytes of a version 7 UUID are random. Signers are at least 16 bytes apart. */
static struct signed_identity **slot_of(struct signature_cache *cache,
                                        const struct identity_signer *signer,
                                        const struct identity *caller)
{
	const uint8_t *id = caller->key_id.bytes;
	size_t random = (size_t)id[14] << 8 | id[15];
	return &cache->slots[(random ^ ((uintptr_t)signer >> 4)) % SLOTS];
}

/* Free what some slots in turn have that is too old. */
static void sweep(struct signature_cache *cache, int64_t now_ms)
{
	for (int i = 0; i < SWEPT; i++) {
		struct signed_identity **slot = &cache->slots[cache->swept++ % SLOTS];
		if (*slot && signed_identity_age_ms(*slot, now_ms) >= SIGNATURE_REUSE_MS) {
			signed_identity_free(*slot);
			*slot = NULL;
		}
	}
}

const char *signature_cache_sign(struct signature_cache *cache,
                                 const struct identity_signer *signer,
                                 const struct identity *caller, struct arena *arena,
                                 const struct identity_request *request, int64_t now_ms)
{
	struct signed_identity **slot = slot_of(cache, signer, caller);
	if (!*slot ||
	    !signed_identity_is_of(*slot, signer, caller, now_ms, SIGNATURE_REUSE_MS - 1)) {
		sweep(cache, now_ms);
		signed_identity_free(*slot);
		*slot = signed_identity_new(signer, caller, now_ms);
	}
	return identity_sign(*slot, arena, request);
}
