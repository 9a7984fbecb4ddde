/** Results of evaluation runs as rows (analysis/rows.h). svc-evalenv is asked for each run of
 *
 *     {"control": ["0190…"], "treatment": ["0191…", "0192…"]}
 *
 * A run with `results.examples` gives a row for each of them, one without gives one row, whose
 * `sample` is its seed. Only the metrics of the plan are taken. All must be of one version of a
 * template: other ones measure other things. A run that failed for a reason of its environment, or
 * was cancelled before it began, says nothing and is left out. One that failed by itself, or was
 * cancelled while it ran, perhaps because of how it went, is a result that is missing, without
 * which there is no valid test; unless a later run of the arm with the same seed gives it, and no
 * arm has several runs of this seed that succeeded: they are repetitions by plan, each of which
 * counts. */
#pragma once

#include "result/result_analysis.h"

/** Ask for the runs, and set `rows`, `digest` and `facts` of an analysis that is loaded. Adds a
 * fault to its problem for each run that does not exist, has not ended or does not go with the
 * others, and for one whose rows are too many. Suspends. Raises as service_ask(). */
void eval_rows_fetch(struct request *rq, yyjson_val *eval_runs, struct result_analysis *analysis);

/** The same of `run_count` runs that nobody has named, each arm's in the order of their age. The
 * oldest, whose rows are too many, are left out, of each arm as many as of another, and those that
 * do not exist any more. Returns the others by arm, as JSON. */
const char *eval_rows_fetch_newest(struct request *rq, yyjson_val *eval_runs, size_t run_count,
                                   struct result_analysis *analysis);
