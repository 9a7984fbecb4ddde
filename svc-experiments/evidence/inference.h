/** Edges of a graph of evidence that no record states, but that its nodes suggest: the same paper,
 * the same repository, and the right order in time. Their `basis` is `inferred`, and `data.rule`
 * says by which of these rules:
 *
 *     recommended_before         a selection `selected` the newest recommendation of the run's
 *                                paper before the run, for its own interest, where it names one
 *     dispatched_before          an implementation `ran` the first run on a paper of the
 *                                experiment in its repository, since it began and before it ended
 *     same_paper_and_repository  a run is `part_of` the experiment: on a paper of that, in its
 *                                repository, after it was made and before it was decided
 *
 * Each holds only where no record says the same or something else. A fourth is of the tables of
 * svc-experiments alone (evidence.fn.sql):
 *
 *     same_template_before       an analysis `uses` an evaluation run of its template that had
 *                                ended before
 */
#pragma once

#include "evidence/graph.h"

/** Add them to a graph that has all of its parts. `root` is the experiment, `decided_at` when it
 * was decided last (NULL: it was not). */
void graph_infer(struct graph *graph, const char *root, const char *decided_at);
