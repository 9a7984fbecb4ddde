/** The evidence of an experiment as it was when that was decided, so that a later change of the
 * record shows: its digest is another one then.
 *
 * A trigger starts a task `evidence_keep` when an outcome or a final status is set
 * (snapshot.fn.sql). While a service does not answer, the task waits for it, an hour at most; then
 * it keeps what there is, which says what is missing. Of an experiment the newest 20 are kept. */
#pragma once

#include "loop/request.h"
#include "task/task.h"

/** The job that keeps the evidence of a change and announces it as `experiment.decided`.
 *
 *     {"experiment_id": "0190…", "version": 4, "at": "2026-02-09T16:02:11.500Z",
 *      "trigger": "outcome"} */
void evidence_keep(struct request *rq, struct task *task);

/** The JSON of the evidence at the newest decision, as evidence_collect() makes it, with
 * `snapshot`: {"at", "trigger"}. It was made of all parts and is shown as a whole or not at all,
 * since its digest is of the whole. Raises ERR_NOT_FOUND; ERR_FORBIDDEN: the key is limited;
 * ERR_SCOPE: it may not see a part. Suspends. */
const char *evidence_snapshot(struct request *rq, const char *experiment);
