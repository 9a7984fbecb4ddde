#include "preference/stored_scores.h"

#include "corpus.h"
#include "preference/scorer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Three scores in no order. */
static struct buf write_three(struct arena *arena)
{
	static const struct stored_score three[] = {
		{"2307.08691", 9, false, 0.1},
		{"10.1101/2026.11.01.123456", INT64_C(1) << 60, true, 1},
		{"2205.14135", 812, true, 1.0 / 3},
	};
	struct stored_scores scores = {arena_memdup(arena, three, sizeof(three)), 3, 0.25};
	return stored_scores_write(arena, &scores);
}

static void test_a_score_is_that_of_one_version(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct buf out = write_three(arena);
	struct stored_scores scores = stored_scores_read(arena, out.data, out.length);
	assert_true(scores.trust == 0.25);
	assert_true(stored_scores_find(&scores, "2205.14135", 812, true) == 1.0 / 3);
	assert_true(stored_scores_find(&scores, "2307.08691", 9, false) == 0.1);
	assert_true(stored_scores_find(&scores, "10.1101/2026.11.01.123456", INT64_C(1) << 60,
	                               true) == 1);
	assert_true(isnan(stored_scores_find(&scores, "2205.14135", 813, true)));
	assert_true(isnan(stored_scores_find(&scores, "2205.14135", 811, true)));
	assert_true(isnan(stored_scores_find(&scores, "2205.14135", 812, false)));
	assert_true(isnan(stored_scores_find(&scores, "2205.14136", 812, true)));
	arena_free(arena);
}

static void test_damaged_bytes_give_no_scores(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct buf out = write_three(arena);
	assert_int_equal(stored_scores_read(arena, NULL, 0).count, 0);
	for (size_t length = 0; length < out.length; length++) {
		const char *part = arena_memdup(arena, out.data, length);
		assert_int_equal(stored_scores_read(arena, part, length).count, 0);
	}
	buf_add(&out, "", 1);
	struct stored_scores none = stored_scores_read(arena, out.data, out.length);
	assert_int_equal(none.count, 0);
	assert_true(isnan(stored_scores_find(&none, "2205.14135", 812, true)));
	arena_free(arena);
}

/* A model that no fit is needed for: the prior. */
static struct buf make_model(struct arena *arena)
{
	struct paper_list papers = papers_read(arena, papers_of_both(arena, 0, 20, ""), 0);
	const struct bag **bags = papers_make_bags(arena, word_splitter_new(arena), papers);
	struct frequency_table *frequencies = frequency_table_new(arena, bags, papers.count);
	struct preference_input input = {
		.frequencies = frequencies,
		.background = papers_make_features(arena, frequencies, papers),
		.background_count = papers.count,
	};
	input.interest = input.background[0];
	return preference_save(arena, preference_prior(arena, &input));
}

/* What a saved model gives to a paper is stored under this version. Where it changes, and not only
 * the making of the prior, PREFERENCE_SCORING is to be raised. */
static void test_scores_of_this_version(void **state)
{
	(void)state;
	struct arena *arena = arena_new();
	struct buf model = make_model(arena);
	struct interest interest = {.name = "",
	                            .context = "",
	                            .model = model.data,
	                            .model_length = model.length};
	struct paper_list papers = papers_read(
		arena,
		"[{\"arxiv_id\": \"1\", \"title\": \"Re-ranking aqbzb with aqczk caches\", "
		"\"abstract\": "
		"\"The aqbzb models: aqdzb, aqfzm and 3 others.\", \"categories\": [\"cs.LG\"], "
		"\"vector\": \"AQL+\", \"scale\": 0.5, \"model\": \"m\"}]",
		0);
	struct scorer *scorer = scorer_new(arena, &interest, papers);
	assert_true(scorer->is_stored);
	assert_int_equal(PREFERENCE_SCORING, 1);
	assert_float_equal(scorer_score(scorer, &papers.papers[0]), 0.130271, 1e-6);
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_score_is_that_of_one_version),
		cmocka_unit_test(test_damaged_bytes_give_no_scores),
		cmocka_unit_test(test_scores_of_this_version),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
