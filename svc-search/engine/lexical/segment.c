#include "engine/lexical/segment.h"

#include "engine/lexical/bm25.h"
#include "engine/text/intern.h"
#include "engine/text/mem.h"

#include <roaring/roaring.h>

#include <sys/mman.h>

/* Bytes of one element of each section. */
static const size_t element_sizes[SECTION_COUNT] = {
	[SECTION_DOCS] = sizeof(struct segment_doc),
	[SECTION_LENGTHS] = sizeof(uint16_t),
	[SECTION_TERMS] = sizeof(struct segment_term),
	[SECTION_FIRST_BLOCKS] = sizeof(uint32_t),
	[SECTION_BLOCKS] = sizeof(struct posting_block),
	[SECTION_POSTINGS] = 1,
	[SECTION_FORWARD] = 1,
	[SECTION_STRINGS] = 1,
	[SECTION_DOC_SLOTS] = sizeof(uint32_t),
	[SECTION_TERM_SLOTS] = sizeof(uint32_t),
	[SECTION_CATEGORY_LIST] = sizeof(uint16_t),
	[SECTION_CATEGORIES] = sizeof(uint32_t),
};

static bool are_sections_valid(const struct segment_header *header, size_t length)
{
	for (size_t i = 0; i < SECTION_COUNT; i++) {
		uint64_t offset = header->sections[i].offset;
		uint64_t size = header->sections[i].length;
		if (offset % 8 != 0 || offset > length || size > length - offset ||
		    size % element_sizes[i] != 0)
			return false;
	}
	return header->sections[SECTION_DOCS].length ==
	               header->doc_count * (uint64_t)sizeof(struct segment_doc) &&
	       header->sections[SECTION_LENGTHS].length ==
	               header->doc_count * (uint64_t)sizeof(uint16_t) &&
	       header->sections[SECTION_TERMS].length ==
	               header->term_count * (uint64_t)sizeof(struct segment_term) &&
	       header->sections[SECTION_CATEGORIES].length ==
	               header->category_count * (uint64_t)sizeof(uint32_t);
}

static bool is_header_valid(const struct segment_header *header, size_t length)
{
	return length >= sizeof(*header) && header->magic == SEGMENT_MAGIC &&
	       header->length == length && header->average_length > 0 &&
	       header->doc_count < SEGMENT_NONE && header->term_count < SEGMENT_NONE &&
	       are_sections_valid(header, length);
}

static size_t section_count(const struct segment *segment, enum segment_section section)
{
	return segment->header->sections[section].length / element_sizes[section];
}

static const void *section(const struct segment *segment, enum segment_section number)
{
	return (const char *)segment->header + segment->header->sections[number].offset;
}

/* Whether the slots of a hash table are more than its `count` elements, and refer to these only. */
static bool are_slots_valid(const uint32_t *slots, size_t slot_count, uint32_t count)
{
	if (slot_count <= count || slot_count > UINT32_MAX)
		return false;
	for (size_t i = 0; i < slot_count; i++)
		if (slots[i] > count)
			return false;
	return true;
}

static bool are_docs_valid(const struct segment *segment)
{
	size_t strings = section_count(segment, SECTION_STRINGS);
	size_t forward = section_count(segment, SECTION_FORWARD);
	size_t list = section_count(segment, SECTION_CATEGORY_LIST);
	for (uint32_t i = 0; i < segment->doc_count; i++) {
		const struct segment_doc *doc = &segment->docs[i];
		if (doc->id >= strings || doc->forward >= forward ||
		    segment->lengths[i] > SEGMENT_MAX_LENGTH || doc->categories > list ||
		    doc->category_count > list - doc->categories)
			return false;
	}
	for (size_t i = 0; i < list; i++)
		if (segment->category_list[i] >= segment->category_count)
			return false;
	for (uint32_t i = 0; i < segment->category_count; i++)
		if (segment->categories[i] >= strings)
			return false;
	return true;
}

/* Whether the blocks are those of the long terms, one term after another. */
static bool are_blocks_valid(const struct segment *segment)
{
	size_t count = section_count(segment, SECTION_BLOCKS);
	size_t used = 0;
	for (uint32_t i = 0; i < segment->long_count; i++) {
		if (segment->first_blocks[i] != used)
			return false;
		used += segment_block_count(&segment->terms[i]);
	}
	for (size_t i = 0; i < count; i++)
		if (segment->blocks[i].last_doc >= segment->doc_count)
			return false;
	return used == count;
}

static bool are_terms_valid(const struct segment *segment)
{
	size_t strings = section_count(segment, SECTION_STRINGS);
	size_t postings = section_count(segment, SECTION_POSTINGS);
	if (segment->long_count > segment->term_count)
		return false;
	for (uint32_t i = 0; i < segment->term_count; i++) {
		const struct segment_term *term = &segment->terms[i];
		bool is_long = i < segment->long_count;
		if (term->text >= strings || term->df == 0 || term->df > segment->doc_count ||
		    term->data >= postings || is_long != (segment_block_count(term) > 1))
			return false;
	}
	return are_blocks_valid(segment);
}

static bool is_content_valid(const struct segment *segment)
{
	size_t strings = section_count(segment, SECTION_STRINGS);
	return strings > 0 && segment->strings[strings - 1] == '\0' &&
	       are_slots_valid(segment->doc_slots, segment->doc_slot_count, segment->doc_count) &&
	       are_slots_valid(segment->term_slots, segment->term_slot_count,
	                       segment->term_count) &&
	       are_docs_valid(segment) && are_terms_valid(segment);
}

static void set_section_pointers(struct segment *segment)
{
	segment->docs = section(segment, SECTION_DOCS);
	segment->lengths = section(segment, SECTION_LENGTHS);
	segment->terms = section(segment, SECTION_TERMS);
	segment->first_blocks = section(segment, SECTION_FIRST_BLOCKS);
	segment->blocks = section(segment, SECTION_BLOCKS);
	segment->postings = section(segment, SECTION_POSTINGS);
	segment->forward = section(segment, SECTION_FORWARD);
	segment->strings = section(segment, SECTION_STRINGS);
	segment->doc_slots = section(segment, SECTION_DOC_SLOTS);
	segment->term_slots = section(segment, SECTION_TERM_SLOTS);
	segment->category_list = section(segment, SECTION_CATEGORY_LIST);
	segment->categories = section(segment, SECTION_CATEGORIES);
	segment->doc_slot_count = section_count(segment, SECTION_DOC_SLOTS);
	segment->term_slot_count = section_count(segment, SECTION_TERM_SLOTS);
	segment->doc_count = segment->header->doc_count;
	segment->term_count = segment->header->term_count;
	segment->long_count = (uint32_t)section_count(segment, SECTION_FIRST_BLOCKS);
	segment->category_count = segment->header->category_count;
}

static void make_bitmaps(struct segment *segment)
{
	segment->category_docs = mem_array(segment->category_count, sizeof(void *));
	for (uint32_t i = 0; i < segment->category_count; i++)
		segment->category_docs[i] = roaring_bitmap_create();
	segment->container_docs = roaring_bitmap_create();
	for (uint32_t i = 0; i < segment->doc_count; i++) {
		const struct segment_doc *doc = &segment->docs[i];
		for (uint32_t c = 0; c < doc->category_count; c++)
			roaring_bitmap_add(
				segment->category_docs[segment->category_list[doc->categories + c]],
				i);
		if (doc->has_container)
			roaring_bitmap_add(segment->container_docs, i);
	}
}

static uint64_t sum_lengths(const struct segment *segment)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < segment->doc_count; i++)
		sum += segment->lengths[i];
	return sum;
}

float *segment_norms_new(float average_length)
{
	float *norms = mem_array(SEGMENT_MAX_LENGTH + 1, sizeof(float));
	for (int i = 0; i <= SEGMENT_MAX_LENGTH; i++)
		norms[i] = bm25_norm((float)i, average_length);
	return norms;
}

struct segment *segment_open(void *data, size_t length, bool takes_data)
{
	struct segment *segment = mem_array(1, sizeof(*segment));
	atomic_init(&segment->references, 1);
	segment->owned = takes_data ? data : NULL;
	segment->header = data;
	if (!is_header_valid(data, length)) {
		segment_free(segment);
		return NULL;
	}
	set_section_pointers(segment);
	if (!is_content_valid(segment)) {
		segment_free(segment);
		return NULL;
	}
	make_bitmaps(segment);
	segment->length_sum = sum_lengths(segment);
	return segment;
}

struct segment *segment_open_mapped(void *data, size_t length)
{
	struct segment *segment = segment_open(data, length, false);
	if (segment)
		segment->mapped = length;
	else
		munmap(data, length);
	return segment;
}

struct segment *segment_ref(struct segment *segment)
{
	atomic_fetch_add_explicit(&segment->references, 1, memory_order_relaxed);
	return segment;
}

void segment_free(struct segment *segment)
{
	if (!segment ||
	    atomic_fetch_sub_explicit(&segment->references, 1, memory_order_acq_rel) != 1)
		return;
	for (uint32_t i = 0; segment->category_docs && i < segment->category_count; i++)
		roaring_bitmap_free(segment->category_docs[i]);
	if (segment->container_docs)
		roaring_bitmap_free(segment->container_docs);
	free(segment->category_docs);
	free(segment->owned);
	if (segment->mapped > 0)
		munmap((void *)segment->header, segment->mapped);
	free(segment);
}

uint32_t segment_find_doc(const struct segment *segment, const char *id)
{
	size_t at = segment_slot(intern_hash(id, strlen(id)), segment->doc_slot_count);
	while (segment->doc_slots[at] != 0) {
		uint32_t doc = segment->doc_slots[at] - 1;
		if (strcmp(segment_doc_id(segment, doc), id) == 0)
			return doc;
		at = at + 1 < segment->doc_slot_count ? at + 1 : 0;
	}
	return SEGMENT_NONE;
}

uint32_t segment_find_term(const struct segment *segment, const char *text, size_t length)
{
	size_t at = segment_slot(intern_hash(text, length), segment->term_slot_count);
	while (segment->term_slots[at] != 0) {
		uint32_t term = segment->term_slots[at] - 1;
		const char *other = segment_term_text(segment, term);
		if (strncmp(other, text, length) == 0 && other[length] == '\0')
			return term;
		at = at + 1 < segment->term_slot_count ? at + 1 : 0;
	}
	return SEGMENT_NONE;
}

const char *segment_doc_id(const struct segment *segment, uint32_t doc)
{
	return segment->strings + segment->docs[doc].id;
}

const char *segment_term_text(const struct segment *segment, uint32_t term)
{
	return segment->strings + segment->terms[term].text;
}

const char *segment_category_name(const struct segment *segment, uint32_t category)
{
	return segment->strings + segment->categories[category];
}

uint32_t segment_unpack_block(const struct segment *segment, uint32_t term, uint32_t block,
                              uint32_t *docs, uint8_t *frequencies)
{
	const struct segment_term *entry = &segment->terms[term];
	const struct posting_block *blocks = segment_blocks(segment, term);
	uint32_t count = MIN_OF(entry->df - block * POSTINGS_BLOCK, (uint32_t)POSTINGS_BLOCK);
	postings_unpack(segment->postings + entry->data + (blocks ? blocks[block].offset : 0),
	                count, block > 0 ? blocks[block - 1].last_doc + 1 : 0, docs, frequencies);
	return count;
}

uint32_t segment_published_since(const struct segment *segment, int32_t day)
{
	uint32_t low = 0;
	uint32_t high = segment->doc_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (segment->docs[middle].published >= day)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct forward segment_forward(const struct segment *segment, uint32_t doc)
{
	return forward_open(segment->forward + segment->docs[doc].forward);
}

uint32_t forward_weight(const struct forward *forward, uint32_t i)
{
	uint32_t main_count = forward->title_count + forward->abstract_count;
	bool is_title = i < forward->title_count ||
	                (i >= main_count && i < main_count + forward->title_extra_count);
	if (i >= forward_count(forward))
		return BM25_AUTHOR_WEIGHT;
	return is_title ? BM25_TITLE_WEIGHT : 1;
}
