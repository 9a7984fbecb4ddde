#include "evidence/label.h"

#include "arena_fixture.h"
#include "base/base.h"
#include "json/json.h"

#include <string.h>

static const char *label_of(const char *kind, const char *data)
{
	struct graph graph;
	graph_init(&graph, arena, json_doc_new(arena));
	graph_add(&graph, json_parse_own(arena, arena_printf(arena,
	                                                     "{\"nodes\": [{\"id\": \"a\", "
	                                                     "\"kind\": \"%s\", \"data\": %s}]}",
	                                                     kind, data)));
	graph_label(&graph);
	return yyjson_mut_get_str(
		yyjson_mut_obj_get(yyjson_mut_arr_get_first(graph.nodes), "label"));
}

static void a_label_is_what_a_node_says(void **state attr_unused)
{
	static const struct {
		const char *kind, *data, *label;
	} ROWS[] = {
		{"paper", "{\"arxiv_id\": \"2205.14135\", \"title\": \"FlashAttention\"}",
	         "FlashAttention"},
		{"paper", "{\"arxiv_id\": \"2205.14135\", \"title\": null}", "2205.14135"},
		{"run", "{\"repo\": \"acme/ranker\", \"run_id\": 17}", "acme/ranker 17"},
		{"pull_request", "{\"repo\": \"acme/ranker\", \"number\": 7}", "acme/ranker#7"},
		{"pull_request", "{\"repo\": \"acme/ranker\", \"number\": null}", "pull_request"},
		{"selection", "{\"candidates_considered\": 40}", "40 candidates"},
		{"selection", "{\"candidates_considered\": \"\"}", "selection"},
		{"implementation", "{\"repo\": \"acme/ranker\", \"branch\": null}", "acme/ranker"},
		{"decision", "{\"outcome\": null, \"status\": \"shipped\"}", "shipped"},
		{"recommendation", "{\"deleted\": true}", "recommendation"},
		{"experiment", "[]", "experiment"},
		{"of a later version", "{\"name\": \"x\"}", "of a later version"},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++)
		assert_string_equal(label_of(ROWS[i].kind, ROWS[i].data), ROWS[i].label);
}

static void a_long_label_is_cut(void **state attr_unused)
{
	char *name = arena_alloc(arena, 1001);
	memset(name, 'x', 1000);
	const char *label = label_of("experiment", arena_printf(arena, "{\"name\": \"%s\"}", name));
	assert_in_range(strlen(label), 190, 210);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		ARENA_TEST(a_label_is_what_a_node_says),
		ARENA_TEST(a_long_label_is_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
