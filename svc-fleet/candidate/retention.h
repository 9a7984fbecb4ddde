/** How long is kept what runs looked at; the runs themselves stay. */
#pragma once

#include "base/config.h"
#include "loop/request.h"

/** REJECTION_DAYS, RUN_DETAIL_DAYS. */
extern const struct setting FLEET_RETENTION_SETTINGS[];

extern const int64_t FLEET_RETENTION_EVERY_MS;

/** Recurring: delete papers that runs passed over longer ago than REJECTION_DAYS, and drop the
 * details of runs, a month at once, that are older than RUN_DETAIL_DAYS. */
void fleet_retention_keep(struct request *rq);
