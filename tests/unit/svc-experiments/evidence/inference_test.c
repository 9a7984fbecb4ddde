#include "evidence/inference.h"

#include "arena_fixture.h"
#include "base/base.h"
#include "json/json.h"

#include <string.h>

/* A graph in short: each node is its id, kind, time, repository and interest. */
struct node {
	const char *id, *kind, *at, *repo, *other; /* interest, or when an implementation ended */
};

struct edge {
	const char *from, *kind, *to;
};

#define EXPERIMENT                                                   \
	{                                                            \
		"e", "experiment", "2026-01-10", "Acme/Ranker", NULL \
	}
#define NODES_MAX 6
#define EDGES_MAX 8

static const char *text_json(const char *text)
{
	return text ? arena_printf(arena, "\"%s\"", text) : "null";
}

static void add_nodes(struct graph *graph, const struct node *nodes)
{
	for (size_t i = 0; i < NODES_MAX && nodes[i].id; i++)
		graph_add(graph,
		          json_parse_own(
				  arena,
				  arena_printf(
					  arena,
					  "{\"nodes\": [{\"id\": \"%s\", \"kind\": \"%s\", "
					  "\"at\": %s, \"data\": {\"repo\": %s, \"interest_id\": "
					  "%s, \"finished_at\": %s, \"pr_url\": \"u\"}}]}",
					  nodes[i].id, nodes[i].kind, text_json(nodes[i].at),
					  text_json(nodes[i].repo), text_json(nodes[i].other),
					  text_json(nodes[i].other))));
}

/* What is inferred, as `from kind to rule` of each edge, in their order. */
static const char *inferred(const struct node *nodes, const struct edge *edges,
                            const char *decided_at)
{
	struct graph graph;
	struct buf out = {.arena = arena};
	graph_init(&graph, arena, json_doc_new(arena));
	add_nodes(&graph, nodes);
	for (size_t i = 0; i < EDGES_MAX && edges[i].from; i++)
		graph_add_edge(&graph, edges[i].from, edges[i].kind, edges[i].to, NULL, NULL);
	graph_infer(&graph, "e", decided_at);
	buf_puts(&out, "");
	for (size_t i = 0; i < graph.edge_count; i++) {
		const struct graph_edge *edge = &graph.edges[i];
		const char *basis = json_get_text(edge->json, "basis");
		if (strcmp(basis, "inferred") == 0)
			buf_printf(&out, "%s %s %s %s;", edge->from, edge->kind, edge->to,
			           json_get_text(json_get(edge->json, "data"), "rule"));
	}
	return out.data;
}

static void a_run_on_the_paper_in_the_repository_belongs_to_the_experiment(void **state attr_unused)
{
	static const struct edge EDGES[EDGES_MAX] = {{"e", "about", "paper:1"},
	                                             {"r", "about", "paper:1"}};
	static const char PART_OF[] = "r part_of e same_paper_and_repository;";
	static const struct {
		struct node run;
		const char *decided_at, *expected;
	} ROWS[] = {
		{{"r", "run", "2026-01-11", "acme/ranker", NULL}, NULL, PART_OF},
		{{"r", "run", "2026-01-10", "acme/ranker", NULL}, "2026-01-10", PART_OF},
		{{"r", "run", "2026-01-09", "acme/ranker", NULL}, NULL, ""},
		{{"r", "run", NULL, "acme/ranker", NULL}, NULL, ""},
		{{"r", "run", "2026-01-12", "acme/ranker", NULL}, "2026-01-11", ""},
		{{"r", "run", "2026-01-11", "acme/other", NULL}, NULL, ""},
		{{"r", "run", "2026-01-11", NULL, NULL}, NULL, ""},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		const struct node nodes[NODES_MAX] = {EXPERIMENT, ROWS[i].run};
		assert_string_equal(inferred(nodes, EDGES, ROWS[i].decided_at), ROWS[i].expected);
	}
}

static void what_a_record_states_is_not_inferred(void **state attr_unused)
{
	static const struct node NODES[NODES_MAX] = {EXPERIMENT,
	                                             {"r", "run", "2026-01-11", "acme/ranker",
	                                              NULL},
	                                             {"e/1", "implementation", "2026-01-11",
	                                              "acme/ranker", NULL}};
	static const struct edge RAN[EDGES_MAX] = {{"e", "about", "paper:1"},
	                                           {"r", "about", "paper:1"},
	                                           {"e/1", "ran", "r"}};
	static const struct edge OPENED[EDGES_MAX] = {{"e", "about", "paper:1"},
	                                              {"r", "about", "paper:1"},
	                                              {"e/1", "ran", "other"},
	                                              {"r", "opened", "u"}};
	static const struct edge OF_ANOTHER_PAPER[EDGES_MAX] = {{"e", "about", "paper:1"},
	                                                        {"r", "about", "paper:2"}};
	assert_string_equal(inferred(NODES, RAN, NULL), "");
	assert_string_equal(inferred(NODES, OPENED, NULL), "");
	assert_string_equal(inferred(NODES, OF_ANOTHER_PAPER, NULL), "");
}

static void an_implementation_ran_the_first_run_after_it(void **state attr_unused)
{
	static const struct node NODES[NODES_MAX] = {
		EXPERIMENT,
		{"e/1", "implementation", "2026-01-11", "acme/ranker", "2026-01-13"},
		{"e/2", "implementation", "2026-01-14", "acme/ranker", NULL},
		{"r1", "run", "2026-01-13", "acme/ranker", NULL},
		{"r2", "run", "2026-01-12", "acme/ranker", NULL},
		{"r3", "run", "2026-01-15", "acme/ranker", NULL}};
	static const struct edge EDGES[EDGES_MAX] = {{"e", "about", "paper:1"},
	                                             {"e", "about", "paper:2"},
	                                             {"r1", "about", "paper:1"},
	                                             {"r2", "about", "paper:2"},
	                                             {"r3", "about", "paper:3"}};
	assert_string_equal(inferred(NODES, EDGES, NULL),
	                    "e/1 ran r2 dispatched_before;r1 part_of e same_paper_and_repository;");
}

static void a_selection_was_of_the_newest_recommendation_before_it(void **state attr_unused)
{
	struct node nodes[NODES_MAX] = {EXPERIMENT,
	                                {"r", "run", "2026-01-05", "acme/ranker", NULL},
	                                {"selection:r", "selection", "2026-01-05", NULL, NULL},
	                                {"old", "recommendation", "2026-01-02", NULL, "i"},
	                                {"new", "recommendation", "2026-01-03", NULL, "j"},
	                                {"late", "recommendation", "2026-01-06", NULL, "i"}};
	struct edge edges[EDGES_MAX] = {{"e", "about", "paper:1"},
	                                {"r", "about", "paper:1"},
	                                {"old", "about", "paper:1"},
	                                {"new", "about", "paper:1"},
	                                {"late", "about", "paper:1"},
	                                {"selection:r", "selected", "paper:1"}};
	assert_string_equal(inferred(nodes, edges, NULL),
	                    "selection:r selected new recommended_before;");
	nodes[1].other = "I";
	assert_string_equal(inferred(nodes, edges, NULL),
	                    "selection:r selected old recommended_before;");
	nodes[1].other = "k";
	assert_string_equal(inferred(nodes, edges, NULL), "");
	nodes[1].other = NULL;
	edges[6] = (struct edge){"selection:r", "selected", "hidden"};
	assert_string_equal(inferred(nodes, edges, NULL), "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		ARENA_TEST(a_run_on_the_paper_in_the_repository_belongs_to_the_experiment),
		ARENA_TEST(what_a_record_states_is_not_inferred),
		ARENA_TEST(an_implementation_ran_the_first_run_after_it),
		ARENA_TEST(a_selection_was_of_the_newest_recommendation_before_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
