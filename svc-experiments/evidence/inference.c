#include "evidence/inference.h"

#include "base/base.h"
#include "json/json.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SELECTION "selection:"
#define PAPER     "paper:"

/* A node, and what edges say of it. */
struct subject {
	const char *id, *kind, *at;
	yyjson_mut_val *data;
	const char *paper; /* that it is about: of an experiment the last one; NULL: none */
	bool is_of_root;   /* about a paper of the experiment */
	bool has_selected; /* a selection that selected a recommendation */
	bool has_run;      /* an implementation that ran one */
	bool is_linked;    /* a run that an implementation ran, or that opened the pull request */
};

/* A graph to which edges are added that its nodes suggest. */
struct inference {
	struct graph *graph;
	size_t count;
	struct subject *subjects; /* by id */
	const struct subject *root;
	const char *decided_at;
};

/* --- What nodes say --------------------------------------------------------------------------- */

static const char *said(const struct subject *subject, const char *name)
{
	return yyjson_mut_get_str(yyjson_mut_obj_get(subject->data, name));
}

static bool is_of_kind(const struct subject *subject, const char *kind)
{
	return strcmp(subject->kind, kind) == 0;
}

static bool is_same(const char *one, const char *other)
{
	return one && other && strcasecmp(one, other) == 0;
}

/* Times of one form; one that is not known is neither before nor after another. */
static bool is_before(const char *one, const char *other)
{
	return one && other && strcmp(one, other) <= 0;
}

static int compare_subjects(const void *one, const void *other)
{
	return strcmp(((const struct subject *)one)->id, ((const struct subject *)other)->id);
}

static struct subject *subject_of(const struct inference *in, const char *id)
{
	struct subject key = {.id = id};
	return bsearch(&key, in->subjects, in->count, sizeof(key), compare_subjects);
}

static void read_nodes(struct inference *in)
{
	size_t i, count;
	yyjson_mut_val *node;
	in->count = yyjson_mut_arr_size(in->graph->nodes);
	in->subjects = arena_array(in->graph->arena, in->count, sizeof(*in->subjects));
	yyjson_mut_arr_foreach (in->graph->nodes, i, count, node)
		in->subjects[i] = (struct subject){
			.id = in->graph->ids[i],
			.kind = yyjson_mut_get_str(yyjson_mut_obj_get(node, "kind")),
			.at = yyjson_mut_get_str(yyjson_mut_obj_get(node, "at")),
			.data = yyjson_mut_obj_get(node, "data"),
		};
	qsort(in->subjects, in->count, sizeof(*in->subjects), compare_subjects);
}

/* --- What edges say --------------------------------------------------------------------------- */

static void note(const struct inference *in, const struct graph_edge *edge)
{
	struct subject *from = subject_of(in, edge->from), *to = subject_of(in, edge->to);
	const char *own = said(in->root, "pr_url");
	if (from && strcmp(edge->kind, "about") == 0)
		from->paper = edge->to;
	if (from && strcmp(edge->kind, "selected") == 0 &&
	    strncmp(edge->to, PAPER, strlen(PAPER)) != 0)
		from->has_selected = true;
	if (from && strcmp(edge->kind, "ran") == 0)
		from->has_run = true;
	if (to && strcmp(edge->kind, "ran") == 0)
		to->is_linked = true;
	if (from && own && strcmp(edge->kind, "opened") == 0 && strcmp(edge->to, own) == 0)
		from->is_linked = true;
}

/* Which nodes are about a paper of the experiment. */
static void note_papers(const struct inference *in)
{
	for (size_t i = 0; i < in->graph->edge_count; i++) {
		const struct graph_edge *edge = &in->graph->edges[i];
		if (strcmp(edge->kind, "about") != 0 || strcmp(edge->from, in->root->id) != 0)
			continue;
		for (size_t s = 0; s < in->count; s++)
			in->subjects[s].is_of_root |= in->subjects[s].paper &&
			                              strcmp(in->subjects[s].paper, edge->to) == 0;
	}
}

static void read_edges(const struct inference *in)
{
	for (size_t i = 0; i < in->graph->edge_count; i++)
		note(in, &in->graph->edges[i]);
	note_papers(in);
}

/* --- Rules ------------------------------------------------------------------------------------ */

static bool is_recommended_to(const struct subject *recommendation, const struct subject *run)
{
	const char *interest = said(run, "interest_id");
	return recommendation->paper && run->paper &&
	       strcmp(recommendation->paper, run->paper) == 0 &&
	       is_before(recommendation->at, run->at) &&
	       (!interest || is_same(interest, said(recommendation, "interest_id")));
}

static void infer_recommendation(const struct inference *in, struct subject *run)
{
	const struct subject *newest = NULL;
	const char *id = arena_printf(in->graph->arena, SELECTION "%s", run->id);
	const struct subject *selection = subject_of(in, id);
	if (!selection || selection->has_selected)
		return;
	for (size_t i = 0; i < in->count; i++) {
		const struct subject *one = &in->subjects[i];
		if (is_of_kind(one, "recommendation") && is_recommended_to(one, run) &&
		    (!newest || is_before(newest->at, one->at)))
			newest = one;
	}
	if (newest)
		graph_add_edge(in->graph, id, "selected", newest->id, run->at,
		               "recommended_before");
}

/* Whether it may be that the implementation began the run. */
static bool may_have_run(const struct subject *implementation, const struct subject *run)
{
	const char *ended = said(implementation, "finished_at");
	return run->is_of_root && !run->is_linked &&
	       is_same(said(implementation, "repo"), said(run, "repo")) &&
	       is_before(implementation->at, run->at) && (!ended || is_before(run->at, ended));
}

static void infer_dispatch(const struct inference *in, struct subject *implementation)
{
	struct subject *first = NULL;
	for (size_t i = 0; i < in->count && !implementation->has_run; i++) {
		struct subject *one = &in->subjects[i];
		if (is_of_kind(one, "run") && may_have_run(implementation, one) &&
		    (!first || is_before(one->at, first->at)))
			first = one;
	}
	if (!first)
		return;
	first->is_linked = true;
	graph_add_edge(in->graph, implementation->id, "ran", first->id, first->at,
	               "dispatched_before");
}

static void infer_membership(const struct inference *in, struct subject *run)
{
	bool is_in_time = is_before(in->root->at, run->at) &&
	                  (!in->decided_at || is_before(run->at, in->decided_at));
	if (run->is_of_root && !run->is_linked && is_in_time &&
	    is_same(said(in->root, "repo"), said(run, "repo")))
		graph_add_edge(in->graph, run->id, "part_of", in->root->id, run->at,
		               "same_paper_and_repository");
}

static const struct rule {
	const char *kind; /* of the nodes that it looks at */
	void (*apply)(const struct inference *in, struct subject *subject);
} RULES[] = {
	{"run", infer_recommendation},
	{"implementation", infer_dispatch},
	{"run", infer_membership},
};

void graph_infer(struct graph *graph, const char *root, const char *decided_at)
{
	struct inference in = {.graph = graph, .decided_at = decided_at};
	read_nodes(&in);
	in.root = subject_of(&in, root);
	read_edges(&in);
	for (size_t rule = 0; rule < ARRAY_LEN(RULES); rule++)
		for (size_t i = 0; i < in.count; i++)
			if (is_of_kind(&in.subjects[i], RULES[rule].kind))
				RULES[rule].apply(&in, &in.subjects[i]);
}
