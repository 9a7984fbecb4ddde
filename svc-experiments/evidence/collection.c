#include "evidence/collection.h"

#include "base/timefmt.h"
#include "collection.sql.h"
#include "crypto/crypto.h"
#include "evidence/fit.h"
#include "evidence/graph.h"
#include "evidence/inference.h"
#include "evidence/label.h"
#include "evidence/part.h"
#include "evidence/summary.h"
#include "evidence/trial.h"
#include "input/key_limit.h"
#include "json/json.h"
#include "json/json_canonical.h"
#include "loop/wait.h"
#include "pg/pg.h"

#include <string.h>

/* --- Parts ------------------------------------------------------------------------------------ */

static const char *member(struct request *rq, const char *name, const char *json)
{
	return arena_printf(rq->arena, "{\"%s\": %s}", name, json);
}

/* Ask each service that has something to say of the experiment. */
static void ask_parts(struct request *rq, const struct pg_rows *rows, struct part parts[PART_COUNT])
{
	const char *runs = pg_get(rows, 0, "eval_runs");
	parts[PART_RECOMMENDATIONS].question =
		member(rq, "arxiv_ids", pg_get(rows, 0, "arxiv_ids"));
	parts[PART_FLEET].question = pg_get(rows, 0, "of_fleet");
	if (strcmp(runs, "[]") != 0)
		parts[PART_EVALUATIONS].question = member(rq, "run_ids", runs);
	parts_ask(rq, parts);
}

/* --- The graph -------------------------------------------------------------------------------- */

static void add_deleted(struct graph *graph, const char *id)
{
	yyjson_mut_val *data = yyjson_mut_obj(graph->doc);
	yyjson_mut_obj_add_bool(graph->doc, data, "deleted", true);
	graph_add_node(graph, id, "recommendation", data);
}

/* Runs name recommendations that have been deleted since with their interest, and stay without
 * them. Only one that svc-interests was asked for by name and did not bring is deleted: others are
 * more than was asked for, or may be there. A limited key cannot tell those that are deleted from
 * those that it may not see, nor can an earlier version of svc-interests, which has no `urls`, be
 * asked for them. */
static void settle_absent(struct request *rq, struct graph *graph,
                          const struct part *recommendations)
{
	bool is_known = json_get(recommendations->answer, "urls") && !recommendations->missing;
	if (!is_known || key_is_limited(rq))
		return;
	for (size_t i = 0; i < graph->edge_count; i++) {
		const struct graph_edge *edge = &graph->edges[i];
		if (strcmp(edge->kind, "selected") != 0 || graph_has(graph, edge->to))
			continue;
		if (part_was_asked_for(recommendations, edge->to))
			add_deleted(graph, edge->to);
		else
			graph->is_truncated = true;
	}
}

static bool is_selected(const struct graph *graph, const char *selection)
{
	for (size_t i = 0; i < graph->edge_count; i++)
		if (strcmp(graph->edges[i].kind, "selected") == 0 &&
		    strcmp(graph->edges[i].from, selection) == 0)
			return true;
	return false;
}

/* What a run chose where it names no recommendation: the paper that it was about. */
static void add_selected_papers(struct graph *graph)
{
	size_t stated = graph->edge_count;
	for (size_t i = 0; i < stated; i++) {
		const struct graph_edge *edge = &graph->edges[i];
		if (strcmp(edge->kind, "considered") == 0 &&
		    json_get_bool(json_get(edge->json, "data"), "accepted", false) &&
		    !is_selected(graph, edge->from))
			graph_add_edge(graph, edge->from, "selected", edge->to,
			               json_get_text(edge->json, "at"), NULL);
	}
}

static yyjson_val *column(struct request *rq, const struct pg_rows *rows, const char *name)
{
	const char *json = pg_get(rows, 0, name);
	return json ? json_parse_own(rq->arena, json) : NULL;
}

/* The pull request is the one that a run opened, else the experiment's. What the code host told of
 * it is there already. */
static void add_own_pull_request(struct graph *graph, yyjson_val *pull_request)
{
	yyjson_val *node = yyjson_arr_get_first(json_get(pull_request, "nodes"));
	const char *url = json_get_text(node, "id");
	if (url && !graph_is_opened(graph, url))
		graph_add(graph, pull_request);
}

/* In this order the owner of a node comes before who only mentions it. */
static void build(struct request *rq, const char *experiment, const struct pg_rows *rows,
                  struct part parts[PART_COUNT], struct graph *graph)
{
	graph->is_truncated = parts[PART_RECOMMENDATIONS].is_cut || parts[PART_FLEET].is_cut;
	graph_add(graph, parts[PART_EVALUATIONS].answer);
	graph_add(graph, column(rq, rows, "part"));
	graph_add(graph, parts[PART_RECOMMENDATIONS].answer);
	graph_add(graph, parts[PART_FLEET].answer);
	add_own_pull_request(graph, column(rq, rows, "pull_request"));
	settle_absent(rq, graph, &parts[PART_RECOMMENDATIONS]);
	add_selected_papers(graph);
	graph_infer(graph, experiment, pg_get(rows, 0, "decided_at"));
	parts_add_papers(rq, graph, &parts[PART_PAPERS]);
	graph_label(graph);
	graph_sort(graph);
}

/* The verdict as far as the parts know it, which the experiment's node says, too. */
static const char *settle_verdict(const struct pg_rows *rows, const struct graph *graph,
                                  const char *experiment)
{
	const char *verdict =
		trial_of_experiment(graph, pg_get(rows, 0, "pr_url"),
	                            pg_get_bool(rows, 0, "is_decided"), pg_get(rows, 0, "verdict"));
	yyjson_mut_val *data = graph_data(graph, experiment);
	yyjson_mut_obj_remove_key(data, "verdict");
	yyjson_mut_obj_add_str(graph->doc, data, "verdict", verdict);
	return verdict;
}

/* --- The answer ------------------------------------------------------------------------------- */

/* What the digest is of. */
struct sealed {
	struct arena *arena;
	const char *json;
	char *digest;
};

static void seal(void *arg)
{
	struct sealed *sealed = arg;
	size_t length;
	yyjson_val *graph = json_parse_own(sealed->arena, sealed->json);
	const char *canonical = json_canonical(sealed->arena, graph, &length);
	sealed->digest = arena_alloc(sealed->arena, SHA256_HEX_LEN + 1);
	sha256_hex(canonical, length, sealed->digest);
}

static yyjson_mut_val *graph_json(const struct graph *graph, const char *id)
{
	yyjson_mut_val *root = yyjson_mut_obj(graph->doc);
	yyjson_mut_obj_add_str(graph->doc, root, "root", id);
	yyjson_mut_obj_add_val(graph->doc, root, "nodes", graph->nodes);
	yyjson_mut_obj_add_val(graph->doc, root, "edges", graph_edges(graph));
	return root;
}

/* The graph, cut to what an answer may have, and its digest. */
static yyjson_mut_val *sealed_json(struct request *rq, struct graph *graph, const char *id,
                                   const char **ret_digest)
{
	size_t length;
	yyjson_mut_val *root = graph_json(graph, id);
	struct sealed sealed = {.arena = rq->arena};
	sealed.json = json_write_mut(rq->arena, root, &length);
	if (length > EVIDENCE_GRAPH_BYTES_MAX) {
		graph_fit(graph, EVIDENCE_GRAPH_BYTES_MAX);
		root = graph_json(graph, id);
		sealed.json = json_write_mut(rq->arena, root, &length);
	}
	fiber_offload_text(rq, length, seal, &sealed);
	*ret_digest = sealed.digest;
	return root;
}

static struct evidence answer(struct request *rq, const char *id, struct graph *graph,
                              const struct part parts[PART_COUNT],
                              const struct summary_facts *facts)
{
	yyjson_mut_doc *doc = graph->doc;
	struct evidence evidence = {.is_partial = parts_are_unanswered(parts)};
	char now[TIME_TEXT_LEN + 1];
	time_format(time_now_ms(), now);
	yyjson_mut_val *summary = summary_json(graph, parts, facts);
	yyjson_mut_val *root = sealed_json(rq, graph, id, &evidence.digest);
	yyjson_mut_obj_add_str(doc, root, "digest", evidence.digest);
	yyjson_mut_obj_add_strcpy(doc, root, "generated_at", now);
	yyjson_mut_obj_add_val(doc, root, "summary", summary);
	yyjson_mut_obj_add_val(doc, root, "missing", parts_missing(doc, parts));
	yyjson_mut_obj_add_bool(doc, root, "truncated", graph->is_truncated);
	yyjson_mut_obj_add_int(doc, root, "hidden", parts_hidden(parts));
	yyjson_mut_obj_add_null(doc, root, "snapshot");
	evidence.json = json_write_mut(rq->arena, root, NULL);
	return evidence;
}

struct evidence evidence_collect(struct request *rq, const char *experiment)
{
	struct pg_rows *rows = pg_query(rq, COLLECTION_BEGIN_SQL, pg_uuid(rq->caller.account),
	                                pg_text(experiment));
	if (pg_empty(rows))
		return (struct evidence){0};
	struct part *parts = arena_array(rq->arena, PART_COUNT, sizeof(*parts));
	struct graph graph;
	graph_init(&graph, rq->arena, json_doc_new(rq->arena));
	ask_parts(rq, rows, parts);
	parts_ask_again(rq, parts);
	build(rq, experiment, rows, parts, &graph);
	const struct summary_facts facts = {
		.verdict = settle_verdict(rows, &graph, experiment),
		.outcome = pg_get(rows, 0, "outcome"),
		.merged_at = pg_get(rows, 0, "merged_at"),
		.decided_at = pg_get(rows, 0, "decided_at"),
	};
	return answer(rq, experiment, &graph, parts, &facts);
}
