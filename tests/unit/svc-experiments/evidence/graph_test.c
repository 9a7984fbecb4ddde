#include "evidence/graph.h"

#include "arena_fixture.h"
#include "json/json.h"

#include <string.h>

static struct graph graph_of(void)
{
	struct graph graph;
	graph_init(&graph, arena, json_doc_new(arena));
	return graph;
}

static void add(struct graph *graph, const char *json)
{
	graph_add(graph, json_parse_own(graph->arena, json));
}

static void the_first_part_that_has_a_node_owns_it(void **state attr_unused)
{
	struct graph graph = graph_of();
	add(&graph, "{\"nodes\": [{\"id\": \"a\", \"kind\": \"run\", \"at\": \"2026-02-01\"}], "
	            "\"edges\": []}");
	add(&graph, "{\"nodes\": [{\"id\": \"a\", \"kind\": \"paper\"}, {\"id\": \"b\", \"kind\": "
	            "\"run\", \"at\": \"2026-01-01\"}]}");
	graph_add(&graph, NULL);
	assert_true(graph_has(&graph, "a"));
	assert_false(graph_has(&graph, "c"));
	assert_int_equal(graph_count(&graph, "run"), 2);
	assert_int_equal(graph_count(&graph, "paper"), 0);
	assert_string_equal(graph_first_at(&graph, "run"), "2026-01-01");
	assert_null(graph_first_at(&graph, "paper"));
}

static void an_edge_needs_both_ends(void **state attr_unused)
{
	struct graph graph = graph_of();
	add(&graph, "{\"nodes\": [{\"id\": \"a\", \"kind\": \"run\"}], \"edges\": ["
	            "{\"from\": \"a\", \"to\": \"b\", \"kind\": \"about\"}, {\"from\": \"a\", "
	            "\"to\": \"c\", \"kind\": \"about\"},"
	            "{\"from\": \"a\", \"kind\": \"about\"}]}");
	graph_add_node(&graph, "b", "paper", yyjson_mut_obj(graph.doc));
	yyjson_mut_val *edges = graph_edges(&graph);
	assert_int_equal(yyjson_mut_arr_size(edges), 1);
	assert_string_equal(json_write_mut(arena, edges, NULL),
	                    "[{\"from\":\"a\",\"to\":\"b\",\"kind\":\"about\"}]");
	assert_false(graph.is_truncated);
}

static void a_graph_has_bounds(void **state attr_unused)
{
	struct graph graph = graph_of();
	for (int i = 0; i < GRAPH_NODES_MAX; i++)
		graph_add_node(&graph, arena_printf(arena, "%d", i), "run",
		               yyjson_mut_obj(graph.doc));
	assert_false(graph.is_truncated);
	graph_add_node(&graph, "0", "run", yyjson_mut_obj(graph.doc));
	assert_false(graph.is_truncated);
	graph_add_node(&graph, "more", "run", yyjson_mut_obj(graph.doc));
	assert_true(graph.is_truncated);
	assert_int_equal(graph_count(&graph, "run"), GRAPH_NODES_MAX);
}

static void edges_have_bounds_and_a_part_says_that_it_was_cut(void **state attr_unused)
{
	struct graph graph = graph_of();
	for (int i = 0; i <= GRAPH_EDGES_MAX; i++) {
		assert_false(graph.is_truncated);
		add(&graph, "{\"edges\": [{\"from\": \"a\", \"to\": \"b\", \"kind\": \"about\"}]}");
	}
	assert_true(graph.is_truncated);
	struct graph other = graph_of();
	add(&other, "{\"nodes\": [], \"truncated\": true}");
	assert_true(other.is_truncated);
}

static const char *sorted(const char *first, const char *second)
{
	struct graph graph = graph_of();
	add(&graph, first);
	add(&graph, second);
	graph_sort(&graph);
	return arena_printf(arena, "%s %s", json_write_mut(arena, graph.nodes, NULL),
	                    json_write_mut(arena, graph_edges(&graph), NULL));
}

static void the_order_of_the_parts_does_not_matter(void **state attr_unused)
{
	const char *part =
		"{\"nodes\": [{\"id\": \"a\", \"kind\": \"run\", \"at\": \"2026-01-01\"}, "
		"{\"id\": \"p\", \"kind\": \"paper\"}], \"edges\": [{\"from\": "
		"\"b\", \"to\": \"p\", \"kind\": \"about\"}]}";
	const char *other = "{\"nodes\": [{\"id\": \"c\", \"kind\": \"run\", \"at\": "
			    "\"2026-01-01\"}, {\"id\": \"b\", \"kind\": \"run\", \"at\": "
			    "\"2026-02-01\"}], \"edges\": [{\"from\": \"a\", \"to\": \"p\", "
			    "\"kind\": \"about\"}]}";
	const char *json = sorted(part, other);
	assert_string_equal(json, sorted(other, part));
	assert_true(strstr(json, "\"b\"") < strstr(json, "\"a\""));
	assert_true(strstr(json, "\"a\"") < strstr(json, "\"c\""));
	assert_true(strstr(json, "\"c\"") < strstr(json, "\"p\""));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		ARENA_TEST(the_first_part_that_has_a_node_owns_it),
		ARENA_TEST(an_edge_needs_both_ends),
		ARENA_TEST(a_graph_has_bounds),
		ARENA_TEST(edges_have_bounds_and_a_part_says_that_it_was_cut),
		ARENA_TEST(the_order_of_the_parts_does_not_matter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
