#include "pacing/fair_queue.h"

#include "base/base.h"

#include <stdlib.h>

struct fair_waiter {
	struct uuid account;
	TAILQ_HEAD(fair_entries, fair_entry) entries; /* in the order of their turns; never empty */
	TAILQ_ENTRY(fair_waiter) link;
	LIST_ENTRY(fair_waiter) bucket;
};

void fair_queue_init(struct fair_queue *queue)
{
	TAILQ_INIT(&queue->waiters);
	for (size_t i = 0; i < FAIR_QUEUE_BUCKETS; i++)
		LIST_INIT(&queue->buckets[i]);
	queue->turn = 0;
}

/* The last byte of an id is random, or 0 in all. */
static struct fair_bucket *bucket_of(struct fair_queue *queue, const struct uuid *account)
{
	return &queue->buckets[account->bytes[sizeof(account->bytes) - 1] % FAIR_QUEUE_BUCKETS];
}

static struct fair_waiter *waiter_find(struct fair_queue *queue, const struct uuid *account)
{
	struct fair_waiter *waiter;
	LIST_FOREACH (waiter, bucket_of(queue, account), bucket) {
		if (uuid_equal(&waiter->account, account))
			return waiter;
	}
	return NULL;
}

static struct fair_waiter *waiter_new(struct fair_queue *queue, const struct uuid *account)
{
	struct fair_waiter *waiter = calloc(1, sizeof(*waiter));
	require(waiter);
	waiter->account = *account;
	TAILQ_INIT(&waiter->entries);
	LIST_INSERT_HEAD(bucket_of(queue, account), waiter, bucket);
	return waiter;
}

static uint64_t first_turn(const struct fair_waiter *waiter)
{
	return TAILQ_FIRST(&waiter->entries)->turn;
}

/* Put an account into the list, behind those of the same turn. */
static void waiter_place(struct fair_queue *queue, struct fair_waiter *waiter)
{
	struct fair_waiter *before;
	TAILQ_FOREACH_REVERSE (before, &queue->waiters, fair_waiters, link) {
		if (first_turn(before) <= first_turn(waiter)) {
			TAILQ_INSERT_AFTER(&queue->waiters, before, waiter, link);
			return;
		}
	}
	TAILQ_INSERT_HEAD(&queue->waiters, waiter, link);
}

static void waiter_free(struct fair_waiter *waiter)
{
	LIST_REMOVE(waiter, bucket);
	free(waiter);
}

void fair_queue_add(struct fair_queue *queue, struct fair_entry *entry, const struct uuid *account,
                    uint64_t turn)
{
	struct fair_waiter *waiter = waiter_find(queue, account);
	bool is_new = !waiter;
	if (is_new)
		waiter = waiter_new(queue, account);
	uint64_t next_turn =
		is_new ? queue->turn : TAILQ_LAST(&waiter->entries, fair_entries)->turn + 1;
	entry->account = *account;
	entry->turn = MAX_OF(turn, next_turn);
	entry->waiter = waiter;
	TAILQ_INSERT_TAIL(&waiter->entries, entry, link);
	if (is_new)
		waiter_place(queue, waiter);
}

void fair_queue_put_back(struct fair_queue *queue, struct fair_entry *entry)
{
	struct fair_waiter *waiter = waiter_find(queue, &entry->account);
	if (waiter)
		TAILQ_REMOVE(&queue->waiters, waiter, link);
	else
		waiter = waiter_new(queue, &entry->account);
	entry->waiter = waiter;
	TAILQ_INSERT_HEAD(&waiter->entries, entry, link);
	TAILQ_INSERT_HEAD(&queue->waiters, waiter, link);
}

static struct fair_entry *first_of(const struct fair_waiter *waiter)
{
	return waiter ? TAILQ_FIRST(&waiter->entries) : NULL;
}

struct fair_entry *fair_queue_first(const struct fair_queue *queue)
{
	return first_of(TAILQ_FIRST(&queue->waiters));
}

struct fair_entry *fair_queue_next_account(const struct fair_entry *entry)
{
	return first_of(TAILQ_NEXT(entry->waiter, link));
}

struct fair_entry *fair_queue_next(const struct fair_entry *entry)
{
	struct fair_entry *next = TAILQ_NEXT(entry, link);
	return next ? next : fair_queue_next_account(entry);
}

void fair_queue_serve(struct fair_queue *queue, struct fair_entry *entry)
{
	queue->turn = MAX_OF(queue->turn, entry->turn);
	fair_queue_remove(queue, entry);
}

void fair_queue_remove(struct fair_queue *queue, struct fair_entry *entry)
{
	struct fair_waiter *waiter = entry->waiter;
	bool was_first = entry == first_of(waiter);
	TAILQ_REMOVE(&waiter->entries, entry, link);
	entry->waiter = NULL;
	if (!was_first)
		return;
	TAILQ_REMOVE(&queue->waiters, waiter, link);
	if (TAILQ_EMPTY(&waiter->entries))
		waiter_free(waiter);
	else
		waiter_place(queue, waiter);
}
