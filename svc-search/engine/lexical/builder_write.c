#include "engine/lexical/builder.h"
#include "engine/lexical/builder_internal.h"
#include "engine/lexical/postings.h"
#include "engine/text/cancel.h"
#include "engine/text/mem.h"

#include <string.h>

/* Documents and terms are sorted by a number, then by a string, of which most comparisons need the
 * beginning only. */
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

/* Note the new numbers of the documents of sources, and the vectors and their lists by new
 * number. */
static void map_docs(struct writer *writer)
{
	struct builder *builder = writer->builder;
	if (builder->has_vectors) {
		builder->doc_vectors = mem_array(builder->ids.count, sizeof(int8_t *));
		builder->doc_lists = mem_array(builder->ids.count, sizeof(uint32_t));
	}
	for (uint32_t i = 0; i < builder->ids.count; i++) {
		const struct builder_doc *doc = writer->order[i];
		if (doc->source > 0)
			builder->sources[doc->source - 1].docs[doc->place] = i;
		if (builder->has_vectors) {
			builder->doc_vectors[i] = doc->vector;
			builder->doc_lists[i] = doc->list;
		}
	}
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
	return source ? segment_forward(source->segment, (uint32_t)doc->place)
	              : forward_open(builder->shares[doc->share].forward.data + doc->place);
}

/* The numbers of the terms in the record of the document. */
static const uint32_t *numbers_of(const struct builder *builder, const struct builder_doc *doc)
{
	const struct builder_source *source = source_of(builder, doc);
	return source ? source->terms : builder->shares[doc->share].numbers;
}

/* Count the new document for each of its terms. `seen` is by term: the last document + 1 that has
 * it. */
static void count_doc(const struct writer *writer, uint32_t number, uint32_t *seen)
{
	const struct builder *builder = writer->builder;
	const struct builder_doc *doc = &builder->docs[number];
	const uint32_t *numbers = numbers_of(builder, doc);
	struct forward forward = open_record(builder, doc);
	for (uint32_t left = forward_count_all(&forward); left > 0; left--) {
		uint32_t term = numbers[forward_next(&forward)];
		if (seen[term] == number + 1)
			continue;
		seen[term] = number + 1;
		writer->new_df[term]++;
	}
}

/* The number of documents of the source that have its term `term` and were added, and not
 * replaced. */
static uint32_t count_postings(const struct builder *builder, const struct builder_source *source,
                               uint32_t term)
{
	const struct segment *segment = source->segment;
	uint32_t count = 0;
	if (!builder->has_replaced && source->added == segment->doc_count)
		return segment->terms[term].df;
	uint32_t docs[POSTINGS_BLOCK];
	uint8_t frequencies[POSTINGS_BLOCK];
	for (uint32_t block = 0; block < segment_block_count(&segment->terms[term]); block++) {
		uint32_t in_block = segment_unpack_block(segment, term, block, docs, frequencies);
		for (uint32_t i = 0; i < in_block; i++)
			count += source->docs[docs[i]] != SEGMENT_NONE;
	}
	return count;
}

static void count_terms(struct writer *writer)
{
	const struct builder *builder = writer->builder;
	mem_auto_free uint32_t *seen = mem_array(builder->terms.count, sizeof(uint32_t));
	writer->df = mem_array(builder->terms.count, sizeof(uint32_t));
	writer->new_df = mem_array(builder->terms.count, sizeof(uint32_t));
	for (uint32_t i = 0; i < builder->ids.count; i++)
		if (builder->docs[i].source == 0)
			count_doc(writer, i, seen);
	memcpy(writer->df, writer->new_df, builder->terms.count * sizeof(uint32_t));
	for (size_t i = 0; i < builder->source_count; i++) {
		const struct builder_source *source = &builder->sources[i];
		for (uint32_t term = 0; term < source->segment->term_count; term++)
			writer->df[source->terms[term]] += count_postings(builder, source, term);
	}
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
	bytes_reserve(&writer->blob, (RUN_COUNT + (size_t)count) * VARINT_MAX_BYTES);
	uint8_t *out = writer->blob.data + writer->blob.length;
	out = varint_write(out, forward.title_count);
	out = varint_write(out, forward.abstract_count);
	out = varint_write(out, forward.title_extra_count);
	out = varint_write(out, forward.abstract_extra_count);
	out = varint_write(out, forward.author_count);
	for (; count > 0; count--)
		out = varint_write(out, numbers[forward_next(&forward)]);
	writer->blob.length = (size_t)(out - writer->blob.data);
	blob_flush(writer);
}

static void write_docs(struct writer *writer)
{
	struct builder *builder = writer->builder;
	uint64_t total = 0;
	writer->header.doc_count = builder->ids.count;
	begin_section(writer, SECTION_FORWARD);
	size_t start = blob_length(writer);
	/* A term that is an id has the same string. */
	require(builder->ids.pool_length < UINT32_MAX);
	bytes_add(&writer->strings, builder->ids.pool, builder->ids.pool_length);
	writer->docs = mem_array(builder->ids.count, sizeof(struct segment_doc));
	writer->lengths = mem_array(builder->ids.count, sizeof(uint16_t));
	for (uint32_t i = 0; i < builder->ids.count; i++) {
		const struct builder_doc *from = writer->order[i];
		writer->docs[i] = (struct segment_doc){
			.seq = from->seq,
			.forward = blob_length(writer) - start,
			.id = (uint32_t)builder->ids.offsets[from->id],
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
		bytes_done(&builder->shares[i].forward); /* the blob has replaced it */
	end_section(writer, SECTION_FORWARD);
	writer->header.average_length = total > 0 ? (float)total / (float)builder->ids.count : 1.0f;
}

static void write_terms(struct writer *writer)
{
	const struct builder *builder = writer->builder;
	writer->terms = mem_array(writer->header.term_count, sizeof(struct segment_term));
	for (uint32_t i = 0; i < writer->header.term_count; i++) {
		const char *text = intern_text(&builder->terms, writer->by_rank[i]);
		uint32_t id = intern_find(&builder->ids, text, strlen(text));
		writer->terms[i].text = id != INTERN_NONE ? (uint32_t)builder->ids.offsets[id]
		                                          : add_string(writer, text);
		writer->terms[i].df = writer->df[writer->by_rank[i]];
	}
}

/* Make a hash table, at most three fifths full, of the strings of `count` elements of `size` bytes.
 * The offset of an element's string is a uint32_t at `text_offset` in it. The caller frees the
 * slots. */
static uint32_t *make_slots(const struct bytes *strings, const void *elements, size_t size,
                            size_t text_offset, uint32_t count, size_t *ret_slot_count)
{
	size_t slot_count = (size_t)count * 5 / 3 + 1;
	require(slot_count <= UINT32_MAX);
	uint32_t *slots = mem_array(slot_count, sizeof(uint32_t));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t offset;
		memcpy(&offset, (const char *)elements + i * size + text_offset, sizeof(offset));
		const char *text = (const char *)strings->data + offset;
		size_t at = segment_slot(intern_hash(text, strlen(text)), slot_count);
		while (slots[at] != 0)
			at = at + 1 < slot_count ? at + 1 : 0;
		slots[at] = i + 1;
	}
	*ret_slot_count = slot_count;
	return slots;
}

void begin_section(struct writer *writer, enum segment_section section)
{
	static const uint8_t zeros[8];
	blob_add(writer, zeros, (8 - blob_length(writer) % 8) % 8);
	writer->header.sections[section].offset = blob_length(writer);
}

void end_section(struct writer *writer, enum segment_section section)
{
	writer->header.sections[section].length =
		blob_length(writer) - writer->header.sections[section].offset;
}

static void add_section(struct writer *writer, enum segment_section section, const void *data,
                        size_t length)
{
	begin_section(writer, section);
	blob_add(writer, data, length);
	end_section(writer, section);
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

/* Free what write_lists() does not use, since it needs the most memory. */
static void release(struct writer *writer)
{
	struct builder *builder = writer->builder;
	intern_done(&builder->terms);
	intern_done(&builder->ids);
	mem_clear(&writer->df);
	mem_clear(&writer->rank);
	if (builder->share_count > 0)
		return;
	mem_clear(&writer->order);
	mem_clear(&builder->docs);
}

/* Add a section of `length` bytes from `*address`, and free them. */
static void move_section(struct writer *writer, enum segment_section section, void *address,
                         size_t length)
{
	add_section(writer, section, *(void **)address, length);
	mem_clear(address);
}

static void assemble(struct writer *writer)
{
	move_section(writer, SECTION_FIRST_BLOCKS, &writer->first_blocks.data,
	             writer->first_blocks.length);
	move_section(writer, SECTION_BLOCKS, &writer->blocks.data, writer->blocks.length);
	add_categories(writer);
	add_string(writer, "");
	add_slots(writer);
	move_section(writer, SECTION_DOCS, &writer->docs,
	             writer->header.doc_count * sizeof(struct segment_doc));
	move_section(writer, SECTION_LENGTHS, &writer->lengths,
	             writer->header.doc_count * sizeof(uint16_t));
	move_section(writer, SECTION_TERMS, &writer->terms,
	             writer->header.term_count * sizeof(struct segment_term));
	move_section(writer, SECTION_STRINGS, &writer->strings.data, writer->strings.length);
	writer->header.magic = SEGMENT_MAGIC;
	writer->header.length = blob_length(writer);
}

static void writer_done(struct writer *writer)
{
	blob_done(writer);
	free(writer->strings.data);
	free(writer->order);
	free(writer->df);
	free(writer->new_df);
	free(writer->rank);
	free(writer->by_rank);
	free(writer->docs);
	free(writer->lengths);
	free(writer->terms);
	free(writer->first_blocks.data);
	free(writer->blocks.data);
}

struct segment *builder_finish(struct builder *builder)
{
	static void (*const steps[])(struct writer * writer) = {
		order_docs, map_docs,    map_terms, count_terms, rank_terms,
		write_docs, write_terms, release,   write_lists, assemble,
	};
	struct writer writer = {.builder = builder, .file = -1};
	struct segment *segment = NULL;
	size_t step = 0;
	bytes_add(&writer.blob, &writer.header, sizeof(writer.header));
	while (step < ARRAY_LEN(steps) && !is_cancelled(builder->cancel) && !writer.has_failed)
		steps[step++](&writer);
	if (step == ARRAY_LEN(steps) && !is_cancelled(builder->cancel) && !writer.has_failed)
		segment = blob_open(&writer);
	writer_done(&writer);
	return segment;
}
