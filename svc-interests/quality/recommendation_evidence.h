/** Recommendations as parts of the graph that svc-experiments makes of an experiment. */
#pragma once

#include "loop/request.h"

/** POST /internal/interests/evidence: the account's recommendations of some papers, the newest 50,
 * and those that are named, as nodes and edges of a graph (svc-experiments/evidence/evidence.h). A
 * caller with a key that is limited to an interest names it.
 *
 *     {"arxiv_ids": ["2205.14135"], "recommendation_ids": ["0190…"], "interest_id": null}
 *
 * Beside `nodes` and `edges` it answers `truncated`; `hidden`: recommendations for other interests;
 * and `urls`, what runs opened for these recommendations without naming their papers. */
void recommendation_evidence_get(struct request *rq);
