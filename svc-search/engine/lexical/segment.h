/** An immutable piece of the index: some documents, their terms and postings.
 *
 * A segment is one block of memory without pointers (a *blob*), made by builder.h or mapped from a
 * snapshot (snapshot.h); `struct segment` is a view of it. Documents are numbered newest first (by
 * published day, then by id), so that equal scores rank the newer first and "published since" is a
 * range of numbers. Terms are numbered by falling document frequency. What a document consists of
 * is kept as its *forward record*, the term numbers one after another: exact scores, word pairs,
 * vectors and merges read it.
 *
 * Reading is safe from many threads at once. Blobs are of the machine's own byte order; the header
 * tells.
 */
#pragma once

#include "engine/lexical/postings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct roaring_bitmap_s;

/** No such document, term or category. */
#define SEGMENT_NONE UINT32_MAX

/** Longest weighted length that is kept. */
#define SEGMENT_MAX_LENGTH 4095

struct segment_doc {
	uint64_t seq;        /* change sequence number of the state that is indexed */
	uint64_t forward;    /* where its forward record begins, in bytes */
	uint32_t id;         /* offset of its id in the strings */
	uint32_t categories; /* where its categories begin in the category list */
	int32_t published;   /* days since 1970-01-01 */
	uint16_t length;     /* weighted: title terms count BM25_TITLE_WEIGHT times */
	uint8_t category_count;
	uint8_t has_container; /* 0 or 1 */
};

struct segment_term {
	uint64_t data;        /* where its packed postings begin, in bytes */
	uint32_t text;        /* offset of its text in the strings */
	uint32_t df;          /* documents that hold it; never 0 */
	uint32_t first_block; /* number of its first posting block */
};

enum segment_section {
	SECTION_DOCS,          /* struct segment_doc by document number */
	SECTION_TERMS,         /* struct segment_term by term number */
	SECTION_BLOCKS,        /* struct posting_block */
	SECTION_POSTINGS,      /* packed postings and padding */
	SECTION_FORWARD,       /* forward records, see struct forward */
	SECTION_STRINGS,       /* ids, terms and category names, NUL-terminated */
	SECTION_DOC_SLOTS,     /* hash table of ids: document number + 1 */
	SECTION_TERM_SLOTS,    /* hash table of terms: term number + 1 */
	SECTION_CATEGORY_LIST, /* uint16_t category numbers, document after document */
	SECTION_CATEGORIES,    /* uint32_t offset of the name in the strings, by category number */
	SECTION_COUNT,
};

struct segment_header {
	uint64_t magic;
	uint64_t length; /* of the blob, in bytes */
	uint32_t doc_count;
	uint32_t term_count;
	uint32_t category_count;
	float average_length; /* that impacts were computed with; weighted */
	uint64_t max_seq;     /* greatest change sequence number of any document */
	struct {
		uint64_t offset; /* from the start of the blob, a multiple of 8 */
		uint64_t length; /* in bytes */
	} sections[SECTION_COUNT];
};

struct segment {
	const struct segment_header *header;
	const struct segment_doc *docs;
	const struct segment_term *terms;
	const struct posting_block *blocks;
	const uint8_t *postings;
	const uint8_t *forward;
	const char *strings;
	const uint32_t *doc_slots;
	const uint32_t *term_slots;
	size_t doc_slot_count;
	size_t term_slot_count;
	const uint16_t *category_list;
	const uint32_t *categories;
	uint32_t doc_count;
	uint32_t term_count;
	uint32_t category_count;
	struct roaring_bitmap_s **category_docs; /* which documents, by category number */
	struct roaring_bitmap_s *container_docs; /* those with a container */
	float *norms;                            /* bm25_norm() by weighted length */
	void *owned;                             /* the blob when the segment frees it; else NULL */
};

/** First bytes of a blob: "exseg" and a format number. */
#define SEGMENT_MAGIC UINT64_C(0x0000016765737865)

/** View the blob at `data` (aligned to 8). Borrows it; with `takes_data` set it is malloc()ed and
 * the segment frees it, also when this fails. Returns NULL when it is not a blob of this format, or
 * one whose sections and numbers do not fit each other. */
struct segment *segment_open(void *data, size_t length, bool takes_data);

/** NULL is fine. */
void segment_free(struct segment *segment);

/** The number of the document `id`, or SEGMENT_NONE. */
uint32_t segment_find_doc(const struct segment *segment, const char *id);

/** The number of the term `text` of `length` bytes, or SEGMENT_NONE. */
uint32_t segment_find_term(const struct segment *segment, const char *text, size_t length);

const char *segment_doc_id(const struct segment *segment, uint32_t doc);
const char *segment_term_text(const struct segment *segment, uint32_t term);
const char *segment_category_name(const struct segment *segment, uint32_t category);

/** Blocks of a term's posting list. */
static inline uint32_t segment_block_count(const struct segment_term *term)
{
	return (term->df + POSTINGS_BLOCK - 1) / POSTINGS_BLOCK;
}

/** Documents published on `day` or later are those numbered below this. */
uint32_t segment_published_since(const struct segment *segment, int32_t day);

/** One document's terms: four runs, in this order. Positions count main tokens. */
struct forward {
	uint32_t title_count;          /* main tokens of the title */
	uint32_t abstract_count;       /* main tokens of the abstract */
	uint32_t title_extra_count;    /* extra tokens of the title, and the document's id */
	uint32_t abstract_extra_count; /* extra tokens of the abstract */
	const uint8_t *at;             /* the first term number, see forward_next() */
};

/** Begin to read the record of `doc`. */
struct forward segment_forward(const struct segment *segment, uint32_t doc);

/** All tokens of a record. */
static inline uint32_t forward_count(const struct forward *forward)
{
	return forward->title_count + forward->abstract_count + forward->title_extra_count +
	       forward->abstract_extra_count;
}

/** What the token number `i` of the record adds to its term's weighted frequency. */
uint32_t forward_weight(const struct forward *forward, uint32_t i);

/** Read a number of up to 32 bits, seven bits a byte, and move `at` behind it. */
static inline uint32_t varint_read(const uint8_t **at)
{
	uint32_t value = 0;
	unsigned shift = 0;
	uint8_t byte;
	do {
		byte = *(*at)++;
		value |= (uint32_t)(byte & 0x7F) << shift;
		shift += 7;
	} while ((byte & 0x80) != 0 && shift < 35);
	return value;
}

/** The next term number of a record that has one. */
static inline uint32_t forward_next(struct forward *forward)
{
	return varint_read(&forward->at);
}
