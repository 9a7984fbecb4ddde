/** svc-experiments/evidence/: the way of an experiment from its paper to its decision, and what
 * became of a paper.
 *
 *     evidence.c    the operation of an experiment
 *     snapshot.c    keeps the evidence as it was at a decision
 *     collection.c  makes one answer of the parts, and seals it with a digest
 *     part.c        asks the services for their parts; second_round.c, for what these name
 *     graph.c       puts the parts together
 *     inference.c   adds edges that no record states
 *     label.c       says what to call the nodes
 *     fit.c         cuts a graph that is too large
 *     trial.c       what became of the experiment and of pull requests
 *     summary.c     what the graph says, in figures and sentences
 *     page.c        it as a page of Markdown
 *     provenance.c  it as PROV-JSON
 *     outcome.c     the operation of a paper
 *
 * The graph is put together when it is asked for, from parts that each service makes of its own
 * tables; one is kept for each decision. A part is {"nodes": [node], "edges": [edge]}:
 *
 *     {"id": "0190…", "kind": "run", "at": "2026-01-31T09:30:00.000Z", "url": null, "data": {…}}
 *     {"from": "selection:0190…", "to": "paper:2205.14135", "kind": "considered",
 *      "at": "2026-01-31T09:30:00.000Z", "basis": "stated", "data": {"accepted": false, …}}
 *
 * | node | id | from |
 * | --- | --- | --- |
 * | `paper` | `paper:2205.14135` | the edges that name it; titles from svc-search |
 * | `recommendation` | uuid | svc-interests |
 * | `selection`, `run` | `selection:` and the run's uuid, uuid | svc-fleet |
 * | `pull_request`, `issue` | url | svc-fleet |
 * | `experiment`, `analysis` | uuid | here |
 * | `implementation` | experiment/attempt | here |
 * | `decision` | `decision:` and the newest of its changes in the history | here |
 * | `eval_run`, `eval_build` | uuid | here, as far as the experiment keeps it; svc-evalenv |
 *
 * `basis` is `stated` where a record names the other, else `inferred` (inference.h). */
#pragma once

#include "loop/request.h"

/** GET /experiments/{experiment_id}/evidence */
void evidence_get(struct request *rq);

/** GET /search/assets/{arxiv_id}/outcomes */
void paper_outcomes_get(struct request *rq);
