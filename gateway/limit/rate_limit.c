/* GCRA: `full_at_us` is the time when the bucket is full again. A request adds the time to
 * refill one token, and is allowed if the sum is not later than the time when an empty bucket would
 * be full.
 *
 * The buckets are in shards, each with a mutex that is held for a few dozen instructions. A full
 * bucket holds no information and can be removed. */
#include "limit/rate_limit.h"

#include "base/base.h"
#include "crypto/crypto.h"

#include <uv.h>

#include <stdlib.h>
#include <string.h>

#define SHARDS        16
#define SLOTS_INITIAL 64
#define SHARD_MAX     (RATE_BUCKETS_MAX / SHARDS)

struct slot {
	struct uuid id; /* nil: the slot is free */
	uint64_t full_at_us;
};

struct shard {
	uv_mutex_t mutex;
	struct slot *slots;
	size_t capacity, used; /* capacity is a power of two */
};

struct rate_limiter {
	int64_t rate;
	uint64_t token_us; /* time to refill one token */
	uint64_t seed;
	struct shard shards[SHARDS];
};

struct rate_limiter *rate_limiter_new(int64_t rate)
{
	struct rate_limiter *limiter = calloc(1, sizeof(*limiter));
	require(limiter);
	limiter->rate = rate;
	random_bytes(&limiter->seed, sizeof(limiter->seed));
	limiter->token_us = rate ? MAX_OF(1000000 / (uint64_t)rate, 1) : 0;
	for (int i = 0; i < SHARDS; i++) {
		struct shard *shard = &limiter->shards[i];
		require(uv_mutex_init(&shard->mutex) == 0);
		shard->capacity = SLOTS_INITIAL;
		shard->slots = calloc(shard->capacity, sizeof(*shard->slots));
		require(shard->slots);
	}
	return limiter;
}

void rate_limiter_free(struct rate_limiter *limiter)
{
	for (int i = 0; limiter && i < SHARDS; i++) {
		uv_mutex_destroy(&limiter->shards[i].mutex);
		free(limiter->shards[i].slots);
	}
	free(limiter);
}

/* Seeded, because clients can choose their addresses. */
static size_t hash_of(const struct rate_limiter *limiter, const struct uuid *id)
{
	uint64_t head, tail;
	memcpy(&head, id->bytes, sizeof(head));
	memcpy(&tail, id->bytes + 8, sizeof(tail));
	head = (head ^ limiter->seed) * UINT64_C(0x9E3779B97F4A7C15);
	tail = (tail ^ head ^ head >> 32) * UINT64_C(0x9E3779B97F4A7C15);
	return (size_t)(tail >> 20);
}

/* The slot of `id`, or the free slot where it belongs. */
static struct slot *slot_find(struct slot *slots, size_t capacity, size_t hash,
                              const struct uuid *id)
{
	size_t at = hash / SHARDS & (capacity - 1);
	while (!uuid_is_nil(&slots[at].id) && !uuid_equal(&slots[at].id, id))
		at = (at + 1) & (capacity - 1);
	return &slots[at];
}

/* Remove the full buckets, and all when there are too many. The new table is at most a quarter
 * used. */
static void shard_rebuild(const struct rate_limiter *limiter, struct shard *shard, uint64_t now_us)
{
	size_t alive = 0;
	for (size_t i = 0; i < shard->capacity; i++)
		alive += shard->slots[i].full_at_us > now_us;
	if (alive >= SHARD_MAX)
		now_us = UINT64_MAX;
	alive = now_us == UINT64_MAX ? 0 : alive;
	size_t capacity = SLOTS_INITIAL;
	while (capacity < (alive + 1) * 4)
		capacity *= 2;
	struct slot *slots = calloc(capacity, sizeof(*slots));
	require(slots);
	for (const struct slot *slot = shard->slots; slot < shard->slots + shard->capacity; slot++)
		if (slot->full_at_us > now_us)
			*slot_find(slots, capacity, hash_of(limiter, &slot->id), &slot->id) = *slot;
	free(shard->slots);
	shard->slots = slots;
	shard->capacity = capacity;
	shard->used = alive;
}

/* The slot of `id`, which is added if it is new. */
static struct slot *shard_slot(const struct rate_limiter *limiter, struct shard *shard, size_t hash,
                               const struct uuid *id, uint64_t now_us)
{
	if (shard->used * 2 >= shard->capacity)
		shard_rebuild(limiter, shard, now_us);
	struct slot *slot = slot_find(shard->slots, shard->capacity, hash, id);
	if (uuid_is_nil(&slot->id)) {
		slot->id = *id;
		shard->used++;
	}
	return slot;
}

static int64_t seconds_rounded_up(uint64_t us)
{
	return (int64_t)((us + 999999) / 1000000);
}

struct rate_verdict rate_limiter_take(struct rate_limiter *limiter, const struct uuid *id,
                                      uint64_t now_us)
{
	struct rate_verdict verdict = {.is_allowed = true, .limit = limiter->rate};
	if (!limiter->rate)
		return verdict;
	uint64_t depth_us = limiter->token_us * (uint64_t)limiter->rate;
	size_t hash = hash_of(limiter, id);
	struct shard *shard = &limiter->shards[hash % SHARDS];
	uv_mutex_lock(&shard->mutex);
	struct slot *slot = shard_slot(limiter, shard, hash, id, now_us);
	uint64_t full_at_us = MAX_OF(slot->full_at_us, now_us) + limiter->token_us;
	uint64_t missing_us = full_at_us - now_us;
	verdict.is_allowed = missing_us <= depth_us;
	if (verdict.is_allowed)
		slot->full_at_us = full_at_us;
	else
		verdict.retry_s = MAX_OF(seconds_rounded_up(missing_us - depth_us), 1);
	uint64_t used_us = verdict.is_allowed ? missing_us : missing_us - limiter->token_us;
	uv_mutex_unlock(&shard->mutex);
	verdict.remaining = (int64_t)((depth_us - MIN_OF(used_us, depth_us)) / limiter->token_us);
	verdict.reset_s = seconds_rounded_up(used_us);
	return verdict;
}

void rate_limiter_return(struct rate_limiter *limiter, const struct uuid *id)
{
	size_t hash = hash_of(limiter, id);
	struct shard *shard = &limiter->shards[hash % SHARDS];
	uv_mutex_lock(&shard->mutex);
	struct slot *slot = slot_find(shard->slots, shard->capacity, hash, id);
	slot->full_at_us -= MIN_OF(slot->full_at_us, limiter->token_us);
	uv_mutex_unlock(&shard->mutex);
}

size_t rate_limiter_size(struct rate_limiter *limiter)
{
	size_t count = 0;
	for (int i = 0; i < SHARDS; i++) {
		uv_mutex_lock(&limiter->shards[i].mutex);
		count += limiter->shards[i].used;
		uv_mutex_unlock(&limiter->shards[i].mutex);
	}
	return count;
}
