/** Parked events: those that wait apart from their stream, in the table `event_parked`. Internal to
 * this folder.
 *
 * Two kinds of events delay only their own lane, which is their account, or what their writer has
 * named in its place (`lane` of the outbox): those that fail, and those of a lane that has more of
 * them than its share of a stream that others wait in (events.h). They are parked, and so are later
 * events of their lane, untried; those of other lanes go on. Parked events are tried apart, failed
 * ones with backoff, a lane's in their order, the lanes in turns. An event that fails by itself
 * DELIVERIES_MAX times goes to `events.dead.<service>`, and one whose data are wrong at once; one
 * that finds a part of the system unavailable is kept.
 *
 * Bounds: when more than PARKED_OF_LANE events of a lane are parked, the one that fails has no
 * more tries than one. When PARKED_MAX are parked in all, about 1 KB each, the consumer reads no
 * further; nor when events of one more than PARKED_LANES_MAX lanes fail, as when all fail.
 */
#pragma once

#include "task/event_delivery.h"

#define PARKED_OF_LANE   10000
#define PARKED_MAX       1000000
#define PARKED_LANES_MAX 10000

/** The lane of an entry. Borrows from it; "": of neither lane nor account. */
const char *event_lane(const struct stream_entry *entry);

/** Which of the lanes have parked events: an array in the arena. Suspends; raises. */
const bool *event_parked_among(struct request *rq, const struct event_consumer *consumer,
                               const char *const *lanes, size_t count);

/** Park entries of one lane, which are settled then: `failed` is how the delivery of the first
 * ended, NULL: it was not tried. `handled`: hashes of the events of the lane that were handled
 * before them, as a Postgres array, to be settled with them. Suspends; raises when they cannot be
 * stored, ERR_UNAVAILABLE when too many are parked or the lease is lost. */
void event_park(struct request *rq, struct event_consumer *consumer,
                const struct stream_entry *const *entries, size_t count,
                const struct delivery *failed, const char *handled);

/** Park the entry of a dead letter of `stream`, due at once, behind what is parked of its lane. One
 * that is parked already is left alone. Suspends; raises. */
void event_park_again(struct request *rq, const char *stream, const struct stream_entry *entry);

/** Pass of a consumer's `retry` (periodic.h), whose user is the consumer: tries the parked events
 * that are due. */
void event_parking_pass(struct request *rq);
