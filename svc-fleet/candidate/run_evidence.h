/** svc-fleet/candidate/: the papers that runs considered, those that they were about and those that
 * they passed over.
 *
 *     candidate.fn.sql  the rows, as runs report them
 *     run_evidence.c    runs as parts of the graph that svc-experiments makes of an experiment
 *     rejection.c       what the papers that were passed over came to elsewhere
 *
 * retention/retention.h says how long they are kept.
 */
#pragma once

#include "loop/request.h"

/** POST /internal/fleet/evidence: the runs on papers of the account, as nodes and edges of a graph
 * (svc-experiments/evidence/evidence.h). A caller with a key that is limited to a repository names
 * it.
 *
 *     {"arxiv_ids": ["2205.14135"], "urls": ["https://github.com/acme/ranker/pull/4"],
 *      "runs": [{"repo": "acme/ranker", "run_id": "17", "for": "0190…/1"}],
 *      "candidates": true, "repo": null}
 *
 * `for` is the node that dispatched the run; `candidates`: with the other papers that runs passed
 * over. A pull request of `urls` that no run opened is a node, too, if the code host told of it and
 * the account owns its repository. Beside `nodes` and `edges` it answers `truncated`, `hidden`
 * (runs of other repositories), and of all runs, shown or not, `runs`, `runs_with_cost`,
 * `cost_usd` (null: unknown) and `rejected`, how often one of the papers was passed over. */
void run_evidence_get(struct request *rq);
