/** What to call a node of a graph of evidence in a list or a picture. */
#pragma once

#include "evidence/graph.h"

/** Give each node a `label`, a short text of what it says itself, such as `acme/ranker #7`; where
 * that is not known, the name of its kind. Services do not send labels, so nodes of their earlier
 * versions have them, too. */
void graph_label(struct graph *graph);
