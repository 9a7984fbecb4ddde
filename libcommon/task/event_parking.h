/** Parked events: those that could not be handled yet, in the table `event_parked`. Internal to
 * this folder.
 *
 * An event that fails delays only its own lane: its account, or what its writer has named in its
 * place (`lane` of the outbox). It is parked, and so are later events of its lane, untried; those
 * of other lanes go on. Parked events are tried again apart, with backoff, a lane's in their order.
 * An event that fails by itself DELIVERIES_MAX times goes to `events.dead.<service>`, and one whose
 * data are wrong at once; one that finds a part of the system unavailable is kept.
 *
 * Bounds: when more than PARKED_OF_LANE events of a lane are parked, the one that fails has no
 * more tries than one. When PARKED_MAX are parked in all, the consumer reads no further.
 */
#pragma once

#include "task/event_delivery.h"

#define PARKED_OF_LANE 1000
#define PARKED_MAX     10000

/** Lanes with parked events, while a batch is handled. */
struct parked_lanes {
	const char **items; /* "": of the events of neither lane nor account */
	size_t count, room;
};

/** Load them, with room for `more`. In the arena. Suspends; raises. */
struct parked_lanes parked_lanes_load(struct request *rq, const struct event_consumer *consumer,
                                      size_t more);

/** The lane of an entry. Borrows from it; "": of neither lane nor account. */
const char *event_lane(const struct stream_entry *entry);

/** Whether an event of the entry's lane is parked. */
bool parked_lanes_has(const struct parked_lanes *lanes, const struct stream_entry *entry);

/** Park the entry after a failed delivery, or, with NULL, behind another one of its lane. Adds its
 * lane. Suspends; raises when it cannot be stored, ERR_UNAVAILABLE when too many are parked. */
void event_park(struct request *rq, const struct event_consumer *consumer,
                struct parked_lanes *lanes, const struct stream_entry *entry,
                const struct delivery *failed);

/** Park the entry of a dead letter of `stream`, due at once, behind what is parked of its lane. One
 * that is parked already is left alone. Suspends; raises. */
void event_park_again(struct request *rq, const char *stream, const struct stream_entry *entry);

/** Pass of a consumer's `retry` (periodic.h), whose user is the consumer: tries the parked events
 * that are due. */
void event_parking_pass(struct request *rq);
