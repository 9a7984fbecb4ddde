/** svc-fleet/outcome/: what runs cost, beside what came of them. */
#pragma once

#include "loop/request.h"

/** GET /fleet/outcomes/costs */
void outcome_costs_get(struct request *rq);
