/** Runs as CSV: their members, and a column for each metric, `metrics.accuracy`. */
#pragma once

#include "loop/request.h"

/** Reply the newest runs with this status, of this template (NULL: any) that the caller's key may
 * see. */
void run_csv_reply(struct request *rq, const char *status, const char *template_id);
