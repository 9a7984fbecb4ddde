/** Starting a workflow, once for a key.
 *
 *     POST /internal/code-host/workflows/dispatch
 *     {"repo", "workflow": "agent.yml", "ref"?: "main", "inputs"?: {"interest": "0197…"},
 *      "key": "task 0197…", "valid_s"?: 86400, "only_known"?: true}
 *     {"repo", "workflow", "ref", "run_id": 12, "html_url", "dispatched_at", "repeated": false}
 *
 * `ref` is a branch or tag; without one, the default branch. `inputs` has at most 25 members, all
 * texts. `key`, of the caller's choice, names the run that is wanted: the same key of the same
 * account starts no second run, and answers with the first (`repeated` true) for `valid_s` seconds,
 * at most and by default 30 days; with another repository or workflow it is 409. `run_id` and
 * `html_url` are null when the code host did not give them.
 *
 * With `only_known` nothing is sent: the answer has the run that the key has started, or a `run_id`
 * of null, and from then on the key starts none. This is for who wants to cancel the run.
 *
 * A dispatch cannot be repeated at the code host, so it is noted before it is sent, with the newest
 * run that there is. When its answer was lost, the repetition first looks for a run that came after
 * that and belongs to no other key. It is sent again only when the code host shows none two minutes
 * after it was last sent; before that, or when the code host does not answer, it is 503
 * outcome_uncertain.
 * A note is dropped when the dispatch was surely not made. 503 unavailable means that neither this
 * request nor an earlier one of the key has started a run. */
#pragma once

#include "loop/request.h"

void workflow_dispatch(struct request *rq);
