/** A queue in which accounts take turns: start-time fair queueing (Goyal, Vin and Cheng, 1996),
 * with a length of 1 for each entry.
 *
 * Each entry gets a turn when it comes, and the lowest turn is first. An account's next entry gets
 * the turn after its last one; an account that has none gets the turn that is served now. So the
 * n-th entry of an account comes after the first n - 1 of each other account that came in the
 * meantime, and one with many entries delays the first of another by one. Tasks, which wait in
 * Postgres, take turns by the same rule (task_turn() in task/task.fn.sql).
 *
 * Entries are part of the caller's structs, and are borrowed while they are in the queue. An entry
 * is added in a time that grows with the length of the queue. */
#pragma once

#include "crypto/uuid.h"

#include <stdint.h>
#include <sys/queue.h>

struct fair_entry {
	TAILQ_ENTRY(fair_entry) link;
	struct uuid account; /* nil: that of no account, which takes turns like any */
	uint64_t turn;
};

struct fair_queue {
	TAILQ_HEAD(fair_list, fair_entry) entries; /* in the order of their turns */
	uint64_t turn;                             /* of what was served last */
};

void fair_queue_init(struct fair_queue *queue);

/** Add an entry of the account. `turn` is the lowest that it may have, such as the one after an
 * entry of the account that was served and goes on; 0: any. */
void fair_queue_add(struct fair_queue *queue, struct fair_entry *entry, const struct uuid *account,
                    uint64_t turn);

/** Put an entry that was served back to the front. */
void fair_queue_put_back(struct fair_queue *queue, struct fair_entry *entry);

/** The entry to serve next, and the one after; NULL: there is none. */
struct fair_entry *fair_queue_first(const struct fair_queue *queue);
struct fair_entry *fair_queue_next(const struct fair_entry *entry);

/** The entry leaves the queue: it is served, or it is given up. */
void fair_queue_serve(struct fair_queue *queue, struct fair_entry *entry);
void fair_queue_remove(struct fair_queue *queue, struct fair_entry *entry);
