#include "pacing/fair_queue.h"

#include "base/base.h"

void fair_queue_init(struct fair_queue *queue)
{
	TAILQ_INIT(&queue->entries);
	queue->turn = 0;
}

/* The turn after the last one of the account that waits, else the one that is served now. */
static uint64_t next_turn(const struct fair_queue *queue, const struct uuid *account)
{
	const struct fair_entry *entry;
	TAILQ_FOREACH_REVERSE (entry, &queue->entries, fair_list, link) {
		if (uuid_equal(&entry->account, account))
			return entry->turn + 1;
	}
	return queue->turn;
}

void fair_queue_add(struct fair_queue *queue, struct fair_entry *entry, const struct uuid *account,
                    uint64_t turn)
{
	struct fair_entry *before;
	entry->account = *account;
	entry->turn = MAX_OF(turn, next_turn(queue, account));
	TAILQ_FOREACH_REVERSE (before, &queue->entries, fair_list, link) {
		if (before->turn <= entry->turn) {
			TAILQ_INSERT_AFTER(&queue->entries, before, entry, link);
			return;
		}
	}
	TAILQ_INSERT_HEAD(&queue->entries, entry, link);
}

void fair_queue_put_back(struct fair_queue *queue, struct fair_entry *entry)
{
	TAILQ_INSERT_HEAD(&queue->entries, entry, link);
}

struct fair_entry *fair_queue_first(const struct fair_queue *queue)
{
	return TAILQ_FIRST(&queue->entries);
}

struct fair_entry *fair_queue_next(const struct fair_entry *entry)
{
	return TAILQ_NEXT(entry, link);
}

void fair_queue_serve(struct fair_queue *queue, struct fair_entry *entry)
{
	queue->turn = MAX_OF(queue->turn, entry->turn);
	fair_queue_remove(queue, entry);
}

void fair_queue_remove(struct fair_queue *queue, struct fair_entry *entry)
{
	TAILQ_REMOVE(&queue->entries, entry, link);
}
