/** Recommendations as parts of the graph that svc-experiments makes of an experiment. */
#pragma once

#include "loop/request.h"

/** POST /internal/interests/evidence: the account's recommendations of some papers, the newest 50,
 * as nodes and edges of a graph (svc-experiments/evidence/evidence.h). A caller with a key that is
 * limited to an interest names it.
 *
 *     {"arxiv_ids": ["2205.14135"], "interest_id": null}
 *
 * Beside `nodes` and `edges` it answers `truncated`, and `hidden`: recommendations for other
 * interests. */
void recommendation_evidence_get(struct request *rq);
