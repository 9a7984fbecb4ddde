#include "evidence/evidence.h"

#include "base/timefmt.h"
#include "evidence.sql.h"
#include "evidence/graph.h"
#include "evidence/part.h"
#include "evidence/summary.h"
#include "experiment/experiment.h"
#include "experiment/fields.h"
#include "experiment/key_experiments.h"
#include "input/input.h"
#include "input/key_limit.h"
#include "json/json.h"
#include "pg/pg.h"
#include "reply/resource.h"

#include <string.h>

static const struct field FIELDS[] = {
	PATH_UUID(struct experiment_path, id, "experiment_id"),
	FIELD_END,
};

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

/* Runs name recommendations that have been deleted since with their interest, and stay without
 * them. A limited key cannot tell these from those that it may not see. */
static void add_deleted(struct request *rq, struct graph *graph, const struct part *recommendations)
{
	if (!recommendations->answer || key_is_limited(rq))
		return;
	for (size_t i = 0; i < graph->edge_count; i++) {
		const struct graph_edge *edge = &graph->edges[i];
		if (strcmp(edge->kind, "selected") != 0 || graph_has(graph, edge->to))
			continue;
		yyjson_mut_val *data = yyjson_mut_obj(graph->doc);
		yyjson_mut_obj_add_bool(graph->doc, data, "deleted", true);
		graph_add_node(graph, edge->to, "recommendation", data);
	}
}

static yyjson_val *column(struct request *rq, const struct pg_rows *rows, const char *name)
{
	const char *json = pg_get(rows, 0, name);
	return json ? json_parse_own(rq->arena, json) : NULL;
}

/* The pull request is the one that a run opened, else what the experiment itself knows of it. */
static void add_own_pull_request(struct graph *graph, yyjson_val *pull_request)
{
	yyjson_val *node = yyjson_arr_get_first(json_get(pull_request, "nodes"));
	const char *url = json_get_text(node, "id");
	if (url && !graph_has(graph, url))
		graph_add(graph, pull_request);
}

/* In this order the owner of a node comes before who only mentions it. */
static void build(struct request *rq, const struct pg_rows *rows, struct part parts[PART_COUNT],
                  struct graph *graph)
{
	yyjson_val *evaluations = parts[PART_EVALUATIONS].answer;
	graph_add(graph, evaluations);
	graph_add(graph, column(rq, rows, "part"));
	graph_add(graph, parts[PART_RECOMMENDATIONS].answer);
	graph_add(graph, parts[PART_FLEET].answer);
	add_own_pull_request(graph, column(rq, rows, "pull_request"));
	add_deleted(rq, graph, &parts[PART_RECOMMENDATIONS]);
	parts_add_papers(rq, graph, &parts[PART_PAPERS]);
}

static void reply_graph(struct request *rq, const char *id, const struct graph *graph,
                        const struct part parts[PART_COUNT], const struct summary_facts *facts)
{
	yyjson_mut_doc *doc = graph->doc;
	yyjson_mut_val *root = yyjson_mut_obj(doc);
	char now[TIME_TEXT_LEN + 1];
	time_format(time_now_ms(), now);
	yyjson_mut_doc_set_root(doc, root);
	yyjson_mut_obj_add_str(doc, root, "root", id);
	yyjson_mut_obj_add_strcpy(doc, root, "generated_at", now);
	yyjson_mut_obj_add_val(doc, root, "nodes", graph->nodes);
	yyjson_mut_obj_add_val(doc, root, "edges", graph_edges(graph));
	yyjson_mut_obj_add_val(doc, root, "summary", summary_json(graph, parts, facts));
	yyjson_mut_obj_add_val(doc, root, "missing", parts_missing(doc, parts));
	yyjson_mut_obj_add_bool(doc, root, "truncated", graph->is_truncated);
	yyjson_mut_obj_add_int(doc, root, "hidden", parts_hidden(parts));
	reply_doc(rq, 200, doc);
}

void evidence_get(struct request *rq)
{
	struct experiment_path *in = request_input(rq, struct experiment_path, FIELDS);
	key_require_experiment(rq, in->id);
	struct pg_rows *rows =
		pg_query(rq, EVIDENCE_EXPERIMENT_SQL, pg_uuid(rq->caller.account), pg_text(in->id));
	require_row(rq, rows, EXPERIMENT_MISSING);
	struct part *parts = arena_array(rq->arena, PART_COUNT, sizeof(*parts));
	struct graph graph;
	graph_init(&graph, rq->arena, json_doc_new(rq->arena));
	ask_parts(rq, rows, parts);
	build(rq, rows, parts, &graph);
	const struct summary_facts facts = {
		.verdict = pg_get(rows, 0, "verdict"),
		.outcome = pg_get(rows, 0, "outcome"),
		.merged_at = pg_get(rows, 0, "merged_at"),
		.decided_at = pg_get(rows, 0, "decided_at"),
	};
	reply_graph(rq, in->id, &graph, parts, &facts);
}
