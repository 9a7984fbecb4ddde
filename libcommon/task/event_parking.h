/** Parked events: those that could not be handled yet, in the table `event_parked`. Internal to this
 * folder.
 *
 * An event that fails delays only its own account. It is parked, and so are later events of its
 * account, untried; those of other accounts go on. Parked events are tried again apart, with backoff,
 * an account's in their order. An event that fails by itself DELIVERIES_MAX times goes to
 * `events.dead.<service>`, and one whose data are wrong at once; one that finds a part of the system unavailable
 * is kept.
 *
 * Bounds: when more than PARKED_OF_ACCOUNT events of an account are parked, the one that fails has no
 * more tries than one. When PARKED_MAX are parked in all, the consumer reads no further.
 */
#pragma once

#include "task/event_delivery.h"

#define PARKED_OF_ACCOUNT 1000
#define PARKED_MAX        10000

/** Accounts with parked events, while a batch is handled. */
struct parked_accounts {
	const char **items; /* UUID text, or "" */
	size_t count, room;
};

/** Load them, with room for `more`. In the arena. Suspends; raises. */
struct parked_accounts parked_accounts_load(struct request *rq,
                                            const struct event_consumer *consumer, size_t more);

/** Whether an event of the entry's account is parked. */
bool parked_accounts_has(const struct parked_accounts *accounts, const struct stream_entry *entry);

/** Park the entry after a failed delivery, or, with NULL, behind another one of its account. Adds its
 * account. Suspends; raises when it cannot be stored, ERR_UNAVAILABLE when too many are parked. */
void event_park(struct request *rq, const struct event_consumer *consumer,
                struct parked_accounts *accounts, const struct stream_entry *entry,
                const struct delivery *failed);

/** Pass of a consumer's `retry` (periodic.h), whose user is the consumer: tries the parked events that
 * are due. */
void event_parking_pass(struct request *rq);

/** Register the metrics; once, before threads. */
void event_parking_register(void);
