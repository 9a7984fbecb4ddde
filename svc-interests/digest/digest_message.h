/** The papers that an endpoint of messages is told of at an hour of its own.
 *
 *     digest.due --> digest_due --(the day is refreshed, or two hours are over)--> task `digest`
 *                                                                                     |
 *                                         svc-integrations <-- message `digest.ready` +
 *
 * svc-integrations knows the hours (svc-integrations/notify/digest/digest.h) and tells that one has
 * come by the event `digest.due` of the stream `events.code_host`:
 *
 *     {"endpoint_id": "019c…", "local_date": "2026-11-26", "due_at": "2026-11-26T07:00:00.000Z",
 *      "settings": {"time_zone": "Europe/Berlin", "interest_ids": null, "limit": 5,
 *                   "min_score": 0.4, "skip_empty": true, "period": "today",
 *                   "told_until": "2026-11-25T07:00:01.120Z"}}
 *
 * The digest waits here for the refresh of the day (UTC) in which it is due (refresh/daily.h),
 * since whether an account's refresh is over is known here alone. A task makes it, so that any
 * process can, after any other stopped; the message is written in the transaction that completes
 * the task. It is an event `message` of the stream `events.interests`, with the endpoint that it is
 * for:
 *
 *     {"type": "digest.ready", "endpoint_id": "019c…", "data": {…}} */
#pragma once

#include "base/config.h"
#include "loop/request.h"
#include "task/task.h"

/** DIGEST_CHECK. */
extern const struct setting DIGEST_SETTINGS[];
extern int64_t digest_check_ms; /* DIGEST_CHECK */

/** The event `digest.due`. */
void digest_message_due(struct request *rq, const struct event *event);

/** Recurring: start the tasks of digests that need not wait any more. */
void digest_message_pass(struct request *rq);

/** Job `digest`: the members of `settings`, and `endpoint_id` and `local_date`. */
void digest_message_run(struct request *rq, struct task *task);
