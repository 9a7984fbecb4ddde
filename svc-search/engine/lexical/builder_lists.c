/* The posting lists of a segment. Those of new documents are made from their forward records; those
 * of documents of other segments are taken from the lists of these, with the new document
 * numbers. */
#include "engine/lexical/bm25.h"
#include "engine/lexical/builder_internal.h"
#include "engine/lexical/postings.h"
#include "engine/text/cancel.h"
#include "engine/text/mem.h"

#include <string.h>

/* Unpacked postings of new documents in memory at a time: 160 MB at 5 bytes each. */
#define POSTINGS_PER_BATCH (32u << 20)

/* Unpacked postings of new documents, of the terms from `first` up to, not including, `last`. */
struct new_lists {
	uint32_t first;
	uint32_t last;
	/* where the list of term `first` + i begins; NULL: there are no new documents */
	size_t *starts;
	size_t *ends; /* where its next posting is to be written */
	uint32_t *docs;
	uint8_t *frequencies;
};

/* A term of a source. */
struct source_term {
	uint32_t source;
	uint32_t term;
};

/* The terms of the sources by new term number. */
struct source_terms {
	size_t *starts; /* where those of a term start in `items`, and the end */
	struct source_term *items;
};

/* Postings that are added in any order and taken in the order of documents. */
struct posting_set {
	uint64_t *documents;  /* a bit for each document */
	uint64_t *words;      /* a bit for each word of `documents` that is not 0 */
	size_t word_count;    /* of `words` */
	uint8_t *frequencies; /* by document */
};

/* The list that is being written. */
struct list {
	struct writer *writer;
	struct segment_term *term;
	const float *norms; /* by weighted length */
	uint32_t base;      /* the document after the last one of the blocks before */
	size_t count;       /* of the postings of the next block */
	uint32_t docs[POSTINGS_BLOCK];
	uint8_t frequencies[POSTINGS_BLOCK];
};

/* --- Writing ---------------------------------------------------------------------------------- */

static size_t postings_length(const struct writer *writer)
{
	return blob_length(writer) - writer->header.sections[SECTION_POSTINGS].offset;
}

static struct list open_list(struct writer *writer, const float *norms, uint32_t number)
{
	struct segment_term *term = &writer->terms[number];
	term->data = postings_length(writer);
	if (segment_block_count(term) > 1) {
		size_t first = writer->blocks.length / sizeof(struct posting_block);
		require(first <= UINT32_MAX);
		bytes_add(&writer->first_blocks, &(uint32_t){(uint32_t)first}, sizeof(uint32_t));
	}
	return (struct list){.writer = writer, .term = term, .norms = norms};
}

static float max_impact(const struct list *list)
{
	float max = 0;
	for (size_t i = 0; i < list->count; i++) {
		float norm = list->norms[list->writer->lengths[list->docs[i]]];
		max = MAX_OF(max, bm25_impact(list->frequencies[i], norm));
	}
	return max;
}

/* Add the header of the block that is to be written next. */
static void add_block(struct list *list)
{
	struct writer *writer = list->writer;
	struct posting_block block = {
		.last_doc = list->docs[list->count - 1],
		.offset = (uint32_t)(postings_length(writer) - list->term->data),
		.max_impact = max_impact(list),
	};
	bytes_add(&writer->blocks, &block, sizeof(block));
}

/* Write the postings that were added, if there are any, as a block. */
static void write_block(struct list *list)
{
	struct writer *writer = list->writer;
	if (list->count == 0)
		return;
	if (segment_block_count(list->term) > 1)
		add_block(list);
	bytes_reserve(&writer->blob, POSTINGS_BLOCK_MAX_BYTES);
	writer->blob.length += postings_pack(list->docs, list->frequencies, list->count, list->base,
	                                     writer->blob.data + writer->blob.length);
	list->base = list->docs[list->count - 1] + 1;
	list->count = 0;
}

/* Add a posting, in the order of documents. */
static inline void list_add(struct list *list, uint32_t doc, uint8_t frequency)
{
	list->docs[list->count] = doc;
	list->frequencies[list->count++] = frequency;
	if (list->count == POSTINGS_BLOCK)
		write_block(list);
}

/* --- Postings of new documents ---------------------------------------------------------------- */

/* Add the weights of the next `count` terms of a record to their frequencies. Returns the end of
 * `terms`, to which it appends those that the document has not had yet. */
static uint32_t *count_run(struct forward *forward, uint32_t count, uint32_t weight,
                           uint16_t *frequencies, uint32_t *terms)
{
	for (; count > 0; count--) {
		uint32_t term = forward_next(forward);
		uint32_t sum = frequencies[term] + weight;
		*terms = term;
		terms += frequencies[term] == 0;
		frequencies[term] = (uint16_t)MIN_OF(sum, BM25_MAX_FREQUENCY);
	}
	return terms;
}

/* Add the postings of one document to the lists. `frequencies` is scratch memory by term; it is all
 * zero before and after. `terms` has room for the terms of the record and one more. */
static void scatter_doc(const struct writer *writer, struct new_lists *lists, uint32_t doc,
                        uint16_t *frequencies, uint32_t *terms)
{
	const uint8_t *records =
		writer->blob.data + writer->header.sections[SECTION_FORWARD].offset;
	struct forward forward = forward_open(records + writer->docs[doc].forward);
	uint32_t runs[RUN_COUNT] = {forward.title_count, forward.abstract_count,
	                            forward.title_extra_count, forward.abstract_extra_count,
	                            forward.author_count};
	static const uint32_t weights[RUN_COUNT] = {BM25_TITLE_WEIGHT, 1, BM25_TITLE_WEIGHT, 1,
	                                            BM25_AUTHOR_WEIGHT};
	uint32_t *end = terms;
	for (size_t i = 0; i < RUN_COUNT; i++)
		end = count_run(&forward, runs[i], weights[i], frequencies, end);
	for (; terms < end; terms++) {
		uint16_t frequency = frequencies[*terms];
		frequencies[*terms] = 0;
		if (*terms < lists->first || *terms >= lists->last)
			continue;
		size_t at = lists->ends[*terms - lists->first]++;
		lists->docs[at] = doc;
		lists->frequencies[at] = (uint8_t)frequency;
	}
}

/* The lists of as many terms from `first` on as fit into one batch. */
static struct new_lists new_lists_make(const struct writer *writer, uint32_t first)
{
	uint32_t term_count = writer->header.term_count;
	struct new_lists lists = {.first = first, .last = term_count};
	size_t total = 0;
	if (writer->builder->share_count == 0)
		return lists;
	lists.last = first;
	lists.starts = mem_array(term_count - first, sizeof(size_t));
	lists.ends = mem_array(term_count - first, sizeof(size_t));
	while (lists.last < term_count && (total == 0 || total < POSTINGS_PER_BATCH)) {
		lists.starts[lists.last - first] = lists.ends[lists.last - first] = total;
		total += writer->new_df[writer->by_rank[lists.last++]];
	}
	lists.docs = mem_array(total, sizeof(uint32_t));
	lists.frequencies = mem_array(total, 1);
	mem_auto_free uint16_t *frequencies = mem_array(term_count, sizeof(uint16_t));
	mem_auto_free uint32_t *terms = mem_array(term_count + (size_t)1, sizeof(uint32_t));
	for (uint32_t doc = 0; doc < writer->header.doc_count; doc++)
		if (writer->order[doc]->source == 0)
			scatter_doc(writer, &lists, doc, frequencies, terms);
	return lists;
}

static void new_lists_done(struct new_lists *lists)
{
	free(lists->starts);
	free(lists->ends);
	free(lists->docs);
	free(lists->frequencies);
}

/* --- Postings of sources ---------------------------------------------------------------------- */

static struct source_terms source_terms_make(const struct writer *writer)
{
	const struct builder *builder = writer->builder;
	uint32_t term_count = writer->header.term_count;
	/* Terms that no document has any more are number 0, even if there is no term. */
	struct source_terms terms = {.starts = mem_array((size_t)term_count + 3, sizeof(size_t))};
	size_t *ends =
		terms.starts + 1; /* of each term; where it starts until `items` are filled */
	for (size_t i = 0; i < builder->source_count; i++)
		for (uint32_t term = 0; term < builder->sources[i].segment->term_count; term++)
			ends[builder->sources[i].terms[term] + 1]++;
	for (uint32_t term = 0; term < term_count; term++)
		ends[term + 1] += ends[term];
	terms.items = mem_array(ends[MAX_OF(term_count, 1u)], sizeof(*terms.items));
	for (size_t i = 0; i < builder->source_count; i++)
		for (uint32_t term = 0; term < builder->sources[i].segment->term_count; term++)
			terms.items[ends[builder->sources[i].terms[term]]++] =
				(struct source_term){(uint32_t)i, term};
	for (size_t i = 0; i < builder->source_count; i++)
		mem_clear(&builder->sources[i].terms);
	return terms;
}

static void source_terms_done(struct source_terms *terms)
{
	free(terms->starts);
	free(terms->items);
}

static struct posting_set posting_set_new(uint32_t doc_count)
{
	size_t documents = doc_count / 64 + (size_t)1;
	struct posting_set set = {.word_count = documents / 64 + 1};
	set.documents = mem_array(documents, sizeof(uint64_t));
	set.words = mem_array(set.word_count, sizeof(uint64_t));
	set.frequencies = mem_array(doc_count, 1);
	return set;
}

static void posting_set_done(struct posting_set *set)
{
	free(set->documents);
	free(set->words);
	free(set->frequencies);
}

static inline void posting_set_add(struct posting_set *set, uint32_t doc, uint8_t frequency)
{
	set->documents[doc / 64] |= UINT64_C(1) << doc % 64;
	set->words[doc / 64 / 64] |= UINT64_C(1) << doc / 64 % 64;
	set->frequencies[doc] = frequency;
}

/* Move all postings to the list. */
static void posting_set_move(struct posting_set *set, struct list *list)
{
	for (size_t i = 0; i < set->word_count; i++) {
		for (uint64_t words = set->words[i]; words; words &= words - 1) {
			size_t word = i * 64 + (size_t)__builtin_ctzll(words);
			for (uint64_t left = set->documents[word]; left; left &= left - 1) {
				size_t doc = word * 64 + (size_t)__builtin_ctzll(left);
				list_add(list, (uint32_t)doc, set->frequencies[doc]);
			}
			set->documents[word] = 0;
		}
		set->words[i] = 0;
	}
}

/* Add the postings of the term of the source to the set, or to the list if `set` is NULL. */
static void take_postings(const struct builder_source *source, uint32_t term,
                          struct posting_set *set, struct list *list)
{
	const struct segment *segment = source->segment;
	uint32_t docs[POSTINGS_BLOCK];
	uint8_t frequencies[POSTINGS_BLOCK];
	for (uint32_t block = 0; block < segment_block_count(&segment->terms[term]); block++) {
		uint32_t count = segment_unpack_block(segment, term, block, docs, frequencies);
		for (uint32_t i = 0; i < count; i++) {
			uint32_t doc = source->docs[docs[i]];
			if (doc == SEGMENT_NONE)
				continue;
			if (set)
				posting_set_add(set, doc, frequencies[i]);
			else
				list_add(list, doc, frequencies[i]);
		}
	}
}

/* --- All lists -------------------------------------------------------------------------------- */

/* Write the list of a term, whose lists in the sources are `items`. A list from one place is in
 * order. */
static void write_list(struct list *list, const struct new_lists *lists, uint32_t number,
                       const struct source_term *items, const struct source_term *end,
                       struct posting_set *set)
{
	const struct builder *builder = list->writer->builder;
	size_t at = lists->starts ? lists->starts[number - lists->first] : 0;
	size_t last = lists->starts ? lists->ends[number - lists->first] : 0;
	bool is_sorted = (end - items) + (last > at) <= 1;
	for (; at < last; at++) {
		if (is_sorted)
			list_add(list, lists->docs[at], lists->frequencies[at]);
		else
			posting_set_add(set, lists->docs[at], lists->frequencies[at]);
	}
	for (; items < end; items++)
		take_postings(&builder->sources[items->source], items->term, is_sorted ? NULL : set,
		              list);
	if (!is_sorted)
		posting_set_move(set, list);
	write_block(list);
	blob_flush(list->writer);
}

void write_lists(struct writer *writer)
{
	static const uint8_t padding[POSTINGS_PADDING];
	mem_auto_free float *norms = segment_norms_new(writer->header.average_length);
	struct source_terms terms = source_terms_make(writer);
	struct posting_set set = posting_set_new(writer->header.doc_count);
	struct new_lists lists = {0};
	begin_section(writer, SECTION_POSTINGS);
	for (uint32_t number = 0; number < writer->header.term_count && !writer->has_failed &&
	                          !is_cancelled(writer->builder->cancel);
	     number++) {
		if (number == lists.last) {
			new_lists_done(&lists);
			lists = new_lists_make(writer, number);
		}
		struct list list = open_list(writer, norms, number);
		write_list(&list, &lists, number, terms.items + terms.starts[number],
		           terms.items + terms.starts[number + 1], &set);
	}
	new_lists_done(&lists);
	posting_set_done(&set);
	source_terms_done(&terms);
	blob_add(writer, padding, sizeof(padding));
	end_section(writer, SECTION_POSTINGS);
}
