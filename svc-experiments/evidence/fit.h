/** Cuts a graph of evidence that is too large for an answer. */
#pragma once

#include "evidence/graph.h"

/** Leave out the oldest runs, with their selections and the papers that nothing else names, and
 * then whatever else is oldest, until nodes and edges have at most so many bytes as JSON. The
 * experiment, its decisions and its papers stay. Sets is_truncated where something was left out.
 * The graph is sorted (graph_sort()). */
void graph_fit(struct graph *graph, size_t bytes_max);
