#include "engine/lexical/lexical.h"

#include "corpus.h"
#include "engine/lexical/bm25.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Several windows of the search; the last one is not full. */
#define DOCUMENTS 7001

/* The score of every document, computed from the forward records. */
static float *score_all(const struct segment *segment, const struct lexical_norms *norms,
                        const struct lexical_term *terms, size_t count)
{
	float *scores = calloc(segment->doc_count, sizeof(float));
	for (uint32_t doc = 0; doc < segment->doc_count; doc++) {
		struct forward forward = segment_forward(segment, doc);
		uint32_t tokens = forward_count(&forward);
		uint32_t frequencies[16] = {0};
		for (uint32_t i = 0; i < tokens; i++) {
			uint32_t term = forward_next(&forward);
			for (size_t t = 0; t < count; t++)
				if (terms[t].term == term)
					frequencies[t] += forward_weight(&forward, i);
		}
		for (size_t t = 0; t < count; t++)
			if (frequencies[t] > 0)
				scores[doc] +=
					rintf(terms[t].weight *
				              bm25_impact((float)frequencies[t],
				                          norms->by_length[segment->lengths[doc]]));
	}
	return scores;
}

static size_t count_above(const struct segment *segment, const float *scores,
                          const struct doc_filter *filter, float than)
{
	size_t count = 0;
	for (uint32_t doc = 0; doc < segment->doc_count; doc++)
		count += doc_filter_allows(filter, doc) && scores[doc] > than;
	return count;
}

/* Assert that the hits are those of exhaustive scoring: the same scores, in order, and no better
 * document is missing, of equal ones none with a lower number. */
static void check(const struct segment *segment, const struct lexical_query *query)
{
	struct arena *arena = arena_new();
	const struct doc_filter *filter = query->filter;
	struct hit *hits = arena_array(arena, query->k, sizeof(*hits));
	size_t found = lexical_search(segment, query, arena, hits);
	float *scores = score_all(segment, query->norms, query->terms, query->count);
	assert_int_equal(found,
	                 MIN_OF(query->k, count_above(segment, scores, filter, query->floor)));
	for (size_t i = 0; i < found; i++) {
		assert_true(doc_filter_allows(filter, hits[i].doc));
		assert_true(hits[i].score == scores[hits[i].doc]);
		assert_true(i == 0 || hits[i - 1].score > hits[i].score ||
		            hits[i - 1].doc < hits[i].doc);
		scores[hits[i].doc] = 0;
	}
	for (uint32_t doc = 0; found == query->k && doc < segment->doc_count; doc++)
		assert_true(!doc_filter_allows(filter, doc) ||
		            scores[doc] < hits[found - 1].score ||
		            (scores[doc] == hits[found - 1].score && doc > hits[found - 1].doc));
	free(scores);
	arena_free(arena);
}

static size_t pick_terms(const struct segment *segment, struct random_source *noise,
                         struct lexical_term *terms, size_t most)
{
	size_t count = 1 + random_below(noise, (uint32_t)most);
	uint32_t at = 0;
	float sum = 0;
	for (size_t i = 0; i < count; i++) {
		at += 1 + random_below(noise, i % 2 == 0 ? 30 : segment->term_count / 12);
		terms[i].term = MIN_OF(at, segment->term_count - (uint32_t)(count - i));
		terms[i].weight = 0.1f + (float)random_below(noise, 100) / 10;
		sum += terms[i].weight;
	}
	for (size_t i = 0; i < count; i++)
		terms[i].weight *= lexical_scale(sum);
	return count;
}

static uint64_t *pick_bits(const struct segment *segment, struct random_source *noise,
                           uint32_t one_in)
{
	uint64_t *bits = calloc(segment->doc_count / 64 + 1, sizeof(uint64_t));
	for (uint32_t doc = 0; doc < segment->doc_count; doc++)
		if (random_below(noise, one_in) == 0)
			bits[doc / 64] |= UINT64_C(1) << (doc % 64);
	return bits;
}

static void hits_match_exhaustive_scoring(void **state attr_unused)
{
	struct segment *segment = sample_segment(11, DOCUMENTS, 3000);
	struct random_source noise = {12};
	struct lexical_norms norms;
	for (int round = 0; round < 120; round++) {
		struct lexical_term terms[10];
		struct doc_filter filter = {NULL, segment->doc_count};
		struct lexical_query query = {
			.terms = terms,
			.count = pick_terms(segment, &noise, terms, 10),
			.norms = &norms,
			.filter = &filter,
			.floor = round % 5 == 0 ? (float)random_below(&noise, 1000000) : 0,
			.k = 1 + random_below(&noise, 40),
		};
		/* The index may have longer or shorter documents than the segment. */
		lexical_norms_set(&norms, segment->header->average_length *
		                                  (0.5f + (float)(round % 7) * 0.25f));
		uint64_t *bits = NULL;
		if (round % 3 == 1)
			filter.bits = bits =
				pick_bits(segment, &noise, 1 + random_below(&noise, 1000));
		if (round % 4 == 1)
			filter.below = random_below(&noise, segment->doc_count);
		check(segment, &query);
		free(bits);
	}
	segment_free(segment);
}

static void equal_scores_rank_the_newer_first(void **state attr_unused)
{
	struct builder *builder = builder_new(0);
	struct arena *arena = arena_new();
	struct doc_filter filter = {NULL, 500};
	struct lexical_term term = {.weight = 1};
	for (uint32_t i = 0; i < 500; i++) {
		struct document document = {.id = arena_printf(arena, "p%03u", i),
		                            .title = "same words",
		                            .abstract = "",
		                            .published = (int32_t)i / 2};
		add_document(builder, &document);
	}
	struct segment *segment = builder_finish(builder);
	term.term = segment_find_term(segment, "word", 4);
	term.weight = lexical_scale(1);
	struct hit hits[20];
	struct lexical_norms norms;
	lexical_norms_set(&norms, segment->header->average_length);
	struct lexical_query query = {&term, 1, &norms, &filter, 0, 20};
	assert_int_equal(lexical_search(segment, &query, arena, hits), 20);
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(hits[i].doc, i);
	assert_string_equal(segment_doc_id(segment, hits[0].doc), "p498");
	assert_string_equal(segment_doc_id(segment, hits[1].doc), "p499");
	builder_free(builder);
	segment_free(segment);
	arena_free(arena);
}

static void no_terms_or_no_documents_give_no_hits(void **state attr_unused)
{
	struct segment *segment = sample_segment(13, 100, 50);
	struct arena *arena = arena_new();
	struct doc_filter filter = {NULL, segment->doc_count};
	struct doc_filter none = {NULL, 0};
	uint64_t zeros[2] = {0, 0};
	struct doc_filter empty = {zeros, segment->doc_count};
	struct lexical_term term = {0, 1};
	struct hit hits[5];
	struct lexical_norms norms;
	lexical_norms_set(&norms, segment->header->average_length);
	struct lexical_query query = {NULL, 0, &norms, &filter, 0, 5};
	assert_int_equal(lexical_search(segment, &query, arena, hits), 0);
	query = (struct lexical_query){&term, 1, &norms, &none, 0, 5};
	assert_int_equal(lexical_search(segment, &query, arena, hits), 0);
	query.filter = &empty;
	assert_int_equal(lexical_search(segment, &query, arena, hits), 0);
	arena_free(arena);
	segment_free(segment);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hits_match_exhaustive_scoring),
		cmocka_unit_test(equal_scores_rank_the_newer_first),
		cmocka_unit_test(no_terms_or_no_documents_give_no_hits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
