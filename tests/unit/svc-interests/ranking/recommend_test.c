#include "ranking/recommend.h"

#include "corpus.h"
#include "json/json.h"
#include "preference/model_fitting.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *recommended_json(struct arena *arena, const struct recommend_input *input)
{
	return recommendations_json(recommend_papers(arena, input), NULL);
}

static yyjson_val *recommend(struct arena *arena, const struct recommend_input *input)
{
	const char *json = recommended_json(arena, input);
	yyjson_val *root;
	assert_int_equal(json_parse(arena, json, strlen(json), &root, NULL), ERR_NONE);
	assert_true(yyjson_is_arr(root));
	return root;
}

static struct recommend_input on_topic(struct arena *arena, char topic)
{
	return (struct recommend_input){
		.interest = {.name = "An interest", .context = text_on(arena, topic)},
		.pool = papers_read(arena, papers_of_both(arena, 0, 20, ", \"relevance\": 0.5"), 0),
		.recommended = papers_read(arena, "[]", 0),
		.limit = 5,
		.half_life_days = 30,
	};
}

static void test_best_paper_is_first(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct recommend_input input = on_topic(arena, 'a');
	input.pool =
		papers_read(arena,
	                    "[{\"arxiv_id\":\"1\",\"title\":\"first words\",\"relevance\":0.2},"
	                    "{\"arxiv_id\":\"2\",\"title\":\"other things\",\"relevance\":0.9,"
	                    "\"matched\":[\"things\"]},{\"arxiv_id\":\"3\",\"title\":\"third "
	                    "subject\",\"relevance\":0.5}]",
	                    0);
	yyjson_val *recommended = recommend(arena, &input);
	assert_int_equal(yyjson_arr_size(recommended), 3);
	static const char *const ids[] = {"2", "3", "1"};
	double before = 1;
	for (size_t i = 0; i < 3; i++) {
		yyjson_val *row = yyjson_arr_get(recommended, i);
		double relevance = json_get_float(row, "relevance_score", -1);
		assert_string_equal(json_get_text(row, "arxiv_id"), ids[i]);
		assert_int_equal(json_get_int(row, "rank", 0), i + 1);
		assert_true(relevance >= 0 && relevance <= before);
		assert_true(yyjson_is_null(json_get(row, "suggested_experiment")));
		before = relevance;
	}
	const char *reasoning = json_get_text(yyjson_arr_get(recommended, 0), "reasoning");
	assert_non_null(strstr(reasoning, "things"));
	arena_free(arena);
}

static void test_short_lower_case_words_are_not_quoted(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct recommend_input input = on_topic(arena, 'a');
	input.pool =
		papers_read(arena,
	                    "[{\"arxiv_id\":\"1\",\"title\":\"t\",\"abstract\":\"re, RL, ranking\","
	                    "\"relevance\":0.2,\"matched\":[\"re\",\"RL\",\"ranking\"]}]",
	                    0);
	yyjson_val *recommended = recommend(arena, &input);
	const char *reasoning = json_get_text(yyjson_arr_get(recommended, 0), "reasoning");
	assert_non_null(strstr(reasoning, "\"RL\""));
	assert_non_null(strstr(reasoning, "\"ranking\""));
	assert_null(strstr(reasoning, "\"re\""));
	arena_free(arena);
}

/* A paper of an author whom the interest names is related to it, unless it has what is refused. */
static void test_a_named_author_does_not_excuse_what_is_refused(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct recommend_input input = on_topic(arena, 'a');
	input.interest.context = "Papers by Kaiming He. No video please.";
	input.pool = papers_read(arena,
	                         "[{\"arxiv_id\":\"1\",\"title\":\"One\",\"relevance\":0.3,"
	                         "\"matched\":[\"Kaiming He\"]},"
	                         "{\"arxiv_id\":\"2\",\"title\":\"Two\",\"relevance\":0.3,"
	                         "\"matched\":[\"Kaiming He\"]},"
	                         "{\"arxiv_id\":\"3\",\"title\":\"Three\",\"relevance\":0.3},"
	                         "{\"arxiv_id\":\"4\",\"title\":\"Video\",\"relevance\":0.3,"
	                         "\"matched\":[\"Kaiming He\"]}]",
	                         0);
	yyjson_val *recommended = recommend(arena, &input);
	static const char *const ids[] = {"1", "2", "3"};
	assert_int_equal(yyjson_arr_size(recommended), ARRAY_LEN(ids));
	for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
		yyjson_val *row = yyjson_arr_get(recommended, i);
		const char *reasoning = json_get_text(row, "reasoning");
		assert_string_equal(json_get_text(row, "arxiv_id"), ids[i]);
		assert_int_equal(strstr(reasoning, "By Kaiming He") != NULL, i < 2);
		assert_int_equal(strstr(reasoning, "nothing closer") != NULL, i == 2);
	}
	arena_free(arena);
}

static void test_at_most_limit_papers_are_recommended(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct recommend_input input = on_topic(arena, 'a');
	assert_int_equal(yyjson_arr_size(recommend(arena, &input)), 5);
	input.pool = papers_read(arena, "[]", 0);
	assert_int_equal(yyjson_arr_size(recommend(arena, &input)), 0);
	arena_free(arena);
}

static void test_recommended_papers_are_left_out(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct recommend_input input = on_topic(arena, 'a');
	const char *papers = papers_of(arena, 'a', 0, 3, ", \"relevance\": 0.5");
	input.pool = papers_read(arena, papers, 0);
	input.recommended = papers_read(arena, papers, 0);
	assert_int_equal(yyjson_arr_size(recommend(arena, &input)), 0);
	arena_free(arena);
}

static void test_damaged_model_is_ignored(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct recommend_input input = on_topic(arena, 'a');
	const char *without = recommended_json(arena, &input);
	input.interest.model = "damaged";
	input.interest.model_length = 7;
	assert_string_equal(recommended_json(arena, &input), without);
	arena_free(arena);
}

static void test_fitted_model_changes_the_order(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct fitting_input fitting = {
		.interest = {.name = "Neutral", .context = "nothing that occurs"},
		.examples_json = papers_of(arena, 'a', 0, 12, ", \"signal\": \"like\""),
		.background_json = papers_of(arena, 'b', 0, 20, ""),
	};
	struct fitting_result fitted = fit_model(arena, &fitting);
	struct recommend_input input = {
		.interest = {.name = "Neutral",
	                     .context = "nothing that occurs",
	                     .model = fitted.model.data,
	                     .model_length = fitted.model.length},
		.pool = papers_read(arena, papers_of_both(arena, 30, 4, ", \"relevance\": 0.5"), 0),
		.recommended = papers_read(arena, "[]", 0),
		.limit = 1,
	};
	yyjson_val *best = yyjson_arr_get(recommend(arena, &input), 0);
	assert_int_equal(json_get_text(best, "arxiv_id")[0], 'a');
	assert_non_null(strstr(json_get_text(best, "reasoning"), "liked"));
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_best_paper_is_first),
		cmocka_unit_test(test_short_lower_case_words_are_not_quoted),
		cmocka_unit_test(test_a_named_author_does_not_excuse_what_is_refused),
		cmocka_unit_test(test_at_most_limit_papers_are_recommended),
		cmocka_unit_test(test_recommended_papers_are_left_out),
		cmocka_unit_test(test_damaged_model_is_ignored),
		cmocka_unit_test(test_fitted_model_changes_the_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
