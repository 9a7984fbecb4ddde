/** Asking the code host to make deliveries again that did not arrive: it does not by itself.
 *
 * Every REDELIVERY_INTERVAL one replica reads the code host's list of the deliveries that it has
 * made to the app's webhook since the last time, at most three days back. Those that the ledger
 * does not have are asked for again: they failed, or the database was restored to an earlier point
 * and has lost them together with how far the list was read. Each is asked for at most once in that
 * time, then after twice the time, up to six hours, until the delivery is there or three days old:
 * the code host keeps it no longer. A delivery is marked as asked for before the code host is
 * asked, so that a process that vanishes in between asks too late and not twice. */
#pragma once

#include "loop/request.h"

/** A pass of recurring work. Does nothing when the time has not come, or no app is configured. */
void redelivery_pass(struct request *rq);

/** How often to look whether the time has come. Set by webhook_init(). */
extern int64_t redelivery_check_ms;
