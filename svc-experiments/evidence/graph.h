/** A graph of evidence while it is put together from parts (evidence.h). Knows neither HTTP nor
 * SQL. */
#pragma once

#include "base/arena.h"

#include <yyjson.h>

#include <stdbool.h>
#include <stddef.h>

#define GRAPH_NODES_MAX 500
#define GRAPH_EDGES_MAX 2000

struct graph {
	struct arena *arena;
	yyjson_mut_doc *doc;
	yyjson_mut_val *nodes;
	size_t edge_count;
	struct graph_edge *edges;
	const char **ids; /* of the nodes, in their order */
	bool is_truncated;
};

/** An edge whose nodes may not have come yet. Borrows from the part. */
struct graph_edge {
	const char *from, *to, *kind;
	yyjson_val *json;
};

/** An empty graph that is built in `doc`. Borrows both. */
void graph_init(struct graph *graph, struct arena *arena, yyjson_mut_doc *doc);

/** Add the nodes and edges of a part; NULL adds nothing. A node whose id is there already is left
 * out, so the part of a node's owner comes first. Beyond the bounds of the graph nothing is added,
 * and is_truncated is set. Borrows the part, which must outlive the graph. */
void graph_add(struct graph *graph, yyjson_val *part);

/** Add a node of this kind that has an id and nothing else but `data`, which is taken. Does nothing
 * where the id is there already. Copies the id. */
void graph_add_node(struct graph *graph, const char *id, const char *kind, yyjson_mut_val *data);

/** Add an edge that the parts do not have. `rule`: by which it was inferred (inference.h); NULL: a
 * record states it. `at` may be NULL. Copies. */
void graph_add_edge(struct graph *graph, const char *from, const char *kind, const char *to,
                    const char *at, const char *rule);

bool graph_has(const struct graph *graph, const char *id);

/** What a node says; NULL: there is no such node. */
yyjson_mut_val *graph_data(const struct graph *graph, const char *id);

/** Whether an edge says that somebody opened this pull request. */
bool graph_is_opened(const struct graph *graph, const char *url);

/** Whether this is a pull request that was reverted and not merged again; `url` may be NULL. */
bool graph_is_reverted(const struct graph *graph, const char *url);

/** How many nodes have this kind. */
size_t graph_count(const struct graph *graph, const char *kind);

/** The earliest `at` of the nodes of a kind; NULL: there is none. */
const char *graph_first_at(const struct graph *graph, const char *kind);

/** Bring nodes and edges into one order, the newest first and those without a time last, so that
 * equal graphs are written alike in whatever order their parts came. */
void graph_sort(struct graph *graph);

/** The edges between nodes that are there, as a JSON array. */
yyjson_mut_val *graph_edges(const struct graph *graph);
