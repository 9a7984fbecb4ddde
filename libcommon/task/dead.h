/** Dead letters: what was given up, until an operator has it tried again, or drops it: tasks that
 * have failed by no mistake of their caller, in the table `task`, and events in the stream
 * `events.dead.<service>`.
 *
 * One transaction notes in `event_settled` that an event is no longer dead, and tells the audit log
 * who did that. Then its entry is deleted from the stream; if the process ends in between, the next
 * that looks at the dead letters passes over the entry and deletes it.
 *
 * They are shown as JSON, one on each line:
 *
 *     {"id":"01997...","type":"task","kind":"provision","account":"0199...","attempts":5,
 *      "at":"2026-01-31T09:30:00.000Z","error":"the code host did not answer","request_id":"..."}
 *     {"id":"1769851800000-0","type":"event","kind":"pull_request","stream":"events.code_host", ...}
 */
#pragma once

#include "loop/request.h"

#include <stdbool.h>
#include <stdint.h>

enum dead_type { DEAD_ANY, DEAD_TASKS, DEAD_EVENTS };

/** Which dead letters of a service. */
struct dead_letters {
	const char *service;
	enum dead_type type;
	const char *kind;       /* of a task, or type of an event; NULL: any */
	const char *error;      /* a part of its error, in any case; NULL: any */
	const char *account;    /* NULL: any */
	const char *const *ids; /* NULL-terminated; NULL: any */
	int64_t limit;          /* of tasks, and of events */
	const char *by;         /* who changes them, as audit_emit() tells it; NULL: an operator */
};

/** What is called for a dead letter, with the `user` of the caller. `id` and `kind` say which it
 * is; `json` as above. */
typedef void dead_letter_fn(struct request *rq, void *user, const char *id, const char *kind,
                            const char *json);

/** Call `fn` for each, the newest task first, and then the newest event. `with_content`: the JSON
 * has the task's input, the event's data. Suspends. Raises ERR_INVALID: an id is none of a task or
 * an event. */
void dead_letters_each(struct request *rq, const struct dead_letters *which, bool with_content,
                       dead_letter_fn *fn, void *user);

/** How many there are, at most `limit` of tasks and of events. Suspends; raises as above. */
int64_t dead_letters_count(struct request *rq, const struct dead_letters *which);

/** Let each run again, with all its attempts before it, and call `fn` (NULL: none) for it, without
 * JSON. The processes begin within seconds. Returns how many. Safe to repeat: what is no longer
 * dead is left alone. Suspends; raises as above, and ERR_CONFLICT: the service does not read the
 * stream of an event any more. */
int64_t dead_letters_retry(struct request *rq, const struct dead_letters *which, dead_letter_fn *fn,
                           void *user);

/** Drop each: it is never tried again, and no dead letter any more. A task is then `cancelled`,
 * with its error in the message; an event is deleted. Returns how many. Safe to repeat. Suspends;
 * raises as dead_letters_each(). */
int64_t dead_letters_drop(struct request *rq, const struct dead_letters *which);

/** How many events were given up. Suspends; raises. */
int64_t dead_events_count(struct request *rq, const char *service);

/** Set the metric of how many were given up. Suspends; raises. */
void dead_letters_measure(struct request *rq, const char *service);
