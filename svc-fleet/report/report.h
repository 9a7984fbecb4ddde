/** svc-fleet/report/: the report on an account's fleet.
 *
 *     report.c   the operation: a period, its figures and lists, put together
 *     finding.c  rules for what stands out */
#pragma once

#include "loop/request.h"

/** GET /fleet/agents/report */
void fleet_report_get(struct request *rq);
