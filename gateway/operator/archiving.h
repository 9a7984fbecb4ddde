/** Whether the Postgres of the gateway archives its log, which a restore to a time needs
 * (deploy/OPERATIONS.md). */
#pragma once

#include "loop/request.h"

/** Recurring: set the metric. */
void archiving_measure(struct request *rq);
extern const int64_t ARCHIVING_EVERY_MS;
