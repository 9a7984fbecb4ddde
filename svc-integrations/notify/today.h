/** Metrics of the present day (UTC), of all accounts: what the dashboard of the product shows. */
#pragma once

#include "loop/request.h"

extern const int64_t TODAY_EVERY_MS;

/** Set the metrics. Each replica does: they are of what Postgres has. Suspends; raises. */
void today_measure(struct request *rq);
