#include "engine/segment_check.h"

#include "base/base.h"
#include "engine/lexical/builder.h"
#include "engine/text/token.h"

#include <string.h>

/* Bytes of the longest encoded number; see varint_read(). */
#define VARINT_MAX_BYTES 5

/* A lookup ends at a free slot. */
static bool has_free_slot(const uint32_t *slots, size_t slot_count)
{
	for (size_t i = 0; i < slot_count; i++)
		if (slots[i] == 0)
			return true;
	return false;
}

/* Read a number that ends before `end`; false when it does not. */
static bool read_number(const uint8_t **at, const uint8_t *end, uint32_t *ret_number)
{
	if (end - *at < VARINT_MAX_BYTES) {
		const uint8_t *last = *at;
		while (last < end && (*last & 0x80))
			last++;
		if (last >= end)
			return false;
	}
	*ret_number = varint_read(at);
	return true;
}

static bool is_forward_record_valid(const struct segment *segment, uint32_t doc)
{
	const uint8_t *at = segment->forward + segment->docs[doc].forward;
	const uint8_t *end = segment->forward + segment->header->sections[SECTION_FORWARD].length;
	uint64_t count = 0;
	uint32_t number;
	for (int run = 0; run < FORWARD_RUNS; run++) {
		if (!read_number(&at, end, &number))
			return false;
		count += number;
	}
	if (count > UINT32_MAX)
		return false;
	for (; count > 0; count--)
		if (!read_number(&at, end, &number) || number >= segment->term_count)
			return false;
	return true;
}

/* Whether block number `i` of the term has ascending documents, all above those of the block before
 * it, and frequencies, and its data ends before the padding. */
static bool is_block_valid(const struct segment *segment, uint32_t number, uint32_t i)
{
	const struct segment_term *term = &segment->terms[number];
	const struct posting_block *blocks = segment_blocks(segment, number);
	uint32_t count = MIN_OF(term->df - i * POSTINGS_BLOCK, (uint32_t)POSTINGS_BLOCK);
	uint32_t base = i > 0 ? blocks[i - 1].last_doc + 1 : 0;
	uint32_t last = blocks ? blocks[i].last_doc : segment->doc_count - 1;
	uint64_t start = term->data + (blocks ? blocks[i].offset : 0);
	uint64_t length = segment->header->sections[SECTION_POSTINGS].length;
	if (start + 2 > length ||
	    postings_packed_bytes(segment->postings + start, count) + POSTINGS_PADDING >
	            length - start)
		return false;
	uint32_t docs[POSTINGS_BLOCK];
	uint8_t frequencies[POSTINGS_BLOCK];
	postings_unpack(segment->postings + start, count, base, docs, frequencies);
	for (uint32_t n = 0; n < count; n++) {
		if (docs[n] < base || docs[n] > last || frequencies[n] == 0)
			return false;
		base = docs[n] + 1;
	}
	return !blocks || docs[count - 1] == last;
}

/* The hash table finds a term by its text only if no other one has the same. */
static bool is_term_valid(const struct segment *segment, uint32_t number)
{
	const char *text = segment_term_text(segment, number);
	size_t length = strnlen(text, TERM_MAX_BYTES + 1);
	if (length > TERM_MAX_BYTES || segment_find_term(segment, text, length) != number)
		return false;
	for (uint32_t i = 0; i < segment_block_count(&segment->terms[number]); i++)
		if (!is_block_valid(segment, number, i))
			return false;
	return true;
}

/* Whether the document comes after the one before it: it is older, or as old with a greater id. */
static bool is_doc_in_order(const struct segment *segment, uint32_t doc)
{
	if (doc == 0)
		return true;
	int32_t before = segment->docs[doc - 1].published;
	int32_t published = segment->docs[doc].published;
	return published < before ||
	       (published == before &&
	        strcmp(segment_doc_id(segment, doc - 1), segment_doc_id(segment, doc)) < 0);
}

static bool is_doc_valid(const struct segment *segment, uint32_t doc)
{
	const char *id = segment_doc_id(segment, doc);
	return strnlen(id, DOCUMENT_MAX_ID + 1) <= DOCUMENT_MAX_ID &&
	       segment_find_doc(segment, id) == doc && is_doc_in_order(segment, doc) &&
	       is_forward_record_valid(segment, doc);
}

bool segment_is_valid(const struct segment *segment)
{
	if (!has_free_slot(segment->doc_slots, segment->doc_slot_count) ||
	    !has_free_slot(segment->term_slots, segment->term_slot_count))
		return false;
	for (uint32_t i = 0; i < segment->doc_count; i++)
		if (!is_doc_valid(segment, i))
			return false;
	for (uint32_t i = 0; i < segment->term_count; i++)
		if (!is_term_valid(segment, i))
			return false;
	return true;
}
