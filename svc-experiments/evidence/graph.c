#include "evidence/graph.h"

#include "json/json.h"

#include <stdlib.h>
#include <string.h>

void graph_init(struct graph *graph, struct arena *arena, yyjson_mut_doc *doc)
{
	*graph = (struct graph){
		.arena = arena,
		.doc = doc,
		.nodes = yyjson_mut_arr(doc),
		.ids = arena_array(arena, GRAPH_NODES_MAX, sizeof(char *)),
		.edges = arena_array(arena, GRAPH_EDGES_MAX, sizeof(struct graph_edge)),
	};
}

static size_t node_count(const struct graph *graph)
{
	return yyjson_mut_arr_size(graph->nodes);
}

bool graph_has(const struct graph *graph, const char *id)
{
	for (size_t i = 0; i < node_count(graph); i++)
		if (strcmp(graph->ids[i], id) == 0)
			return true;
	return false;
}

yyjson_mut_val *graph_data(const struct graph *graph, const char *id)
{
	size_t index, count;
	yyjson_mut_val *node;
	yyjson_mut_arr_foreach (graph->nodes, index, count, node)
		if (strcmp(graph->ids[index], id) == 0)
			return yyjson_mut_obj_get(node, "data");
	return NULL;
}

bool graph_is_opened(const struct graph *graph, const char *url)
{
	for (size_t i = 0; i < graph->edge_count; i++)
		if (strcmp(graph->edges[i].kind, "opened") == 0 &&
		    strcmp(graph->edges[i].to, url) == 0)
			return true;
	return false;
}

bool graph_is_reverted(const struct graph *graph, const char *url)
{
	yyjson_mut_val *data = url ? graph_data(graph, url) : NULL;
	return yyjson_mut_is_str(yyjson_mut_obj_get(data, "reverted_at")) &&
	       !yyjson_mut_is_str(yyjson_mut_obj_get(data, "reapplied_at"));
}

/* Whether a node of this id is to be added. */
static bool takes(struct graph *graph, const char *id)
{
	if (!id || graph_has(graph, id))
		return false;
	if (node_count(graph) < GRAPH_NODES_MAX)
		return true;
	graph->is_truncated = true;
	return false;
}

static void put(struct graph *graph, const char *id, yyjson_mut_val *node)
{
	graph->ids[node_count(graph)] = id;
	yyjson_mut_arr_append(graph->nodes, node);
}

static void add_edge(struct graph *graph, yyjson_val *edge)
{
	const struct graph_edge read = {json_get_text(edge, "from"), json_get_text(edge, "to"),
	                                json_get_text(edge, "kind"), edge};
	if (!read.from || !read.to || !read.kind)
		return;
	if (graph->edge_count < GRAPH_EDGES_MAX)
		graph->edges[graph->edge_count++] = read;
	else
		graph->is_truncated = true;
}

void graph_add(struct graph *graph, yyjson_val *part)
{
	yyjson_val *item;
	size_t i, count;
	yyjson_arr_foreach (json_get(part, "nodes"), i, count, item) {
		const char *id = json_get_text(item, "id");
		if (takes(graph, id))
			put(graph, id, yyjson_val_mut_copy(graph->doc, item));
	}
	yyjson_arr_foreach (json_get(part, "edges"), i, count, item)
		add_edge(graph, item);
	graph->is_truncated = graph->is_truncated || json_get_bool(part, "truncated", false);
}

void graph_add_node(struct graph *graph, const char *id, const char *kind, yyjson_mut_val *data)
{
	if (!takes(graph, id))
		return;
	yyjson_mut_val *node = yyjson_mut_obj(graph->doc);
	const char *own = arena_strdup(graph->arena, id);
	yyjson_mut_obj_add_str(graph->doc, node, "id", own);
	yyjson_mut_obj_add_str(graph->doc, node, "kind", kind);
	yyjson_mut_obj_add_null(graph->doc, node, "at");
	yyjson_mut_obj_add_null(graph->doc, node, "url");
	yyjson_mut_obj_add_val(graph->doc, node, "data", data);
	put(graph, own, node);
}

void graph_add_edge(struct graph *graph, const char *from, const char *kind, const char *to,
                    const char *at, const char *rule)
{
	yyjson_mut_doc *doc = graph->doc;
	yyjson_mut_val *edge = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, edge, "from", from);
	yyjson_mut_obj_add_str(doc, edge, "to", to);
	yyjson_mut_obj_add_str(doc, edge, "kind", kind);
	json_add_text(doc, edge, "at", at);
	yyjson_mut_obj_add_str(doc, edge, "basis", rule ? "inferred" : "stated");
	if (rule)
		yyjson_mut_obj_add_str(doc, yyjson_mut_obj_add_obj(doc, edge, "data"), "rule",
		                       rule);
	else
		yyjson_mut_obj_add_null(doc, edge, "data");
	add_edge(graph, json_parse_own(graph->arena, json_write_mut(graph->arena, edge, NULL)));
}

static bool is_of_kind(yyjson_mut_val *node, const char *kind)
{
	return strcmp(yyjson_mut_get_str(yyjson_mut_obj_get(node, "kind")), kind) == 0;
}

size_t graph_count(const struct graph *graph, const char *kind)
{
	size_t i, max, count = 0;
	yyjson_mut_val *node;
	yyjson_mut_arr_foreach (graph->nodes, i, max, node)
		count += is_of_kind(node, kind);
	return count;
}

const char *graph_first_at(const struct graph *graph, const char *kind)
{
	size_t i, max;
	yyjson_mut_val *node;
	const char *first = NULL;
	yyjson_mut_arr_foreach (graph->nodes, i, max, node) {
		const char *at = yyjson_mut_get_str(yyjson_mut_obj_get(node, "at"));
		if (at && is_of_kind(node, kind) && (!first || strcmp(at, first) < 0))
			first = at;
	}
	return first;
}

/* --- Order ------------------------------------------------------------------------------------ */

/* Times of one form, the newest first; NULL is the oldest. */
static int compare_times(const char *a, const char *b)
{
	return strcmp(b ? b : "", a ? a : "");
}

static int compare_nodes(const void *a, const void *b)
{
	yyjson_mut_val *left = *(yyjson_mut_val *const *)a, *right = *(yyjson_mut_val *const *)b;
	int order = compare_times(yyjson_mut_get_str(yyjson_mut_obj_get(left, "at")),
	                          yyjson_mut_get_str(yyjson_mut_obj_get(right, "at")));
	return order ? order
	             : strcmp(yyjson_mut_get_str(yyjson_mut_obj_get(left, "id")),
	                      yyjson_mut_get_str(yyjson_mut_obj_get(right, "id")));
}

static int compare_edges(const void *a, const void *b)
{
	const struct graph_edge *left = a, *right = b;
	int order =
		compare_times(json_get_text(left->json, "at"), json_get_text(right->json, "at"));
	order = order ? order : strcmp(left->from, right->from);
	order = order ? order : strcmp(left->to, right->to);
	return order ? order : strcmp(left->kind, right->kind);
}

void graph_sort(struct graph *graph)
{
	size_t index, count;
	yyjson_mut_val *node;
	yyjson_mut_val **nodes = arena_array(graph->arena, node_count(graph), sizeof(*nodes));
	yyjson_mut_arr_foreach (graph->nodes, index, count, node)
		nodes[index] = node;
	qsort(nodes, count, sizeof(*nodes), compare_nodes);
	graph->nodes = yyjson_mut_arr(graph->doc);
	for (index = 0; index < count; index++)
		put(graph, yyjson_mut_get_str(yyjson_mut_obj_get(nodes[index], "id")),
		    nodes[index]);
	qsort(graph->edges, graph->edge_count, sizeof(*graph->edges), compare_edges);
}

/* --- Edges ------------------------------------------------------------------------------------ */

static int compare_ids(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The ids in their order as texts, for a binary search: an edge for each of 500 nodes would
 * otherwise compare a million texts. */
static const char **sorted_ids(const struct graph *graph)
{
	const char **ids =
		arena_memdup(graph->arena, graph->ids, node_count(graph) * sizeof(char *));
	qsort(ids, node_count(graph), sizeof(char *), compare_ids);
	return ids;
}

yyjson_mut_val *graph_edges(const struct graph *graph)
{
	const char **ids = sorted_ids(graph);
	size_t count = node_count(graph);
	yyjson_mut_val *edges = yyjson_mut_arr(graph->doc);
	for (size_t i = 0; i < graph->edge_count; i++) {
		const struct graph_edge *edge = &graph->edges[i];
		if (bsearch(&edge->from, ids, count, sizeof(char *), compare_ids) &&
		    bsearch(&edge->to, ids, count, sizeof(char *), compare_ids))
			yyjson_mut_arr_append(edges, yyjson_val_mut_copy(graph->doc, edge->json));
	}
	return edges;
}
