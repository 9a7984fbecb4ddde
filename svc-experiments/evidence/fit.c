#include "evidence/fit.h"

#include "base/base.h"
#include "json/json.h"

#include <string.h>

#define SELECTION "selection:"
#define NOWHERE   SIZE_MAX

/* A graph that is cut: nodes by their places, and what each takes as JSON. */
struct fit {
	struct graph *graph;
	size_t count; /* of nodes */
	yyjson_mut_val **nodes;
	size_t *node_bytes, *edge_bytes;
	size_t *from, *to; /* of each edge: the place of the node; NOWHERE: it is not there */
	bool *is_out, *is_named;
};

/* In which turn nodes of a kind are left out; what is not listed stays, or goes with those that
 * name it. */
static const char *const TURNS[][5] = {
	{"run", "selection"},
	{"recommendation", "eval_run", "eval_build", "pull_request", "issue"},
	{"implementation", "analysis"},
};

static size_t place_of(const struct fit *fit, const char *id)
{
	for (size_t i = 0; i < fit->count; i++)
		if (strcmp(fit->graph->ids[i], id) == 0)
			return i;
	return NOWHERE;
}

static void measure(struct fit *fit)
{
	struct graph *graph = fit->graph;
	size_t index, count;
	yyjson_mut_val *node;
	yyjson_mut_arr_foreach (graph->nodes, index, count, node) {
		fit->nodes[index] = node;
		json_write_mut(graph->arena, node, &fit->node_bytes[index]);
	}
	for (size_t i = 0; i < graph->edge_count; i++) {
		fit->from[i] = place_of(fit, graph->edges[i].from);
		fit->to[i] = place_of(fit, graph->edges[i].to);
		json_write(graph->arena, graph->edges[i].json, &fit->edge_bytes[i]);
	}
}

static struct fit fit_new(struct graph *graph)
{
	size_t nodes = yyjson_mut_arr_size(graph->nodes), edges = graph->edge_count;
	struct arena *arena = graph->arena;
	struct fit fit = {
		.graph = graph,
		.count = nodes,
		.nodes = arena_array(arena, nodes, sizeof(*fit.nodes)),
		.node_bytes = arena_array(arena, nodes, sizeof(size_t)),
		.edge_bytes = arena_array(arena, edges, sizeof(size_t)),
		.from = arena_array(arena, edges, sizeof(size_t)),
		.to = arena_array(arena, edges, sizeof(size_t)),
		.is_out = arena_array(arena, nodes, sizeof(bool)),
		.is_named = arena_array(arena, nodes, sizeof(bool)),
	};
	measure(&fit);
	return fit;
}

static bool is_of_kind(const struct fit *fit, size_t place, const char *kind)
{
	const char *own = yyjson_mut_get_str(yyjson_mut_obj_get(fit->nodes[place], "kind"));
	return kind && own && strcmp(own, kind) == 0;
}

/* A paper is shown as long as something that is shown names it. */
static bool is_shown(const struct fit *fit, size_t place)
{
	return !fit->is_out[place] && (fit->is_named[place] || !is_of_kind(fit, place, "paper"));
}

/* The bytes of what is left, with a comma for each. */
static size_t bytes_left(struct fit *fit)
{
	size_t bytes = 0;
	memset(fit->is_named, 0, fit->count * sizeof(bool));
	for (size_t i = 0; i < fit->graph->edge_count; i++) {
		size_t from = fit->from[i], to = fit->to[i];
		if (from == NOWHERE || to == NOWHERE || fit->is_out[from] || fit->is_out[to])
			continue;
		fit->is_named[to] = true;
		bytes += fit->edge_bytes[i] + 1;
	}
	for (size_t i = 0; i < fit->count; i++)
		if (is_shown(fit, i))
			bytes += fit->node_bytes[i] + 1;
	return bytes;
}

/* A run and its selection go together. */
static void leave_out(struct fit *fit, size_t place)
{
	const char *id = fit->graph->ids[place];
	bool is_selection = is_of_kind(fit, place, "selection");
	const char *other = is_selection ? id + strlen(SELECTION)
	                                 : arena_printf(fit->graph->arena, SELECTION "%s", id);
	size_t partner = place_of(fit, other);
	fit->is_out[place] = true;
	if (partner != NOWHERE)
		fit->is_out[partner] = true;
}

static bool is_of_turn(const struct fit *fit, size_t place, size_t turn)
{
	for (size_t i = 0; i < ARRAY_LEN(TURNS[turn]); i++)
		if (is_of_kind(fit, place, TURNS[turn][i]))
			return true;
	return false;
}

/* Keep what is shown. */
static void rebuild(struct fit *fit)
{
	struct graph *graph = fit->graph;
	size_t kept = 0;
	graph->nodes = yyjson_mut_arr(graph->doc);
	for (size_t i = 0; i < fit->count; i++) {
		if (!is_shown(fit, i))
			continue;
		graph->ids[kept++] = graph->ids[i];
		yyjson_mut_arr_append(graph->nodes, fit->nodes[i]);
	}
	graph->is_truncated = true;
}

void graph_fit(struct graph *graph, size_t bytes_max)
{
	struct fit fit = fit_new(graph);
	if (bytes_left(&fit) <= bytes_max)
		return;
	for (size_t turn = 0; turn < ARRAY_LEN(TURNS); turn++)
		for (size_t i = fit.count; i-- > 0;)
			if (!fit.is_out[i] && is_of_turn(&fit, i, turn) &&
			    bytes_left(&fit) > bytes_max)
				leave_out(&fit, i);
	bytes_left(&fit);
	rebuild(&fit);
}
