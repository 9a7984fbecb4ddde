#include "engine/lexical/builder.h"

#include "corpus.h"
#include "engine/lexical/bm25.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Enough that posting lists have many blocks. */
#define DOCUMENTS 1500

/* The weighted frequency of `term` in `doc`, counted in the forward record. */
static uint32_t frequency_of(const struct segment *segment, uint32_t doc, uint32_t term)
{
	struct forward forward = segment_forward(segment, doc);
	uint32_t count = forward_count(&forward);
	uint32_t frequency = 0;
	for (uint32_t i = 0; i < count; i++)
		if (forward_next(&forward) == term)
			frequency += forward_weight(&forward, i);
	return MIN_OF(frequency, (uint32_t)BM25_MAX_FREQUENCY);
}

/* Assert that the postings of `term` match the forward records, and the headers of its blocks the
 * postings. A single block has none. */
static void check_list(const struct segment *segment, uint32_t term)
{
	const struct segment_term *entry = &segment->terms[term];
	const struct posting_block *blocks = segment_blocks(segment, term);
	uint32_t next = 0;
	assert_int_equal(blocks != NULL, segment_block_count(entry) > 1);
	for (uint32_t b = 0; b < segment_block_count(entry); b++) {
		uint32_t docs[POSTINGS_BLOCK];
		uint8_t frequencies[POSTINGS_BLOCK];
		uint32_t count = segment_unpack_block(segment, term, b, docs, frequencies);
		assert_true(!blocks || docs[count - 1] == blocks[b].last_doc);
		for (uint32_t i = 0; i < count; i++) {
			float norm = bm25_norm((float)segment->lengths[docs[i]],
			                       segment->header->average_length);
			for (; next < docs[i]; next++)
				assert_int_equal(frequency_of(segment, next, term), 0);
			next = docs[i] + 1;
			assert_int_equal(frequencies[i], frequency_of(segment, docs[i], term));
			assert_true(!blocks ||
			            bm25_impact(frequencies[i], norm) <= blocks[b].max_impact);
		}
	}
	for (; next < segment->doc_count; next++)
		assert_int_equal(frequency_of(segment, next, term), 0);
}

static void posting_lists_match_the_forward_records(void **state attr_unused)
{
	struct segment *segment = sample_segment(3, DOCUMENTS, 400);
	assert_int_equal(segment->doc_count, DOCUMENTS);
	for (uint32_t term = 0; term < segment->term_count; term += 7)
		check_list(segment, term);
	for (uint32_t term = 1; term < segment->term_count; term++)
		assert_true(segment->terms[term].df <= segment->terms[term - 1].df);
	segment_free(segment);
}

static void documents_keep_their_properties(void **state attr_unused)
{
	struct segment *segment = sample_segment(4, DOCUMENTS, 400);
	struct arena *arena = arena_new();
	struct random_source noise = {4};
	for (uint32_t i = 0; i < DOCUMENTS; i++) {
		struct document made = sample_document(arena, &noise, i, 400);
		uint32_t doc = segment_find_doc(segment, made.id);
		assert_true(doc < segment->doc_count);
		assert_string_equal(segment_doc_id(segment, doc), made.id);
		assert_int_equal(segment->docs[doc].published, made.published);
		assert_int_equal(segment->docs[doc].has_container, made.has_container);
		assert_int_equal(segment->docs[doc].seq, i + 1);
		assert_int_equal(segment->docs[doc].category_count, made.category_count);
		assert_string_equal(segment_category_name(
					    segment,
					    segment->category_list[segment->docs[doc].categories]),
		                    made.categories[0]);
	}
	assert_int_equal(segment_find_doc(segment, "absent"), SEGMENT_NONE);
	assert_int_equal(segment_find_doc(segment, ""), SEGMENT_NONE);
	assert_int_equal(segment_find_term(segment, "absent", 6), SEGMENT_NONE);
	for (uint32_t doc = 1; doc < DOCUMENTS; doc++)
		assert_true(segment->docs[doc - 1].published >= segment->docs[doc].published);
	assert_int_equal(segment->header->max_seq, DOCUMENTS);
	arena_free(arena);
	segment_free(segment);
}

static void published_since_bounds_the_newer_documents(void **state attr_unused)
{
	struct segment *segment = sample_segment(5, 500, 50);
	for (int32_t day = -1; day <= 301; day++) {
		uint32_t since = segment_published_since(segment, day);
		uint32_t count = 0;
		for (uint32_t doc = 0; doc < segment->doc_count; doc++)
			count += segment->docs[doc].published >= day;
		assert_int_equal(since, count);
	}
	segment_free(segment);
}

static void documents_copied_from_a_segment_are_equal(void **state attr_unused)
{
	struct segment *first = sample_segment(6, 700, 300);
	struct builder *builder = builder_new(0);
	for (uint32_t doc = first->doc_count; doc-- > 0;)
		builder_add_from(builder, first, doc, NULL, 0, SEGMENT_NONE);
	struct segment *second = builder_finish(builder);
	assert_int_equal(second->doc_count, 700);
	assert_int_equal(second->term_count, first->term_count);
	for (uint32_t term = 0; term < second->term_count; term += 11)
		check_list(second, term);
	for (uint32_t doc = 0; doc < 700; doc++) {
		assert_string_equal(segment_doc_id(second, doc), segment_doc_id(first, doc));
		assert_int_equal(second->lengths[doc], first->lengths[doc]);
		assert_int_equal(second->docs[doc].category_count, first->docs[doc].category_count);
	}
	assert_true(second->header->average_length == first->header->average_length);
	builder_free(builder);
	segment_free(second);
	segment_free(first);
}

/* Some papers are in both segments, and some of these are added once more. */
static void segments_and_new_documents_are_merged(void **state attr_unused)
{
	struct arena *arena = arena_new();
	struct random_source noise = {9};
	struct segment *first = sample_segment(6, 700, 300);
	struct segment *second = sample_segment(7, 1000, 400);
	struct builder *builder = builder_new(0);
	for (uint32_t doc = 0; doc < first->doc_count; doc++)
		builder_add_from(builder, first, doc, NULL, 0, SEGMENT_NONE);
	for (uint32_t i = 600; i < DOCUMENTS; i++) {
		struct document document = sample_document(arena, &noise, i, 500);
		add_document(builder, &document);
	}
	for (uint32_t doc = 0; doc < second->doc_count; doc += 2)
		builder_add_from(builder, second, doc, NULL, 0, SEGMENT_NONE);
	struct segment *merged = builder_finish(builder);
	assert_int_equal(merged->doc_count, DOCUMENTS);
	for (uint32_t term = 0; term < merged->term_count; term++)
		check_list(merged, term);
	for (uint32_t doc = 0; doc < second->doc_count; doc += 2) {
		uint32_t found = segment_find_doc(merged, segment_doc_id(second, doc));
		struct forward before = segment_forward(second, doc);
		struct forward after = segment_forward(merged, found);
		uint32_t count = forward_count_all(&before);
		assert_int_equal(forward_count_all(&after), count);
		for (; count > 0; count--)
			assert_string_equal(segment_term_text(merged, forward_next(&after)),
			                    segment_term_text(second, forward_next(&before)));
	}
	builder_free(builder);
	segment_free(merged);
	segment_free(second);
	segment_free(first);
	arena_free(arena);
}

/* Papers of which some are there twice, read by a number of threads. */
static struct segment *read_by(int threads)
{
	struct arena *arena = arena_new();
	struct random_source noise = {8};
	struct document *documents = arena_array(arena, DOCUMENTS, sizeof(*documents));
	const struct document **list = arena_array(arena, DOCUMENTS, sizeof(*list));
	struct analyzer *analyzer = analyzer_new(threads);
	struct builder *builder = builder_new(0);
	for (uint32_t i = 0; i < DOCUMENTS; i++) {
		documents[i] = sample_document(arena, &noise, i % (DOCUMENTS - 40), 400);
		documents[i].seq = i % 3 == 0 ? 0 : i;
		list[i] = &documents[i];
	}
	builder_set_analyzer(builder, analyzer);
	builder_add_all(builder, list, DOCUMENTS);
	struct segment *segment = builder_finish(builder);
	builder_free(builder);
	analyzer_free(analyzer);
	arena_free(arena);
	return segment;
}

static void threads_do_not_change_the_segment(void **state attr_unused)
{
	struct segment *alone = read_by(1);
	for (int threads = 2; threads <= 5; threads += 3) {
		struct segment *together = read_by(threads);
		assert_int_equal(together->header->length, alone->header->length);
		assert_memory_equal(together->header, alone->header, alone->header->length);
		segment_free(together);
	}
	assert_int_equal(alone->doc_count, DOCUMENTS - 40);
	segment_free(alone);
}

static void an_analyzer_serves_one_builder_after_another(void **state attr_unused)
{
	struct analyzer *analyzer = analyzer_new(1);
	static const char *const titles[] = {"sparse attention", "attention kernels"};
	for (size_t i = 0; i < ARRAY_LEN(titles); i++) {
		struct builder *builder = builder_new(0);
		struct document document = {.id = "x", .title = titles[i], .abstract = ""};
		builder_set_analyzer(builder, analyzer);
		add_document(builder, &document);
		struct segment *segment = builder_finish(builder);
		assert_true(segment_find_term(segment, "attent", 6) != SEGMENT_NONE);
		assert_int_equal(segment_find_term(segment, "spars", 5) != SEGMENT_NONE, i == 0);
		segment_free(segment);
		builder_free(builder);
	}
	analyzer_free(analyzer);
}

static void greatest_change_sequence_number_wins(void **state attr_unused)
{
	struct builder *builder = builder_new(0);
	struct document document = {.id = "2103.00020",
	                            .title = "first words",
	                            .abstract = "",
	                            .seq = 5};
	add_document(builder, &document);
	document.title = "later state";
	document.seq = 9;
	add_document(builder, &document);
	document.title = "stale news";
	document.seq = 7;
	add_document(builder, &document);
	struct segment *segment = builder_finish(builder);
	assert_int_equal(segment->doc_count, 1);
	assert_int_equal(segment->docs[0].seq, 9);
	assert_true(segment_find_term(segment, "later", 5) != SEGMENT_NONE);
	assert_int_equal(segment_find_term(segment, "first", 5), SEGMENT_NONE);
	assert_int_equal(segment_find_term(segment, "stale", 5), SEGMENT_NONE);
	assert_true(segment_find_term(segment, "2103.00020", 10) != SEGMENT_NONE);
	builder_free(builder);
	segment_free(segment);
}

static void empty_segments_are_valid(void **state attr_unused)
{
	struct builder *builder = builder_new(0);
	struct segment *segment = builder_finish(builder);
	struct document document = {.id = "x", .title = "", .abstract = "the of and"};
	assert_int_equal(segment->doc_count, 0);
	assert_int_equal(segment->term_count, 0);
	assert_int_equal(segment_find_doc(segment, "x"), SEGMENT_NONE);
	assert_int_equal(segment_published_since(segment, 0), 0);
	segment_free(segment);
	builder_free(builder);
	builder = builder_new(0);
	add_document(builder, &document);
	segment = builder_finish(builder);
	assert_int_equal(segment->lengths[0], 0);
	segment_free(segment);
	builder_free(builder);
	builder_free(NULL);
	segment_free(NULL);
}

static void long_documents_are_limited(void **state attr_unused)
{
	struct builder *builder = builder_new(0);
	struct arena *arena = arena_new();
	struct random_source noise = {1};
	const char *categories[DOCUMENT_MAX_CATEGORIES + 8];
	struct document document = {.id = "long", .title = "", .categories = categories};
	document.category_count = ARRAY_LEN(categories);
	for (size_t i = 0; i < ARRAY_LEN(categories); i++)
		categories[i] = arena_printf(arena, "c.%zu", i);
	document.abstract = sample_text(arena, &noise, 20000, 10);
	add_document(builder, &document);
	struct segment *segment = builder_finish(builder);
	assert_int_equal(segment->lengths[0], SEGMENT_MAX_LENGTH);
	assert_int_equal(segment->docs[0].category_count, DOCUMENT_MAX_CATEGORIES);
	for (uint32_t term = 0; term < segment->term_count; term++)
		check_list(segment, term);
	builder_free(builder);
	segment_free(segment);
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(posting_lists_match_the_forward_records),
		cmocka_unit_test(documents_keep_their_properties),
		cmocka_unit_test(published_since_bounds_the_newer_documents),
		cmocka_unit_test(documents_copied_from_a_segment_are_equal),
		cmocka_unit_test(segments_and_new_documents_are_merged),
		cmocka_unit_test(threads_do_not_change_the_segment),
		cmocka_unit_test(an_analyzer_serves_one_builder_after_another),
		cmocka_unit_test(greatest_change_sequence_number_wins),
		cmocka_unit_test(empty_segments_are_valid),
		cmocka_unit_test(long_documents_are_limited),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
