#include "evidence/evidence.h"
#include "evidence/graph.h"
#include "evidence/part.h"
#include "evidence/trial.h"
#include "experiment/key_experiments.h"
#include "input/input.h"
#include "input/key_limit.h"
#include "json/json.h"
#include "outcome.sql.h"
#include "pg/pg.h"
#include "reply/resource.h"

#include <string.h>

#define PAPER_MISSING "no such asset"

struct outcome_input {
	const char *paper;
};

static const struct field FIELDS[] = {
	PATH_TEXT(struct outcome_input, paper, "arxiv_id", 1, 64),
	FIELD_END,
};

/* What became of a paper, under construction. */
struct outcome {
	struct request *rq;
	const char *paper; /* `paper:2205.14135` */
	yyjson_mut_doc *doc;
	yyjson_mut_val *root;
	struct graph graph;
	yyjson_val *experiments;
	struct verdict_count count;
};

static struct pg_rows *read_experiments(struct request *rq, const char *paper)
{
	bool is_limited = key_is_limited(rq);
	return pg_query(rq, OUTCOME_EXPERIMENTS_SQL, pg_uuid(rq->caller.account), pg_text(paper),
	                pg_bool(caller_has_scope(rq, SCOPE_BIT_EXPERIMENTS_READ)),
	                pg_bool(is_limited), pg_text(rq->caller.repo),
	                pg_text(is_limited ? key_project(rq) : NULL));
}

static void ask_parts(struct request *rq, const struct pg_rows *rows, struct part parts[PART_COUNT])
{
	const char *id = pg_get(rows, 0, "arxiv_id"), *urls = pg_get(rows, 0, "urls");
	const char *ids = arena_printf(rq->arena, "{\"arxiv_ids\": [\"%s\"]}", id);
	parts[PART_RECOMMENDATIONS].question = ids;
	parts[PART_PAPERS].question = ids;
	parts[PART_FLEET].question =
		arena_printf(rq->arena, "{\"arxiv_ids\": [\"%s\"], \"urls\": %s, \"runs\": []}", id,
	                     urls);
	parts_ask(rq, parts);
	if (!caller_has_scope(rq, SCOPE_BIT_EXPERIMENTS_READ))
		parts[PART_EXPERIMENTS].missing = "scope";
}

/* --- Lists ------------------------------------------------------------------------------------ */

/* A node as an item of a list: its id under a name of its own, when it was, and what it says. */
static yyjson_mut_val *flat(const struct outcome *o, const char *id_name, yyjson_mut_val *node)
{
	yyjson_mut_val *copy = yyjson_mut_val_mut_copy(o->doc, yyjson_mut_obj_get(node, "data"));
	yyjson_mut_obj_add_val(o->doc, copy, id_name,
	                       yyjson_mut_val_mut_copy(o->doc, yyjson_mut_obj_get(node, "id")));
	yyjson_mut_obj_add_val(o->doc, copy, "at",
	                       yyjson_mut_val_mut_copy(o->doc, yyjson_mut_obj_get(node, "at")));
	return copy;
}

static bool is_of_kind(yyjson_mut_val *node, const char *kind)
{
	return strcmp(yyjson_mut_get_str(yyjson_mut_obj_get(node, "kind")), kind) == 0;
}

static void add_recommended(struct outcome *o)
{
	yyjson_mut_val *list = yyjson_mut_obj_add_arr(o->doc, o->root, "recommended");
	size_t i, count;
	yyjson_mut_val *node;
	yyjson_mut_arr_foreach (o->graph.nodes, i, count, node)
		if (is_of_kind(node, "recommendation"))
			yyjson_mut_arr_append(list, flat(o, "recommendation_id", node));
}

static bool is_about(const struct outcome *o, const char *run)
{
	for (size_t i = 0; i < o->graph.edge_count; i++) {
		const struct graph_edge *edge = &o->graph.edges[i];
		if (strcmp(edge->from, run) == 0 && strcmp(edge->to, o->paper) == 0)
			return true;
	}
	return false;
}

/* A run that only passed the paper over is no run on it. */
static void add_runs(struct outcome *o)
{
	yyjson_mut_val *list = yyjson_mut_obj_add_arr(o->doc, o->root, "runs");
	size_t i, count;
	yyjson_mut_val *node;
	yyjson_mut_arr_foreach (o->graph.nodes, i, count, node)
		if (is_of_kind(node, "run") && is_about(o, o->graph.ids[i]))
			yyjson_mut_arr_append(list, flat(o, "run", node));
}

/* One run that passed the paper over. */
static yyjson_mut_val *rejection(const struct outcome *o, const struct graph_edge *edge)
{
	const char *id = edge->from + strlen("selection:");
	yyjson_mut_val *run = graph_data(&o->graph, id);
	static const char *const OF_RUN[] = {"repo", "run_id", "interest_id"};
	yyjson_mut_val *item = yyjson_mut_obj(o->doc);
	yyjson_mut_obj_add_str(o->doc, item, "run", id);
	for (size_t i = 0; i < ARRAY_LEN(OF_RUN); i++)
		yyjson_mut_obj_add_val(o->doc, item, OF_RUN[i],
		                       yyjson_mut_val_mut_copy(o->doc,
		                                               yyjson_mut_obj_get(run, OF_RUN[i])));
	yyjson_val *data = json_get(edge->json, "data");
	json_add_member(o->doc, item, "gate", data, "gate");
	json_add_member(o->doc, item, "reason", data, "reason");
	json_add_member(o->doc, item, "at", edge->json, "at");
	return item;
}

static void add_rejected(struct outcome *o)
{
	yyjson_mut_val *list = yyjson_mut_obj_add_arr(o->doc, o->root, "rejected");
	for (size_t i = 0; i < o->graph.edge_count; i++) {
		const struct graph_edge *edge = &o->graph.edges[i];
		bool is_rejection = strcmp(edge->kind, "considered") == 0 &&
		                    strcmp(edge->to, o->paper) == 0 &&
		                    !json_get_bool(json_get(edge->json, "data"), "accepted", true);
		if (is_rejection)
			yyjson_mut_arr_append(list, rejection(o, edge));
	}
}

static bool is_of_experiment(const struct outcome *o, const char *url)
{
	size_t i, count;
	yyjson_val *experiment;
	yyjson_arr_foreach (o->experiments, i, count, experiment) {
		const char *own = json_get_text(experiment, "pr_url");
		if (own && strcmp(own, url) == 0)
			return true;
	}
	return false;
}

/* A pull request of an experiment has no verdict of its own: the experiment's counts. One that only
 * reverts or reapplies another is nobody's trial of the paper: no run opened it. */
static void add_pull_requests(struct outcome *o)
{
	yyjson_mut_val *list = yyjson_mut_obj_add_arr(o->doc, o->root, "pull_requests");
	size_t i, count;
	yyjson_mut_val *node;
	yyjson_mut_arr_foreach (o->graph.nodes, i, count, node) {
		if (!is_of_kind(node, "pull_request") ||
		    !graph_is_opened(&o->graph, o->graph.ids[i]))
			continue;
		const char *url = o->graph.ids[i];
		const char *verdict =
			is_of_experiment(o, url) ? NULL : trial_of_pull_request(&o->graph, url);
		yyjson_mut_val *item = flat(o, "url", node);
		json_add_text(o->doc, item, "verdict", verdict);
		verdict_add(&o->count, verdict);
		yyjson_mut_arr_append(list, item);
	}
}

static const char *verdict_of_experiment(const struct outcome *o, yyjson_val *experiment)
{
	return trial_of_experiment(&o->graph, json_get_text(experiment, "pr_url"),
	                           json_get_bool(experiment, "is_decided", false),
	                           json_get_text(experiment, "verdict"));
}

static void add_experiments(struct outcome *o, const struct pg_rows *rows)
{
	size_t i, count;
	yyjson_val *experiment;
	yyjson_mut_val *list = yyjson_mut_obj_add_arr(o->doc, o->root, "experiments");
	yyjson_arr_foreach (o->experiments, i, count, experiment) {
		const char *verdict = verdict_of_experiment(o, experiment);
		yyjson_mut_val *item = yyjson_val_mut_copy(o->doc, experiment);
		yyjson_mut_obj_remove_key(item, "is_decided");
		yyjson_mut_obj_remove_key(item, "verdict");
		json_add_text(o->doc, item, "verdict", verdict);
		verdict_add(&o->count, verdict);
		yyjson_mut_arr_append(list, item);
	}
	yyjson_mut_obj_add_val(o->doc, o->root, "evaluations",
	                       yyjson_mut_raw(o->doc, pg_get(rows, 0, "evaluations")));
}

/* --- The answer ------------------------------------------------------------------------------- */

/* A paper that nobody is known to have tried may have been tried where a part is missing, or where
 * the limit of the key hides something. */
static const char *settle_verdict(const struct outcome *o, const struct part parts[PART_COUNT],
                                  int64_t hidden)
{
	const char *verdict = verdict_of_paper(&o->count);
	bool is_whole = !parts[PART_FLEET].missing && !parts[PART_EXPERIMENTS].missing && !hidden;
	return is_whole || strcmp(verdict, "untried") != 0 ? verdict : NULL;
}

static void add_all(struct outcome *o, const struct pg_rows *rows, struct part parts[PART_COUNT])
{
	yyjson_val *fleet = parts[PART_FLEET].answer;
	bool is_cut = o->graph.is_truncated || parts[PART_FLEET].is_cut ||
	              pg_get_bool(rows, 0, "is_truncated");
	int64_t hidden = parts_hidden(parts) + pg_get_int(rows, 0, "hidden");
	add_recommended(o);
	add_rejected(o);
	add_runs(o);
	add_pull_requests(o);
	add_experiments(o, rows);
	json_add_member(o->doc, o->root, "cost_usd", fleet, "cost_usd");
	json_add_member(o->doc, o->root, "runs_with_cost", fleet, "runs_with_cost");
	json_add_text(o->doc, o->root, "verdict", settle_verdict(o, parts, hidden));
	yyjson_mut_obj_add_val(o->doc, o->root, "missing", parts_missing(o->doc, parts));
	yyjson_mut_obj_add_bool(o->doc, o->root, "truncated", is_cut);
	yyjson_mut_obj_add_int(o->doc, o->root, "hidden", hidden);
}

/* The paper as search knows it. Raises ERR_NOT_FOUND: it does not. NULL: search did not answer. */
static yyjson_val *require_paper(struct request *rq, const struct part *papers)
{
	yyjson_val *known = yyjson_arr_get_first(json_get(papers->answer, "results"));
	if (papers->answer && !known)
		raise_error(rq, ERR_NOT_FOUND, PAPER_MISSING);
	return known;
}

void paper_outcomes_get(struct request *rq)
{
	struct outcome_input *in = request_input(rq, struct outcome_input, FIELDS);
	struct pg_rows *rows = read_experiments(rq, in->paper);
	const char *id = pg_get(rows, 0, "arxiv_id");
	if (!id)
		raise_error(rq, ERR_NOT_FOUND, PAPER_MISSING);
	struct part *parts = arena_array(rq->arena, PART_COUNT, sizeof(*parts));
	ask_parts(rq, rows, parts);
	yyjson_val *known = require_paper(rq, &parts[PART_PAPERS]);
	parts_ask_links(rq, parts);
	struct outcome o = {.rq = rq,
	                    .paper = arena_printf(rq->arena, "paper:%s", id),
	                    .doc = json_doc_new(rq->arena)};
	o.root = yyjson_mut_obj(o.doc);
	o.experiments = json_parse_own(rq->arena, pg_get(rows, 0, "experiments"));
	yyjson_mut_doc_set_root(o.doc, o.root);
	graph_init(&o.graph, rq->arena, o.doc);
	graph_add(&o.graph, parts[PART_RECOMMENDATIONS].answer);
	graph_add(&o.graph, parts[PART_FLEET].answer);
	yyjson_mut_obj_add_str(o.doc, o.root, "arxiv_id", id);
	json_add_member(o.doc, o.root, "title", known, "title");
	add_all(&o, rows, parts);
	reply_doc(rq, 200, o.doc);
}
