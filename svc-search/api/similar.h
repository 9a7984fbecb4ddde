/** GET /search/assets/{arxiv_id}/similar: the papers nearest to a paper, by its words and its
 * vector. With `exclude_seen_by`, those that were recommended for an interest are left out, which
 * svc-interests answers (internal.def, interest_seen_get). */
#pragma once

#include "loop/request.h"

void asset_similar_list(struct request *rq);
