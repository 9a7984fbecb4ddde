/** A queue in which accounts take turns: start-time fair queueing (Goyal, Vin and Cheng, 1996),
 * with a length of 1 for each entry.
 *
 * Each entry gets a turn when it comes, and the lowest turn is first. An account's next entry gets
 * the turn after its last one; an account that has none gets the turn that is served now. So the
 * n-th entry of an account comes after the first n - 1 of each other account that came in the
 * meantime, and one with many entries delays the first of another by one. Tasks, which wait in
 * Postgres, take turns by the same rule (task_turn() in task/task.fn.sql).
 *
 * Entries are part of the caller's structs, and are borrowed while they are in the queue. Adding
 * and serving take a time that does not depend on how many entries an account has: the queue is a
 * list of the accounts that wait, in the order of their first entries. */
#pragma once

#include "crypto/uuid.h"

#include <stdint.h>
#include <sys/queue.h>

#define FAIR_QUEUE_BUCKETS 128

struct fair_waiter; /* an account that waits */

struct fair_entry {
	struct uuid account; /* nil: that of no account, which takes turns like any */
	uint64_t turn;
	struct fair_waiter *waiter; /* its account, while it is in the queue */
	TAILQ_ENTRY(fair_entry) link;
};

struct fair_queue {
	TAILQ_HEAD(fair_waiters, fair_waiter) waiters; /* in the order of their first turns */
	LIST_HEAD(fair_bucket, fair_waiter) buckets[FAIR_QUEUE_BUCKETS]; /* by account */
	uint64_t turn; /* of what was served last */
};

void fair_queue_init(struct fair_queue *queue);

/** Add an entry of the account. `turn` is the lowest that it may have, such as the one after an
 * entry of the account that was served and goes on; 0: any. */
void fair_queue_add(struct fair_queue *queue, struct fair_entry *entry, const struct uuid *account,
                    uint64_t turn);

/** Put an entry that was served back to the front. */
void fair_queue_put_back(struct fair_queue *queue, struct fair_entry *entry);

/** The entry to serve next; NULL: the queue is empty. */
struct fair_entry *fair_queue_first(const struct fair_queue *queue);

/** The first entry of the next account, for one who does not serve this one's; NULL: there is none.
 */
struct fair_entry *fair_queue_next_account(const struct fair_entry *entry);

/** The next entry of all, in no order; NULL: there is none. */
struct fair_entry *fair_queue_next(const struct fair_entry *entry);

/** The entry leaves the queue: it is served, or it is given up. */
void fair_queue_serve(struct fair_queue *queue, struct fair_entry *entry);
void fair_queue_remove(struct fair_queue *queue, struct fair_entry *entry);
