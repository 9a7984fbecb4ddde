#include "engine/vector/training.h"

#include "corpus.h"
#include "engine/text/mem.h"
#include "engine/vector/ivf.h"
#include "engine/vector/lsa.h"
#include "engine/vector/simd.h"
#include "engine/vector/vectors.h"
#include "trained.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Subjects of the generated papers, and the number of words that only one subject uses. */
#define SUBJECTS 4
#define WORDS    30

/* Papers of one subject each with a few of its words; two papers often share no word. */
static struct segment *subject_papers(uint32_t count)
{
	struct arena *arena = arena_new();
	struct random_source noise = {71};
	struct builder *builder = builder_new(0);
	for (uint32_t i = 0; i < count; i++) {
		struct buf buf = {.arena = arena};
		struct document document = {.id = arena_printf(arena, "s%u-%u", i % SUBJECTS, i),
		                            .title = ""};
		for (int word = 0; word < 8; word++)
			buf_printf(&buf, "%s ",
			           sample_word(arena,
			                       i % SUBJECTS * WORDS + random_below(&noise, WORDS)));
		document.abstract = buf.data;
		add_document(builder, &document);
	}
	struct segment *segment = builder_finish(builder);
	builder_free(builder);
	arena_free(arena);
	return segment;
}

static char subject_of(const struct segment *segment, uint32_t doc)
{
	return segment_doc_id(segment, doc)[1];
}

static void test_papers_of_one_subject_have_similar_vectors(void **state)
{
	struct segment *segment = subject_papers(400);
	struct embedder *embedder = train_on_segment(segment);
	struct vectors *vectors = vectors_make(embedder, segment, NULL, NULL);
	uint32_t dimension = embedder->header->dimension;
	double same = 0;
	double other = 0;
	size_t same_count = 0;
	size_t other_count = 0;
	(void)state;
	assert_true(dimension > SUBJECTS && dimension <= LSA_DIMENSION);
	float a[LSA_DIMENSION];
	float b[LSA_DIMENSION];
	for (uint32_t i = 0; i < segment->doc_count; i += 4) {
		vectors_get(vectors, i, a);
		assert_true(fabsf(simd_dot(a, a, dimension) - 1) < 0.05f);
		for (uint32_t j = 0; j < i; j += 4) {
			bool is_same = subject_of(segment, i) == subject_of(segment, j);
			vectors_get(vectors, j, b);
			*(is_same ? &same : &other) += simd_dot(a, b, dimension);
			(*(is_same ? &same_count : &other_count))++;
		}
	}
	assert_true(same / (double)same_count > 0.2);
	assert_true(fabs(other / (double)other_count) < 0.02);
	vectors_free(vectors);
	embedder_free(embedder);
	segment_free(segment);
}

static void test_a_word_finds_its_subject(void **state)
{
	struct segment *segment = subject_papers(400);
	struct embedder *embedder = train_on_segment(segment);
	struct vectors *vectors = vectors_make(embedder, segment, NULL, NULL);
	struct arena *arena = arena_new();
	struct doc_filter all = {NULL, segment->doc_count};
	(void)state;
	for (uint32_t subject = 0; subject < SUBJECTS; subject++) {
		const char *word = sample_word(arena, subject * WORDS + 7);
		float vector[LSA_DIMENSION];
		assert_true(
			embedder_embed(embedder, query_parse(arena, word, strlen(word)), vector));
		struct vector_query query =
			vector_query_make(vector, embedder->header->dimension, arena);
		struct hit hits[20];
		assert_int_equal(vectors_scan(vectors, &query, &all, 20, 0, hits), 20);
		for (size_t i = 0; i < 20; i++)
			assert_int_equal(subject_of(segment, hits[i].doc), '0' + (char)subject);
	}
	arena_free(arena);
	vectors_free(vectors);
	embedder_free(embedder);
	segment_free(segment);
}

static void test_training_is_reproducible(void **state)
{
	struct segment *segment = sample_segment(72, 300, 200);
	struct embedder *first = train_on_segment(segment);
	struct embedder *second = train_on_segment(segment);
	(void)state;
	assert_int_equal(first->header->length, second->header->length);
	assert_memory_equal(first->header, second->header, first->header->length);
	embedder_free(first);
	embedder_free(second);
	segment_free(segment);
}

static void test_too_small_a_corpus_trains_nothing(void **state)
{
	struct builder *builder = builder_new(0);
	struct segment *few = sample_segment(73, TRAINING_MIN_DOCS - 1, 50);
	struct arena *arena = arena_new();
	(void)state;
	assert_null(train_on_segment(few));
	for (uint32_t i = 0; i < 60; i++) {
		struct document document = {.id = arena_printf(arena, "n%u", i),
		                            .title = sample_word(arena, i),
		                            .abstract = ""};
		add_document(builder, &document);
	}
	struct segment *disjoint = builder_finish(builder);
	assert_null(train_on_segment(disjoint));
	builder_free(builder);
	segment_free(disjoint);
	segment_free(few);
	arena_free(arena);
}

static void test_equal_papers_can_be_trained_on(void **state)
{
	struct builder *builder = builder_new(0);
	struct arena *arena = arena_new();
	(void)state;
	for (uint32_t i = 0; i < 60; i++) {
		struct document document = {.id = arena_printf(arena, "e%u", i),
		                            .title = i % 2 ? "alpha beta gamma" : "delta zeta eta",
		                            .abstract =
		                                    i == 0 ? "" : "alpha zeta kappa lambda mu nu"};
		add_document(builder, &document);
	}
	struct segment *segment = builder_finish(builder);
	struct embedder *embedder = train_on_segment(segment);
	assert_non_null(embedder);
	uint32_t *map = embedder_map_terms(embedder, segment);
	struct term_frequency *terms = mem_array(EMBEDDER_DOC_TOKENS, sizeof(*terms));
	float vector[LSA_DIMENSION];
	for (uint32_t doc = 0; doc < segment->doc_count; doc++) {
		assert_true(embedder_embed_doc(embedder, segment, map, doc, terms, vector));
		for (uint32_t i = 0; i < embedder->header->dimension; i++)
			assert_true(isfinite(vector[i]));
	}
	assert_false(embedder_embed(embedder, query_parse(arena, "unknown", 7), vector));
	free(terms);
	free(map);
	embedder_free(embedder);
	builder_free(builder);
	segment_free(segment);
	arena_free(arena);
}

/* Fraction of the hits `a` that are also in `b`. */
static double overlap(const struct hit *a, size_t a_count, const struct hit *b, size_t b_count)
{
	size_t both = 0;
	for (size_t i = 0; i < a_count; i++)
		for (size_t j = 0; j < b_count; j++)
			both += a[i].doc == b[j].doc;
	return (double)both / (double)a_count;
}

static void test_the_inverted_file_finds_nearly_all(void **state)
{
	struct segment *segment = sample_segment(74, 6000, 2000);
	struct embedder *embedder = train_on_segment(segment);
	struct vectors *vectors = vectors_make(embedder, segment, NULL, NULL);
	struct vectors *ordered = vectors_make(embedder, segment, NULL, NULL);
	struct ivf *ivf = ivf_make_alone(ordered, 1000, NULL);
	struct doc_filter filter = {NULL, 5000};
	struct arena *arena = arena_new();
	struct random_source noise = {75};
	double sum = 0;
	(void)state;
	assert_non_null(ivf);
	assert_null(ivf_make_alone(vectors, 6001, NULL));
	assert_null(vectors->rows_by_doc);
	for (int round = 0; round < 30; round++) {
		float vector[LSA_DIMENSION];
		vectors_get(vectors, random_below(&noise, 6000), vector);
		if (!embedder_normalise(vector, embedder->header->dimension))
			continue;
		struct vector_query query =
			vector_query_make(vector, embedder->header->dimension, arena);
		struct hit found[10];
		size_t count = ivf_search(ivf, ordered, NULL, &query, &filter, 10, 0, arena, found);
		for (size_t i = 0; i < count; i++)
			assert_true(found[i].doc < 5000);
		struct hit scanned[10];
		assert_int_equal(vectors_scan(vectors, &query, &filter, 10, 0, scanned), 10);
		sum += overlap(scanned, 10, found, count);
	}
	assert_true(sum / 30 > 0.7);
	arena_free(arena);
	ivf_free(ivf);
	ivf_free(NULL);
	vectors_free(ordered);
	vectors_free(vectors);
	embedder_free(embedder);
	segment_free(segment);
}

static void test_the_rows_are_in_the_order_of_the_lists(void **state)
{
	struct segment *segment = sample_segment(76, 300, 200);
	struct embedder *embedder = train_on_segment(segment);
	struct vectors *vectors = vectors_make(embedder, segment, NULL, NULL);
	struct vectors *ordered = vectors_make(embedder, segment, NULL, NULL);
	struct ivf *ivf = ivf_make_alone(ordered, 1, NULL);
	(void)state;
	for (uint32_t row = 0; row < 300; row++) {
		uint32_t doc = ivf->docs[row];
		float vector[LSA_DIMENSION];
		float before[LSA_DIMENSION];
		assert_int_equal(vectors_row_number(ordered, doc), row);
		assert_int_equal(vectors_has(ordered, doc), vectors_has(vectors, doc));
		vectors_get(ordered, doc, vector);
		vectors_get(vectors, doc, before);
		assert_memory_equal(vector, before, embedder->header->dimension * sizeof(float));
	}
	ivf_free(ivf);
	vectors_free(ordered);
	vectors_free(vectors);
	embedder_free(embedder);
	segment_free(segment);
}

static void test_known_lists_do_not_change_the_inverted_file(void **state)
{
	struct segment *segment = sample_segment(77, 300, 200);
	struct embedder *embedder = train_on_segment(segment);
	struct vectors *vectors = vectors_make(embedder, segment, NULL, NULL);
	struct vectors *again = vectors_make(embedder, segment, NULL, NULL);
	struct ivf *ivf = ivf_make_alone(vectors, 1, NULL);
	uint32_t *lists = ivf_lists(ivf);
	(void)state;
	for (uint32_t doc = 0; doc < 300; doc += 3)
		lists[doc] = SEGMENT_NONE;
	struct ivf *same = ivf_make(again, &ivf->own, lists, NULL);
	assert_memory_equal(same->starts, ivf->starts,
	                    (ivf->header->list_count + 1) * sizeof(uint32_t));
	assert_memory_equal(same->docs, ivf->docs, 300 * sizeof(uint32_t));
	assert_memory_equal(again->header, vectors->header, vectors->header->length);
	ivf_free(same);
	ivf_free(ivf);
	free(lists);
	vectors_free(again);
	vectors_free(vectors);
	embedder_free(embedder);
	segment_free(segment);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_papers_of_one_subject_have_similar_vectors),
		cmocka_unit_test(test_a_word_finds_its_subject),
		cmocka_unit_test(test_training_is_reproducible),
		cmocka_unit_test(test_too_small_a_corpus_trains_nothing),
		cmocka_unit_test(test_equal_papers_can_be_trained_on),
		cmocka_unit_test(test_the_inverted_file_finds_nearly_all),
		cmocka_unit_test(test_the_rows_are_in_the_order_of_the_lists),
		cmocka_unit_test(test_known_lists_do_not_change_the_inverted_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
