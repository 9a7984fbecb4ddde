/** The consumers of a process's event handlers, one for each stream and way of reading. Internal to
 * this folder.
 *
 *     own entries left from a cut pass -> stale entries of other consumers -> new entries -> ...
 *
 * A consumer reads entries, runs their handlers and acknowledges them. It handles one entry at a
 * time, so their order holds within a process. A handler that fails is retried with backoff: as long
 * as the error is transient, else DELIVERIES_MAX times; then the entry goes to `events.dead`.
 */
#pragma once

#include "task/tasks.h"

/** Start a consumer for each stream of the handlers. */
void events_start(struct tasks *tasks);

/** Start no further pass; cancel those under way. */
void events_stop(struct tasks *tasks);

/** Whether no pass is under way. */
bool events_are_idle(const struct tasks *tasks);

/** Free the stopped consumers. */
void events_free(struct tasks *tasks);

/** Register the metrics; once, before threads. */
void events_register(void);
