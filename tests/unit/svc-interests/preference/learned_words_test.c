#include "corpus.h"
#include "json/json.h"
#include "preference/model_fitting.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char LIKED[] =
	"{\"arxiv_id\":\"2301.00001\",\"signal\":\"like\",\"title\":\"Sparse Attention in GPU "
	"Kernels\","
	"\"abstract\":\"We make sparse attention fast by GPU kernels.\"},"
	"{\"arxiv_id\":\"2301.00002\",\"signal\":\"like\",\"title\":\"Kernels for the GPU\","
	"\"abstract\":\"Sparse\\nattention with long rows, and a GPU.\"},"
	"{\"arxiv_id\":\"2301.00003\",\"signal\":\"like\",\"title\":\"Long Contexts\","
	"\"abstract\":\"Where sparse attention helps a GPU: quixotic inputs.\"}";

static const char REJECTED[] =
	",{\"arxiv_id\":\"2301.00004\",\"signal\":\"dislike\",\"title\":\"Recommender Systems\","
	"\"abstract\":\"A recommender of songs.\"},"
	"{\"arxiv_id\":\"2301.00005\",\"signal\":\"dismiss\",\"title\":\"A Recommender System\","
	"\"abstract\":\"Users and the recommender.\"}";

static yyjson_val *learned(struct arena *arena, const char *examples)
{
	struct fitting_input input = {
		.interest = {.name = "Neutral", .context = "nothing that occurs"},
		.examples_json = arena_printf(arena, "[%s]", examples),
		.background_json = papers_of(arena, 'b', 0, 20, ""),
	};
	struct fitting_result result = fit_model(arena, &input);
	yyjson_val *root = NULL;
	if (result.learned_json)
		assert_int_equal(json_parse(arena, result.learned_json, strlen(result.learned_json),
		                            &root, NULL),
		                 ERR_NONE);
	return root;
}

static bool has(yyjson_val *learned, const char *side, const char *text)
{
	size_t index, count;
	yyjson_val *word;
	yyjson_arr_foreach (json_get(learned, side), index, count, word)
		if (strcmp(yyjson_get_str(word), text) == 0)
			return true;
	return false;
}

/* Words of several papers, in phrases and in small letters, but for abbreviations. */
static void test_the_words_of_both_sides(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	yyjson_val *words = learned(arena, arena_printf(arena, "%s%s", LIKED, REJECTED));
	assert_true(has(words, "more", "sparse attention"));
	assert_false(has(words, "more", "attention"));
	assert_true(has(words, "more", "GPU kernels") || has(words, "more", "GPU"));
	assert_false(has(words, "more", "quixotic"));
	assert_true(has(words, "less", "recommender systems") ||
	            has(words, "less", "recommender system"));
	assert_false(has(words, "less", "songs"));
	arena_free(arena);
}

static void test_nothing_is_avoided_without_rejected_papers(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	yyjson_val *words = learned(arena, LIKED);
	assert_true(has(words, "more", "sparse attention"));
	assert_int_equal(yyjson_arr_size(json_get(words, "less")), 0);
	arena_free(arena);
}

/* A paper that was liked and saved is one paper. */
static void test_a_paper_with_two_signals_counts_once(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	const char *saved =
		"{\"arxiv_id\":\"2301.00003\",\"signal\":\"save\",\"title\":\"Long Contexts\","
		"\"abstract\":\"Where sparse attention helps a GPU: quixotic inputs.\"}";
	yyjson_val *words = learned(arena, arena_printf(arena, "%s,%s", LIKED, saved));
	assert_true(has(words, "more", "sparse attention"));
	assert_false(has(words, "more", "quixotic"));
	arena_free(arena);
}

static void test_too_little_feedback_says_nothing(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	assert_null(learned(arena, REJECTED + 1));
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_words_of_both_sides),
		cmocka_unit_test(test_nothing_is_avoided_without_rejected_papers),
		cmocka_unit_test(test_a_paper_with_two_signals_counts_once),
		cmocka_unit_test(test_too_little_feedback_says_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
