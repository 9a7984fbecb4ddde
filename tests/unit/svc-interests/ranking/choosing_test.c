#include "ranking/choosing.h"

#include "base/json.h"
#include "corpus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static yyjson_val *choose(struct arena *arena, const struct choosing_input *input)
{
	const char *json = choose_papers(arena, input);
	yyjson_val *root;
	assert_int_equal(json_parse(arena, json, strlen(json), &root, NULL), ERR_NONE);
	assert_true(yyjson_is_arr(root));
	return root;
}

static struct choosing_input on_subject(struct arena *arena, char subject)
{
	return (struct choosing_input){
		.interest = {.name = "An interest", .context = text_on(arena, subject)},
		.pool_json = papers_of_both(arena, 0, 20, ", \"relevance\": 0.5"),
		.seen_json = "[]",
		.limit = 5,
		.half_life_days = 30,
	};
}

static void test_members_and_order(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct choosing_input input = on_subject(arena, 'a');
	input.pool_json = "[{\"arxiv_id\":\"1\",\"title\":\"first words\",\"relevance\":0.2},"
			  "{\"arxiv_id\":\"2\",\"title\":\"other things\",\"relevance\":0.9,"
			  "\"matched\":[\"things\"]},{\"arxiv_id\":\"3\",\"title\":\"third "
			  "subject\",\"relevance\":0.5}]";
	yyjson_val *chosen = choose(arena, &input);
	assert_int_equal(yyjson_arr_size(chosen), 3);
	static const char *const ids[] = {"2", "3", "1"};
	double before = 1;
	for (size_t i = 0; i < 3; i++) {
		yyjson_val *row = yyjson_arr_get(chosen, i);
		double relevance = json_get_float(row, "relevance_score", -1);
		assert_string_equal(json_get_text(row, "arxiv_id"), ids[i]);
		assert_int_equal(json_get_int(row, "rank", 0), i + 1);
		assert_true(relevance >= 0 && relevance <= before);
		assert_non_null(json_get_text(row, "suggested_experiment"));
		before = relevance;
	}
	const char *reasoning = json_get_text(yyjson_arr_get(chosen, 0), "reasoning");
	assert_non_null(strstr(reasoning, "things"));
	arena_free(arena);
}

static void test_scraps_of_words_are_not_named(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct choosing_input input = on_subject(arena, 'a');
	input.pool_json = "[{\"arxiv_id\":\"1\",\"title\":\"t\",\"abstract\":\"re, RL, ranking\","
			  "\"relevance\":0.2,\"matched\":[\"re\",\"RL\",\"ranking\"]}]";
	yyjson_val *chosen = choose(arena, &input);
	const char *reasoning = json_get_text(yyjson_arr_get(chosen, 0), "reasoning");
	assert_non_null(strstr(reasoning, "\"RL\""));
	assert_non_null(strstr(reasoning, "\"ranking\""));
	assert_null(strstr(reasoning, "\"re\""));
	arena_free(arena);
}

static void test_limit(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct choosing_input input = on_subject(arena, 'a');
	assert_int_equal(yyjson_arr_size(choose(arena, &input)), 5);
	input.pool_json = "[]";
	assert_int_equal(yyjson_arr_size(choose(arena, &input)), 0);
	arena_free(arena);
}

static void test_what_was_seen_does_not_return(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct choosing_input input = on_subject(arena, 'a');
	input.pool_json = papers_of(arena, 'a', 0, 3, ", \"relevance\": 0.5");
	input.seen_json = input.pool_json;
	assert_int_equal(yyjson_arr_size(choose(arena, &input)), 0);
	arena_free(arena);
}

static void test_damaged_model_counts_as_none(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct choosing_input input = on_subject(arena, 'a');
	const char *without = choose_papers(arena, &input);
	input.interest.model = "damaged";
	input.interest.model_length = 7;
	assert_string_equal(choose_papers(arena, &input), without);
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members_and_order),
		cmocka_unit_test(test_scraps_of_words_are_not_named),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_what_was_seen_does_not_return),
		cmocka_unit_test(test_damaged_model_counts_as_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
