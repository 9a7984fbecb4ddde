/** Edges of a graph of evidence that no record states, but that its nodes suggest: the same paper,
 * the same repository, and the right order in time. Their `basis` is `inferred`, and `data.rule`
 * says by which of these rules:
 *
 * | rule | edge | when no record says it |
 * | --- | --- | --- |
 * | `recommended_before` | selection `selected` recommendation | the run is about the paper, and was recommended it last before it began; for its own interest, where it names one |
 * | `dispatched_before` | implementation `ran` run | the first run on a paper of the experiment in the repository since the implementation began, and before it ended |
 * | `same_paper_and_repository` | run `part_of` experiment | a run on a paper of the experiment in its repository, after it was made and before it was decided |
 *
 * A fourth, `same_template_before`, is of the tables of svc-experiments alone (evidence.fn.sql): an
 * analysis `uses` an evaluation run of its template that had ended before. */
#pragma once

#include "evidence/graph.h"

/** Add them to a graph that has all of its parts. `root` is the experiment, `decided_at` when it was
 * decided last (NULL: it was not). */
void graph_infer(struct graph *graph, const char *root, const char *decided_at);
