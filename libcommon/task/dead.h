/** Dead letters: what was given up, until an operator has it tried again: tasks that have failed by
 * no mistake of their caller, in the table `task`, and events in the stream
 * `events.dead.<service>`.
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

/** Which dead letters of a service. */
struct dead_letters {
	const char *service;
	const char *kind;       /* of a task, or type of an event; NULL: any */
	const char *const *ids; /* NULL-terminated; NULL: any */
	int64_t limit;          /* of tasks, and of events */
};

/** What dead_letters_each() calls for one. `id` and `kind` say which it is; `json` as above. */
typedef void dead_letter_fn(struct request *rq, const char *id, const char *kind, const char *json);

/** Call `fn` for each, the newest task first, and then the newest event. `with_content`: the JSON
 * has the task's input, the event's data. Suspends. Raises ERR_INVALID: an id is none of a task or
 * an event. */
void dead_letters_each(struct request *rq, const struct dead_letters *which, bool with_content,
                       dead_letter_fn *fn);

/** Let each run again, with all its attempts before it, and call `fn` for it. The processes begin
 * within seconds. Safe to repeat: what is no longer dead is left alone. Suspends; raises as
 * above. */
void dead_letters_retry(struct request *rq, const struct dead_letters *which, dead_letter_fn *fn);

/** Set the metric of how many were given up. Suspends; raises. */
void dead_letters_measure(struct request *rq, const char *service);
