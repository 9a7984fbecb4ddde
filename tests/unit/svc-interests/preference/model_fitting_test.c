#include "preference/model_fitting.h"

#include "corpus.h"
#include "json/json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Feedback on an interest in neither topic whose readers like papers on the first one. */
static struct fitting_input liking_a(struct arena *arena, unsigned likes)
{
	return (struct fitting_input){
		.interest = {.name = "Neutral", .context = "nothing that occurs"},
		.examples_json = papers_of(arena, 'a', 0, likes, ", \"signal\": \"like\""),
		.background_json = papers_of(arena, 'b', 0, 20, ""),
	};
}

static yyjson_val *score(struct arena *arena, const struct score_input *input)
{
	const char *json = score_candidates(arena, input);
	yyjson_val *root;
	assert_int_equal(json_parse(arena, json, strlen(json), &root, NULL), ERR_NONE);
	return root;
}

static void test_too_little_feedback_fits_nothing(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct fitting_input input = liking_a(arena, 2);
	struct fitting_result result = fit_model(arena, &input);
	assert_null(result.model.data);
	assert_non_null(strstr(result.message, "feedback"));
	assert_int_equal(result.examples, 2);
	assert_int_equal(result.positives, 2);
	assert_true(isnan(result.auc));
	arena_free(arena);
}

static void test_empty_input_fits_nothing(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct fitting_input input = {
		.interest = {.name = "n", .context = "c"},
		.examples_json = "[]",
		.background_json = "[]",
	};
	assert_null(fit_model(arena, &input).model.data);
	arena_free(arena);
}

static void test_unknown_signals_are_ignored(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct fitting_input input = liking_a(arena, 5);
	input.examples_json = papers_of(arena, 'a', 0, 5, ", \"signal\": \"sideways\"");
	struct fitting_result result = fit_model(arena, &input);
	assert_null(result.model.data);
	assert_int_equal(result.examples, 0);
	arena_free(arena);
}

/* Papers without a signal are ordered by what was learned from the others. */
static void test_fitted_model_orders_new_papers(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct fitting_input input = liking_a(arena, 12);
	struct fitting_result result = fit_model(arena, &input);
	assert_non_null(result.model.data);
	assert_int_equal(result.examples, 12);
	assert_int_equal(result.positives, 12);
	assert_true(result.auc > 0.9);
	assert_non_null(result.message);

	struct score_input score_input = {
		.interest = input.interest,
		.model_version = 3,
		.pool_json = papers_of_both(arena, 30, 6, ""),
		.limit = 12,
	};
	score_input.interest.model = result.model.data;
	score_input.interest.model_length = result.model.length;
	yyjson_val *scored = score(arena, &score_input);
	assert_int_equal(yyjson_arr_size(scored), 12);
	double before = 1;
	for (size_t i = 0; i < 12; i++) {
		yyjson_val *row = yyjson_arr_get(scored, i);
		double value = json_get_float(row, "score", -1);
		assert_int_equal(json_get_text(row, "arxiv_id")[0], i < 6 ? 'a' : 'b');
		assert_int_equal(json_get_int(row, "model_version", -1), 3);
		assert_true(value >= 0 && value <= before);
		before = value;
	}
	arena_free(arena);
}

/* Terms weigh by the corpus: a word that is rare there counts, though every paper at hand has
 * it. */
static void test_features_use_the_frequencies_of_the_corpus(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct word_splitter *splitter = word_splitter_new(arena);
	struct paper_list corpus = papers_read(arena, papers_of(arena, 'b', 0, 50, ""), 0);
	const struct bag **bags = papers_make_bags(arena, splitter, corpus);
	struct buf bytes = {.arena = arena};
	frequency_write(frequency_table_new(arena, bags, corpus.count), &bytes);
	struct interest interest = {.name = "n", .context = "c"};
	struct paper_list papers = papers_read(arena, papers_of(arena, 'a', 0, 3, ""), 0);
	papers_make_bags(arena, splitter, papers);
	assert_int_equal(frequency_documents(interest_frequencies(arena, &interest, papers)), 3);
	interest.frequencies = bytes.data;
	interest.frequencies_length = bytes.length;
	assert_int_equal(frequency_documents(interest_frequencies(arena, &interest, papers)), 50);
	interest.frequencies_length = bytes.length - 1;
	assert_int_equal(frequency_documents(interest_frequencies(arena, &interest, papers)), 3);
	arena_free(arena);
}

static void test_prior_prefers_papers_on_the_topic_of_the_interest(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct score_input input = {
		.interest = {.name = "n", .context = text_on(arena, 'b')},
		.pool_json = papers_of_both(arena, 0, 6, ""),
		.model_version = 0,
		.limit = 6,
	};
	yyjson_val *scored = score(arena, &input);
	assert_int_equal(yyjson_arr_size(scored), 6);
	size_t index, max;
	yyjson_val *row;
	yyjson_arr_foreach (scored, index, max, row) {
		assert_int_equal(json_get_text(row, "arxiv_id")[0], 'b');
		assert_int_equal(json_get_int(row, "model_version", -1), 0);
	}
	arena_free(arena);
}

static void test_candidates_without_an_id_are_scored(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct score_input input = {
		.interest = {.name = "n", .context = text_on(arena, 'b')},
		.pool_json = papers_of_both(arena, 0, 6, ""),
		.candidates_json =
			arena_printf(arena,
	                             "[{\"arxiv_id\":\"x\",\"title\":\"unrelated\"},{\"index\":1,"
	                             "\"title\":\"%s\"},{\"index\":2,\"title\":\"\"}]",
	                             text_on(arena, 'b')),
		.limit = 3,
	};
	yyjson_val *scored = score(arena, &input);
	assert_int_equal(yyjson_arr_size(scored), 3);
	yyjson_val *best = yyjson_arr_get(scored, 0);
	assert_int_equal(json_get_int(best, "index", -1), 1);
	assert_null(json_get(best, "arxiv_id"));
	assert_string_equal(json_get_text(yyjson_arr_get(scored, 1), "arxiv_id"), "x");
	assert_null(json_get(yyjson_arr_get(scored, 1), "index"));
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_too_little_feedback_fits_nothing),
		cmocka_unit_test(test_empty_input_fits_nothing),
		cmocka_unit_test(test_unknown_signals_are_ignored),
		cmocka_unit_test(test_fitted_model_orders_new_papers),
		cmocka_unit_test(test_features_use_the_frequencies_of_the_corpus),
		cmocka_unit_test(test_prior_prefers_papers_on_the_topic_of_the_interest),
		cmocka_unit_test(test_candidates_without_an_id_are_scored),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
