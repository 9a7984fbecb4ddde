#include "engine/lexical/proximity.h"

#include "corpus.h"
#include "engine/lexical/bm25.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A segment of one document for each abstract, all published on the same day; document i has
 * abstract i. */
static struct segment *segment_of(const char *const *abstracts, size_t count)
{
	struct builder *builder = builder_new(0);
	struct arena *arena = arena_new();
	for (size_t i = 0; i < count; i++) {
		struct document document = {.id = arena_printf(arena, "d%zu", i),
		                            .title = "",
		                            .abstract = abstracts[i]};
		add_document(builder, &document);
	}
	struct segment *segment = builder_finish(builder);
	builder_free(builder);
	arena_free(arena);
	return segment;
}

static const struct lexical_norms *norms_of(struct arena *arena, float average_length)
{
	struct lexical_norms *norms = arena_new_of(arena, struct lexical_norms);
	lexical_norms_set(norms, average_length);
	return norms;
}

static struct proximity_score score_one(struct arena *arena, const struct segment *segment,
                                        const char *text, uint32_t doc)
{
	struct parsed_query *query = query_parse(arena, text, strlen(text));
	for (size_t i = 0; i < query->term_count; i++)
		query->terms[i].idf = (float)(i + 1);
	for (size_t i = 0; i < query->term_count; i++)
		query->terms[i].smoothed_idf = 5;
	return proximity_score_document(proximity_scorer_new(segment, norms_of(arena, 6), query,
	                                                     arena),
	                                doc);
}

static void terms_score_as_bm25(void **state attr_unused)
{
	static const char *const abstracts[] = {"xray yoyo xray zulu quax quux"};
	struct segment *segment = segment_of(abstracts, 1);
	struct arena *arena = arena_new();
	struct proximity_score score = score_one(arena, segment, "xray zulu absent xray", 0);
	float norm = bm25_norm(6, 6);
	/* xray twice in the query with idf 1, zulu once with idf 2 */
	assert_true(fabsf(score.words - (2 * bm25_impact(2, norm) + 2 * bm25_impact(1, norm))) <
	            1e-5f);
	assert_true(fabsf(score.smoothed - (10 * bm25_impact(2, norm) + 5 * bm25_impact(1, norm))) <
	            1e-4f);
	assert_int_equal(score.matched, 3);
	score = score_one(arena, segment, "nothing here", 0);
	assert_true(score.words == 0 && score.pairs == 0);
	assert_int_equal(score.matched, 0);
	arena_free(arena);
	segment_free(segment);
}

static void nearer_pairs_score_more(void **state attr_unused)
{
	static const char *const abstracts[] = {
		"xray yoyo quax quux zulu zebra", /* adjacent */
		"xray quax yoyo quux zulu zebra", /* one word between */
		"yoyo xray quax quux zulu zebra", /* reverse order */
		"xray quax quux yoyo zulu zebra", /* too far */
		"xray quax quux zulu zebra yoyo", /* further */
		"quax xray quux zulu zebra zany", /* only one of the terms */
	};
	struct segment *segment = segment_of(abstracts, ARRAY_LEN(abstracts));
	struct arena *arena = arena_new();
	float pairs[ARRAY_LEN(abstracts)];
	for (uint32_t i = 0; i < ARRAY_LEN(abstracts); i++)
		pairs[i] = score_one(arena, segment, "xray yoyo", i).pairs;
	assert_true(pairs[0] > pairs[1]);
	assert_true(pairs[0] > pairs[2]);
	assert_true(pairs[1] > 0 && pairs[2] > 0);
	assert_true(pairs[3] == 0 && pairs[4] == 0 && pairs[5] == 0);
	arena_free(arena);
	segment_free(segment);
}

static void pairs_do_not_cross_fields(void **state attr_unused)
{
	struct builder *builder = builder_new(0);
	struct arena *arena = arena_new();
	struct document document = {.id = "a", .title = "quax xray", .abstract = "yoyo quux"};
	add_document(builder, &document);
	struct segment *segment = builder_finish(builder);
	assert_true(score_one(arena, segment, "xray yoyo", 0).pairs == 0);
	assert_true(score_one(arena, segment, "quax xray", 0).pairs > 0);
	assert_true(score_one(arena, segment, "xray xray", 0).pairs == 0);
	builder_free(builder);
	segment_free(segment);
	arena_free(arena);
}

static void scorer_can_score_many_documents(void **state attr_unused)
{
	struct segment *segment = sample_segment(51, 300, 60);
	struct arena *arena = arena_new();
	struct random_source noise = {52};
	const char *text = sample_text(arena, &noise, 40, 60);
	struct parsed_query *query = query_parse(arena, text, strlen(text));
	for (size_t i = 0; i < query->term_count; i++)
		query->terms[i].idf = 1;
	const struct lexical_norms *norms = norms_of(arena, 30);
	struct proximity_scorer *scorer = proximity_scorer_new(segment, norms, query, arena);
	for (uint32_t doc = 0; doc < segment->doc_count; doc++) {
		struct proximity_score first = proximity_score_document(scorer, doc);
		struct proximity_score fresh =
			proximity_score_document(proximity_scorer_new(segment, norms, query, arena),
		                                 doc);
		assert_true(first.words == fresh.words && first.pairs == fresh.pairs);
		assert_true(first.matched == fresh.matched);
	}
	arena_free(arena);
	segment_free(segment);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(terms_score_as_bm25),
		cmocka_unit_test(nearer_pairs_score_more),
		cmocka_unit_test(pairs_do_not_cross_fields),
		cmocka_unit_test(scorer_can_score_many_documents),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
