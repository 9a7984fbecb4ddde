/** POST /internal/interests/seen: which of some papers were ever recommended for an interest, for
 * svc-search.
 *
 *     {"interest_id": "0190…", "arxiv_ids": ["2205.14135", "2401.00001"]}
 *     {"arxiv_ids": ["2205.14135"]} */
#pragma once

#include "loop/request.h"

void interest_seen_get(struct request *rq);
