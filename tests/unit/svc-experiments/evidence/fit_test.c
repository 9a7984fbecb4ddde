#include "evidence/fit.h"

#include "arena_fixture.h"
#include "json/json.h"

#include <string.h>

/* An experiment with its paper, and runs that each passed a paper of its own over, the oldest
 * first. */
static struct graph graph_of(int runs)
{
	struct graph graph;
	graph_init(&graph, arena, json_doc_new(arena));
	graph_add(&graph,
	          json_parse_own(arena,
	                         "{\"nodes\": [{\"id\": \"e\", \"kind\": \"experiment\", \"at\": "
	                         "\"2026-01-01\"}, {\"id\": \"paper:own\", \"kind\": \"paper\"}], "
	                         "\"edges\": [{\"from\": \"e\", \"to\": \"paper:own\", \"kind\": "
	                         "\"about\"}]}"));
	for (int i = 0; i < runs; i++)
		graph_add(
			&graph,
			json_parse_own(
				arena,
				arena_printf(
					arena,
					"{\"nodes\": [{\"id\": \"r%d\", \"kind\": \"run\", \"at\": "
					"\"2026-02-%02d\"}, {\"id\": \"selection:r%d\", \"kind\": "
					"\"selection\", \"at\": \"2026-02-%02d\"}, {\"id\": "
					"\"paper:%d\", \"kind\": \"paper\"}], \"edges\": "
					"[{\"from\": \"selection:r%d\", \"to\": \"r%d\", \"kind\": "
					"\"part_of\"}, {\"from\": \"selection:r%d\", \"to\": "
					"\"paper:%d\", \"kind\": \"considered\"}]}",
					i, i + 1, i, i + 1, i, i, i, i, i)));
	graph_sort(&graph);
	return graph;
}

static size_t bytes_of(struct graph *graph)
{
	size_t nodes, edges;
	json_write_mut(arena, graph->nodes, &nodes);
	json_write_mut(arena, graph_edges(graph), &edges);
	return nodes + edges;
}

static void a_graph_that_fits_stays(void **state attr_unused)
{
	struct graph graph = graph_of(3);
	size_t bytes = bytes_of(&graph);
	graph_fit(&graph, bytes);
	assert_int_equal(bytes_of(&graph), bytes);
	assert_false(graph.is_truncated);
}

static void the_oldest_runs_go_with_what_hangs_on_them(void **state attr_unused)
{
	struct graph graph = graph_of(9);
	size_t bytes = bytes_of(&graph);
	graph_fit(&graph, bytes - 5);
	assert_true(graph.is_truncated);
	assert_true(bytes_of(&graph) < bytes);
	assert_false(graph_has(&graph, "r0"));
	assert_false(graph_has(&graph, "selection:r0"));
	assert_false(graph_has(&graph, "paper:0"));
	assert_true(graph_has(&graph, "r1"));
	assert_true(graph_has(&graph, "selection:r1"));
	assert_true(graph_has(&graph, "paper:1"));
}

static void the_experiment_and_its_papers_stay(void **state attr_unused)
{
	struct graph graph = graph_of(9);
	graph_fit(&graph, 1);
	assert_int_equal(yyjson_mut_arr_size(graph.nodes), 2);
	assert_true(graph_has(&graph, "e"));
	assert_true(graph_has(&graph, "paper:own"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		ARENA_TEST(a_graph_that_fits_stays),
		ARENA_TEST(the_oldest_runs_go_with_what_hangs_on_them),
		ARENA_TEST(the_experiment_and_its_papers_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
