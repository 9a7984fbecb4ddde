/** svc-interests/quality/: what recommendations were worth, counted by what became of the papers
 * and not by their scores. */
#pragma once

#include "loop/request.h"

/** GET /interests/{interest_id}/quality: of the papers that were recommended in each week, how many
 * were rated, tried by a run or an experiment, merged and shipped. A paper counts in the week of
 * its recommendation, whenever the rest came. No week of before retention_since() is there. */
void quality_get(struct request *rq);
