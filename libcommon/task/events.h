/** The consumers that run the event handlers of a process: one for each stream, or two when it also has
 * broadcast handlers. Internal to this folder.
 *
 *     own entries of an interrupted pass -> stale entries of other consumers -> new entries -> ...
 *
 * A consumer reads entries, runs their handlers and acknowledges them. It handles one entry at a
 * time, so their order holds within a process. A handler that fails is retried with backoff: as long
 * as the error is transient, else DELIVERIES_MAX times; then the entry goes to `events.dead`.
 */
#pragma once

#include "task/tasks.h"

/** Start a consumer for each stream of the handlers. */
void events_start(struct tasks *tasks);

/** Start no further pass; cancel the running ones. */
void events_stop(struct tasks *tasks);

/** Whether no pass is running. */
bool events_are_idle(const struct tasks *tasks);

/** Free the stopped consumers. */
void events_free(struct tasks *tasks);

/** Register the metrics; once, before threads. */
void events_register(void);
