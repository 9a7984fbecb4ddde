#include "ranking/recommend.h"

#include "corpus.h"
#include "json/json.h"
#include "preference/model_fitting.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
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

/* A model of likes on one topic, as it is stored. */
static struct interest fitted_interest(struct arena *arena)
{
	struct interest interest = {.name = "Neutral",
	                            .context = "Nothing that occurs. No aqbzb please."};
	struct fitting_input fitting = {
		.interest = interest,
		.examples_json = papers_of(arena, 'a', 0, 12, ", \"signal\": \"like\""),
		.background_json = papers_of(arena, 'b', 0, 20, ""),
	};
	struct fitting_result fitted = fit_model(arena, &fitting);
	interest.model = fitted.model.data;
	interest.model_length = fitted.model.length;
	return interest;
}

/* Papers with relevances up to `highest`, the most relevant first, some of them of a named author;
 * on both topics or, with few that are related, on the one that nobody likes. */
static struct paper_list varied_pool(struct arena *arena, double highest)
{
	static const char *const authors[] = {"Kaiming He"};
	static const char *const members = ", \"version\": 7, \"has_container\": true";
	const char *json = highest < 1 ? papers_of(arena, 'b', 30, 80, members)
	                               : papers_of_both(arena, 30, 40, members);
	struct paper_list pool = papers_read(arena, json, 0);
	for (size_t i = 0; i < pool.count; i++) {
		struct paper *paper = &pool.papers[i];
		paper->relevance = highest * (double)(i * 37 % pool.count) / (double)pool.count;
		paper->age_days = (double)(i * 11 % 50);
		paper->matched = authors;
		paper->matched_count = highest > 0.5 && i % 40 == 7;
	}
	qsort(pool.papers, pool.count, sizeof(*pool.papers), papers_by_relevance);
	return pool;
}

/* Have the papers read whose relevance and preference together are so high, and of the others only
 * known what is stored. */
static void read_best(struct arena *arena, struct recommend_input *input, struct paper_list all,
                      const struct stored_scores *scores, double lowest)
{
	input->pool = (struct paper_list){arena_array(arena, all.count, sizeof(*all.papers)), 0};
	input->unread = (struct paper_list){arena_array(arena, all.count, sizeof(*all.papers)), 0};
	for (size_t i = 0; i < all.count; i++) {
		const struct paper *paper = &all.papers[i];
		double preference = stored_scores_find(scores, paper->arxiv_id, 7, false);
		if (paper->relevance + preference >= lowest) {
			input->pool.papers[input->pool.count++] = *paper;
			continue;
		}
		input->unread.papers[input->unread.count++] = (struct paper){
			.arxiv_id = paper->arxiv_id,
			.relevance = paper->relevance,
			.age_days = paper->age_days / 2,
			.has_container = paper->has_container,
			.matched = paper->matched,
			.matched_count = paper->matched_count,
			.preference = preference,
		};
	}
}

#define PARTS 40

/* Recommend of parts of the pool, with the stored scores of the others. Returns how many parts
 * sufficed. */
static size_t recommend_of_parts(struct arena *arena, struct recommend_input input)
{
	struct paper_list all = input.pool;
	struct stored_scores scores = recommendations_scores(recommend_papers(arena, &input));
	struct buf bytes = stored_scores_write(arena, &scores);
	scores = stored_scores_read(arena, bytes.data, bytes.length);
	assert_int_equal(scores.count, all.count);
	assert_true(scores.trust > 0);
	size_t sufficed = 0;
	const char *whole = recommended_json(arena, &input);
	for (size_t part = 1; part < PARTS; part++) {
		read_best(arena, &input, all, &scores, 2.0 * (double)part / PARTS);
		struct recommendations *some = recommend_papers(arena, &input);
		sufficed += some != NULL;
		if (some)
			assert_string_equal(recommendations_json(some, NULL), whole);
	}
	return sufficed;
}

/* With the stored scores of those that were not read, the recommendations and all their numbers are
 * those of the whole pool, or it is said that too few were read: where many are related, where two
 * are by their author alone, and where none is. */
static void test_stored_scores_serve_as_papers_that_are_read(void **state)
{
	(void)state;
	static const double highest[] = {1, 0.55, 0.1};
	struct arena *arena = arena_new();
	struct recommend_input input = {.interest = fitted_interest(arena),
	                                .recommended = papers_read(arena, "[]", 0)};
	for (size_t i = 0; i < ARRAY_LEN(highest); i++) {
		size_t sufficed = 0, tried = 0;
		input.pool = varied_pool(arena, highest[i]);
		for (input.limit = 1; input.limit <= 9; input.limit += 2) {
			sufficed += recommend_of_parts(arena, input);
			tried += PARTS - 1;
		}
		assert_in_range(sufficed, 1, tried - 1);
	}
	arena_free(arena);
}

/* Without a model there is nothing to store. */
static void test_a_prior_gives_no_scores(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct recommend_input input = on_topic(arena, 'a');
	assert_int_equal(recommendations_scores(recommend_papers(arena, &input)).count, 0);
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
		cmocka_unit_test(test_stored_scores_serve_as_papers_that_are_read),
		cmocka_unit_test(test_a_prior_gives_no_scores),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
