/** The dispatcher of a process: claims lanes that are due and runs each as a request of its own.
 *
 * Lanes of endpoints that answer soon and the others have as many slots each, so that endpoints
 * that hang take nothing from those that work. An endpoint is quick when its last attempt
 * succeeded within a few seconds, so a new one has to show it first, and none has taken longer for
 * ten minutes. Mails of all accounts go through one server, so their lanes have slots of their
 * own, as many as connections that mail servers take of one client. Of the slots of each kind an
 * account has a few, though its 20 endpoints have two lanes each: those that answer after many
 * seconds take no slots from those of others. */
#pragma once

#include "loop/worker.h"

#include <stdint.h>

/** Attempts at once: DISPATCHER_SLOTS to quick endpoints, as many to others, and mails; and those
 * of one account. */
#define DISPATCHER_SLOTS              128
#define DISPATCHER_ACCOUNT_SLOTS      8
#define DISPATCHER_MAIL_SLOTS         16
#define DISPATCHER_ACCOUNT_MAIL_SLOTS 4

/** For struct service: start on the background worker of the role `jobs`; begin
 * no further attempt, and call `drained(context)` when none runs, at the latest `timeout_ms` from
 * now; and free. */
void dispatcher_start(struct worker *worker);
void dispatcher_drain(struct worker *worker, uint64_t timeout_ms, void (*drained)(void *context),
                      void *context);
void dispatcher_stop(struct worker *worker);

/** Something waits: look now. On the background worker. */
void dispatcher_wake(struct worker *worker);
