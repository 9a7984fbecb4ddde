#include "engine/lexical/bm25.h"
#include "engine/lexical/builder.h"
#include "engine/lexical/builder_internal.h"
#include "engine/lexical/postings.h"
#include "engine/text/cancel.h"
#include "engine/text/mem.h"

#include <string.h>

/* Unpacked postings in memory at a time: 160 MB at 5 bytes each. */
#define POSTINGS_PER_BATCH (32u << 20)

/* State of one builder_finish(), shared by its steps. */
struct writer {
	struct builder *builder;
	struct bytes blob; /* the segment; written last */
	struct segment_header header;
	struct bytes strings;
	const struct builder_doc **order; /* documents by new number */
	uint32_t *df;                     /* by intern number */
	uint32_t *rank;                   /* new term number by intern number */
	uint32_t *by_rank;                /* intern number by new term number */
	float *norms;                     /* by weighted length */
	struct segment_doc *docs;
	uint16_t *lengths; /* by document */
	struct segment_term *terms;
	struct bytes forward;
	struct bytes blocks;
	struct bytes postings;
};

/* Unpacked postings of the terms from `first` up to, not including, `last`. */
struct posting_lists {
	uint32_t first;
	uint32_t last;
	size_t *starts; /* where the list of term `first` + i begins */
	size_t *ends;   /* where its next posting is to be written */
	uint32_t *docs;
	uint8_t *frequencies;
};

/* Documents and terms are sorted by a number, then by a string, of which most comparisons need the beginning only. */
struct sort_key {
	uint64_t begin; /* of the string, as a number of the same order */
	uint32_t first; /* the number */
	uint32_t item;  /* intern number */
};

static uint64_t begin_of(const char *text)
{
	uint64_t begin = 0;
	memcpy(&begin, text, strnlen(text, sizeof(begin)));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	begin = __builtin_bswap64(begin);
#endif
	return begin;
}

static int compare_keys(const void *a, const void *b, void *ctx)
{
	const struct sort_key *left = a;
	const struct sort_key *right = b;
	const struct intern *strings = ctx;
	if (left->first != right->first)
		return left->first < right->first ? -1 : 1;
	if (left->begin != right->begin)
		return left->begin < right->begin ? -1 : 1;
	return strcmp(intern_text(strings, left->item), intern_text(strings, right->item));
}

/* Newest first, then by id. */
static void order_docs(struct writer *writer)
{
	struct builder *builder = writer->builder;
	mem_auto_free struct sort_key *keys = mem_array(builder->ids.count, sizeof(*keys));
	writer->order = mem_array(builder->ids.count, sizeof(void *));
	for (uint32_t i = 0; i < builder->ids.count; i++)
		keys[i] = (struct sort_key){.begin = begin_of(intern_text(&builder->ids, i)),
		                            .first = (uint32_t)INT32_MAX -
		                                     (uint32_t)builder->docs[i].published,
		                            .item = i};
	qsort_r(keys, builder->ids.count, sizeof(*keys), compare_keys, &builder->ids);
	for (uint32_t i = 0; i < builder->ids.count; i++)
		writer->order[i] = &builder->docs[keys[i].item];
}

/* Number the terms of the shares and sources together. */
static void map_terms(struct writer *writer)
{
	struct builder *builder = writer->builder;
	for (size_t i = 0; i < builder->share_count; i++) {
		struct builder_share *share = &builder->shares[i];
		share->numbers = mem_array(share->terms.count, sizeof(uint32_t));
		for (uint32_t term = 0; term < share->terms.count; term++) {
			const char *text = intern_text(&share->terms, term);
			share->numbers[term] = intern_add(&builder->terms, text, strlen(text));
		}
	}
	for (size_t i = 0; i < builder->source_count; i++) {
		struct builder_source *source = &builder->sources[i];
		source->terms = mem_array(source->segment->term_count, sizeof(uint32_t));
		for (uint32_t term = 0; term < source->segment->term_count; term++) {
			const char *text = segment_term_text(source->segment, term);
			source->terms[term] = intern_add(&builder->terms, text, strlen(text));
		}
	}
}

/* The source of the document; NULL: it is new. */
static struct builder_source *source_of(const struct builder *builder,
                                        const struct builder_doc *doc)
{
	return doc->source > 0 ? &builder->sources[doc->source - 1] : NULL;
}

static struct forward open_record(const struct builder *builder, const struct builder_doc *doc)
{
	const struct builder_source *source = source_of(builder, doc);
	return forward_open(
		(source ? source->segment->forward : builder->shares[doc->share].forward.data) +
		doc->forward);
}

/* The numbers of the terms in the record of the document. */
static const uint32_t *numbers_of(const struct builder *builder, const struct builder_doc *doc)
{
	const struct builder_source *source = source_of(builder, doc);
	return source ? source->terms : builder->shares[doc->share].numbers;
}

/* Whether all documents of the segment were added, and none was replaced. */
static bool is_whole(const struct builder *builder, const struct builder_source *source)
{
	return source && !builder->has_replaced && source->added == source->segment->doc_count;
}

/* Count the document for each of its terms. `seen` is by term: the last document + 1 that has it. */
static void count_doc(const struct writer *writer, uint32_t number, uint32_t *seen)
{
	const struct builder *builder = writer->builder;
	const struct builder_doc *doc = &builder->docs[number];
	const struct builder_source *source = source_of(builder, doc);
	const uint32_t *numbers = numbers_of(builder, doc);
	struct forward forward = open_record(builder, doc);
	if (is_whole(builder, source))
		return;
	for (uint32_t left = forward_count_all(&forward); left > 0; left--) {
		uint32_t term = numbers[forward_next(&forward)];
		if (seen[term] == number + 1)
			continue;
		seen[term] = number + 1;
		writer->df[term]++;
	}
}

static void count_terms(struct writer *writer)
{
	const struct builder *builder = writer->builder;
	mem_auto_free uint32_t *seen = mem_array(builder->terms.count, sizeof(uint32_t));
	writer->df = mem_array(builder->terms.count, sizeof(uint32_t));
	for (size_t i = 0; i < builder->source_count; i++) {
		const struct builder_source *source = &builder->sources[i];
		if (!is_whole(builder, source))
			continue;
		for (uint32_t term = 0; term < source->segment->term_count; term++)
			writer->df[source->terms[term]] += source->segment->terms[term].df;
	}
	for (uint32_t i = 0; i < builder->ids.count; i++)
		count_doc(writer, i, seen);
}

/* Number the terms by descending df. Terms that only replaced documents contain have df 0 and get
 * no number. */
static void rank_terms(struct writer *writer)
{
	uint32_t count = writer->builder->terms.count;
	uint32_t used = 0;
	struct intern *terms = &writer->builder->terms;
	mem_auto_free struct sort_key *keys = mem_array(count, sizeof(*keys));
	for (uint32_t i = 0; i < count; i++)
		if (writer->df[i] > 0)
			keys[used++] = (struct sort_key){begin_of(intern_text(terms, i)),
			                                 UINT32_MAX - writer->df[i], i};
	qsort_r(keys, used, sizeof(*keys), compare_keys, terms);
	writer->by_rank = mem_array(used, sizeof(uint32_t));
	writer->rank = mem_array(count, sizeof(uint32_t));
	for (uint32_t i = 0; i < used; i++) {
		writer->by_rank[i] = keys[i].item;
		writer->rank[keys[i].item] = i;
	}
	writer->header.term_count = used;
	for (size_t i = 0; i < writer->builder->share_count; i++) {
		struct builder_share *share = &writer->builder->shares[i];
		for (uint32_t term = 0; term < share->terms.count; term++)
			share->numbers[term] = writer->rank[share->numbers[term]];
	}
	for (size_t i = 0; i < writer->builder->source_count; i++) {
		struct builder_source *source = &writer->builder->sources[i];
		for (uint32_t term = 0; term < source->segment->term_count; term++)
			source->terms[term] = writer->rank[source->terms[term]];
	}
}

static uint32_t add_string(struct writer *writer, const char *text)
{
	size_t offset = writer->strings.length;
	require(offset < UINT32_MAX);
	bytes_add(&writer->strings, text, strlen(text) + 1);
	return (uint32_t)offset;
}

/* Append the record of the document, with the new numbers of its terms. */
static void write_record(struct writer *writer, const struct builder_doc *doc)
{
	const uint32_t *numbers = numbers_of(writer->builder, doc);
	struct forward forward = open_record(writer->builder, doc);
	uint32_t count = forward_count_all(&forward);
	bytes_reserve(&writer->forward, (RUN_COUNT + (size_t)count) * VARINT_MAX_BYTES);
	uint8_t *out = writer->forward.data + writer->forward.length;
	out = varint_write(out, forward.title_count);
	out = varint_write(out, forward.abstract_count);
	out = varint_write(out, forward.title_extra_count);
	out = varint_write(out, forward.abstract_extra_count);
	out = varint_write(out, forward.author_count);
	for (; count > 0; count--)
		out = varint_write(out, numbers[forward_next(&forward)]);
	writer->forward.length = (size_t)(out - writer->forward.data);
}

static void write_docs(struct writer *writer)
{
	struct builder *builder = writer->builder;
	uint64_t total = 0;
	writer->header.doc_count = builder->ids.count;
	writer->docs = mem_array(builder->ids.count, sizeof(struct segment_doc));
	writer->lengths = mem_array(builder->ids.count, sizeof(uint16_t));
	for (uint32_t i = 0; i < builder->ids.count; i++) {
		const struct builder_doc *from = writer->order[i];
		writer->docs[i] = (struct segment_doc){
			.seq = from->seq,
			.forward = writer->forward.length,
			.id = add_string(writer, intern_text(&builder->ids, from->id)),
			.categories = from->categories,
			.published = from->published,
			.category_count = from->category_count,
			.has_container = from->has_container,
		};
		writer->lengths[i] = from->length;
		total += from->length;
		writer->header.max_seq = MAX_OF(writer->header.max_seq, from->seq);
		write_record(writer, from);
	}
	for (size_t i = 0; i < builder->share_count; i++)
		bytes_done(&builder->shares[i].forward); /* the writer's has replaced it */
	writer->header.average_length = total > 0 ? (float)total / (float)builder->ids.count : 1.0f;
}

static void write_terms(struct writer *writer)
{
	writer->terms = mem_array(writer->header.term_count, sizeof(struct segment_term));
	for (uint32_t i = 0; i < writer->header.term_count; i++) {
		uint32_t number = writer->by_rank[i];
		writer->terms[i].text =
			add_string(writer, intern_text(&writer->builder->terms, number));
		writer->terms[i].df = writer->df[number];
	}
}

/* Add the weights of the next `count` terms of a record to their frequencies. Returns the end of `terms`, to which it
 * appends those that the document has not had yet. */
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
static void scatter_doc(const struct writer *writer, struct posting_lists *lists, uint32_t doc,
                        uint16_t *frequencies, uint32_t *terms)
{
	struct forward forward = forward_open(writer->forward.data + writer->docs[doc].forward);
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

static float max_impact(const struct writer *writer, const uint32_t *docs,
                        const uint8_t *frequencies, size_t count)
{
	float max = 0;
	for (size_t i = 0; i < count; i++) {
		float norm = writer->norms[writer->lengths[docs[i]]];
		max = MAX_OF(max, bm25_impact(frequencies[i], norm));
	}
	return max;
}

static void pack_list(struct writer *writer, const struct posting_lists *lists, uint32_t number)
{
	struct segment_term *term = &writer->terms[number];
	size_t start = lists->starts[number - lists->first];
	uint32_t base = 0;
	term->data = writer->postings.length;
	term->first_block = (uint32_t)(writer->blocks.length / sizeof(struct posting_block));
	for (size_t done = 0; done < term->df; done += POSTINGS_BLOCK) {
		size_t count = MIN_OF((size_t)POSTINGS_BLOCK, term->df - done);
		const uint32_t *docs = lists->docs + start + done;
		const uint8_t *frequencies = lists->frequencies + start + done;
		struct posting_block block = {
			.last_doc = docs[count - 1],
			.offset = (uint32_t)(writer->postings.length - term->data),
			.max_impact = max_impact(writer, docs, frequencies, count),
		};
		bytes_add(&writer->blocks, &block, sizeof(block));
		uint8_t packed[POSTINGS_BLOCK_MAX_BYTES];
		bytes_add(&writer->postings, packed,
		          postings_pack(docs, frequencies, count, base, packed));
		base = block.last_doc + 1;
	}
}

/* Write the lists of as many terms from `first` on as fit into one batch. Returns the term after
 * them. */
static uint32_t write_list_batch(struct writer *writer, uint32_t first, uint16_t *frequencies,
                                 uint32_t *terms)
{
	uint32_t term_count = writer->header.term_count;
	struct posting_lists lists = {.first = first, .last = first};
	size_t total = 0;
	lists.starts = mem_array(term_count - first, sizeof(size_t));
	lists.ends = mem_array(term_count - first, sizeof(size_t));
	while (lists.last < term_count && (total == 0 || total < POSTINGS_PER_BATCH)) {
		lists.starts[lists.last - first] = lists.ends[lists.last - first] = total;
		total += writer->terms[lists.last++].df;
	}
	lists.docs = mem_array(total, sizeof(uint32_t));
	lists.frequencies = mem_array(total, 1);
	for (uint32_t doc = 0; doc < writer->header.doc_count; doc++)
		scatter_doc(writer, &lists, doc, frequencies, terms);
	for (uint32_t term = first; term < lists.last; term++)
		pack_list(writer, &lists, term);
	free(lists.starts);
	free(lists.ends);
	free(lists.docs);
	free(lists.frequencies);
	return lists.last;
}

static void write_lists(struct writer *writer)
{
	static const uint8_t padding[POSTINGS_PADDING];
	mem_auto_free uint16_t *frequencies =
		mem_array(writer->header.term_count, sizeof(uint16_t));
	mem_auto_free uint32_t *terms =
		mem_array(writer->header.term_count + (size_t)1, sizeof(uint32_t));
	writer->norms = segment_norms_new(writer->header.average_length);
	for (uint32_t first = 0;
	     first < writer->header.term_count && !is_cancelled(writer->builder->cancel);)
		first = write_list_batch(writer, first, frequencies, terms);
	bytes_add(&writer->postings, padding, sizeof(padding));
}

/* Make a hash table, at most half full, of the strings of `count` elements of `size` bytes. The
 * offset of an element's string is a uint32_t at `text_offset` in it. The caller frees the
 * slots. */
static uint32_t *make_slots(const struct bytes *strings, const void *elements, size_t size,
                            size_t text_offset, uint32_t count, size_t *ret_slot_count)
{
	size_t slot_count = 16;
	while (slot_count < (size_t)count * 2)
		slot_count *= 2;
	uint32_t *slots = mem_array(slot_count, sizeof(uint32_t));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t offset;
		memcpy(&offset, (const char *)elements + i * size + text_offset, sizeof(offset));
		size_t at = intern_hash((const char *)strings->data + offset,
		                        strlen((const char *)strings->data + offset));
		for (at &= slot_count - 1; slots[at] != 0; at = (at + 1) & (slot_count - 1))
			;
		slots[at] = i + 1;
	}
	*ret_slot_count = slot_count;
	return slots;
}

static void add_section(struct writer *writer, enum segment_section section, const void *data,
                        size_t length)
{
	static const uint8_t zeros[8];
	bytes_add(&writer->blob, zeros, (8 - writer->blob.length % 8) % 8);
	writer->header.sections[section].offset = writer->blob.length;
	writer->header.sections[section].length = length;
	bytes_add(&writer->blob, data, length);
}

static void add_slots(struct writer *writer)
{
	size_t count;
	uint32_t *slots =
		make_slots(&writer->strings, writer->docs, sizeof(struct segment_doc),
	                   offsetof(struct segment_doc, id), writer->header.doc_count, &count);
	add_section(writer, SECTION_DOC_SLOTS, slots, count * sizeof(uint32_t));
	free(slots);
	slots = make_slots(&writer->strings, writer->terms, sizeof(struct segment_term),
	                   offsetof(struct segment_term, text), writer->header.term_count, &count);
	add_section(writer, SECTION_TERM_SLOTS, slots, count * sizeof(uint32_t));
	free(slots);
}

static void add_categories(struct writer *writer)
{
	const struct intern *names = &writer->builder->categories;
	uint32_t count = MIN_OF(names->count, (uint32_t)UINT16_MAX + 1);
	mem_auto_free uint32_t *offsets = mem_array(count, sizeof(uint32_t));
	for (uint32_t i = 0; i < count; i++)
		offsets[i] = add_string(writer, intern_text(names, i));
	writer->header.category_count = count;
	add_section(writer, SECTION_CATEGORIES, offsets, count * sizeof(uint32_t));
	add_section(writer, SECTION_CATEGORY_LIST, writer->builder->category_list,
	            writer->builder->category_list_count * sizeof(uint16_t));
}

/* Add a section and free its bytes, so that there is only one copy of the large ones. */
static void move_section(struct writer *writer, enum segment_section section, struct bytes *bytes)
{
	add_section(writer, section, bytes->data, bytes->length);
	bytes_done(bytes);
}

static void assemble(struct writer *writer)
{
	bytes_add(&writer->blob, &writer->header, sizeof(writer->header));
	move_section(writer, SECTION_FORWARD, &writer->forward);
	move_section(writer, SECTION_POSTINGS, &writer->postings);
	move_section(writer, SECTION_BLOCKS, &writer->blocks);
	add_categories(writer);
	add_string(writer, "");
	add_slots(writer);
	add_section(writer, SECTION_DOCS, writer->docs,
	            writer->header.doc_count * sizeof(struct segment_doc));
	add_section(writer, SECTION_LENGTHS, writer->lengths,
	            writer->header.doc_count * sizeof(uint16_t));
	add_section(writer, SECTION_TERMS, writer->terms,
	            writer->header.term_count * sizeof(struct segment_term));
	move_section(writer, SECTION_STRINGS, &writer->strings);
	writer->header.magic = SEGMENT_MAGIC;
	writer->header.length = writer->blob.length;
	memcpy(writer->blob.data, &writer->header, sizeof(writer->header));
}

static void writer_done(struct writer *writer)
{
	free(writer->strings.data);
	free(writer->order);
	free(writer->df);
	free(writer->rank);
	free(writer->by_rank);
	free(writer->norms);
	free(writer->docs);
	free(writer->lengths);
	free(writer->terms);
	free(writer->forward.data);
	free(writer->blocks.data);
	free(writer->postings.data);
}

struct segment *builder_finish(struct builder *builder)
{
	static void (*const steps[])(struct writer * writer) = {
		order_docs, map_terms,   count_terms, rank_terms,
		write_docs, write_terms, write_lists, assemble,
	};
	struct writer writer = {.builder = builder};
	struct segment *segment = NULL;
	size_t step = 0;
	while (step < ARRAY_LEN(steps) && !is_cancelled(builder->cancel))
		steps[step++](&writer);
	if (step == ARRAY_LEN(steps)) {
		segment = segment_open(mem_resize(writer.blob.data, writer.blob.length, 1),
		                       writer.blob.length, true);
		require(segment);
	}
	writer_done(&writer);
	return segment;
}
