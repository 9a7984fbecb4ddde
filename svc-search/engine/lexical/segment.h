/** An immutable part of the index: documents, their terms and their posting lists.
 *
 * A segment is one block of memory without pointers (a *blob*). builder.h makes it, or snapshot.h
 * maps it from a file; `struct segment` is a view of it. Documents are numbered newest first (by
 * published day, then by id), so that equal scores rank the newer one first and "published since"
 * is a range of numbers. Terms are numbered by descending document frequency, then by text. So the
 * *long* terms, those with more than one posting block, come first; only they have block headers.
 * The *forward record* of a document is the sequence of its term numbers; exact scores, vectors and
 * merges are computed from it.
 *
 * Any number of threads may read a segment at once. A blob is in the byte order of the machine that
 * wrote it; the magic number in its header reveals another byte order.
 */
#pragma once

#include "engine/lexical/postings.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct roaring_bitmap_s;

/** No such document, term or category. */
#define SEGMENT_NONE UINT32_MAX

/** Weighted document lengths are capped at this value. */
#define SEGMENT_MAX_LENGTH 4095

/** Of 28 bytes: there is one for each document. */
struct segment_doc {
	uint64_t seq;                /* change sequence number of the indexed state */
	uint64_t forward : 48;       /* offset of its forward record, in bytes */
	uint64_t category_count : 8; /* at most DOCUMENT_MAX_CATEGORIES */
	uint64_t has_container : 8;  /* 0 or 1 */
	uint32_t id;                 /* offset of its id in the strings */
	uint32_t categories;         /* index of its first one in the category list */
	int32_t published;           /* days since 1970-01-01 */
} __attribute__((packed, aligned(4)));

struct segment_term {
	uint64_t data; /* offset of its packed postings, in bytes */
	uint32_t text; /* offset of its text in the strings */
	uint32_t df;   /* documents that contain it; never 0 */
};

enum segment_section {
	SECTION_DOCS,          /* struct segment_doc by document number */
	SECTION_LENGTHS,       /* uint16_t by document number, see struct segment */
	SECTION_TERMS,         /* struct segment_term by term number */
	SECTION_FIRST_BLOCKS,  /* uint32_t number of the first posting block, by long term */
	SECTION_BLOCKS,        /* struct posting_block, those of a term one after another */
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
	float average_length; /* of its documents, weighted; max_impact was computed with it */
	uint64_t max_seq;     /* greatest change sequence number of any document */
	struct {
		uint64_t offset; /* from the start of the blob, a multiple of 8 */
		uint64_t length; /* in bytes */
	} sections[SECTION_COUNT];
};

struct segment {
	const struct segment_header *header;
	const struct segment_doc *docs;
	/* By document: its weighted length, where title terms count BM25_TITLE_WEIGHT times.
	 * Scoring reads the length of every posting, so lengths are close together in memory. */
	const uint16_t *lengths;
	const struct segment_term *terms;
	const uint32_t *first_blocks;
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
	uint32_t long_count; /* terms with more than one posting block */
	uint32_t category_count;
	struct roaring_bitmap_s **category_docs; /* documents by category number */
	struct roaring_bitmap_s *container_docs; /* documents with a container */
	uint64_t length_sum;                     /* of the weighted lengths of its documents */
	atomic_uint references;
	void *owned;   /* the blob if the segment frees it, else NULL */
	size_t mapped; /* its length if it is from mmap(), else 0 */
};

/** First bytes of a blob: "exseg" and a format number. */
#define SEGMENT_MAGIC UINT64_C(0x0000046765737865)

/** Allocate bm25_norm() by weighted length, SEGMENT_MAX_LENGTH + 1 values. The caller calls
 * free(). */
float *segment_norms_new(float average_length);

/** Make a view of the blob at `data`, which is aligned to 8 bytes. Borrows the blob, or with
 * `takes_data` takes it: it is then from malloc(), and is freed with the segment or if this fails.
 * Returns NULL if the data is not a blob of this format or is inconsistent. */
struct segment *segment_open(void *data, size_t length, bool takes_data);

/** The same of a blob from mmap(), which it takes. */
struct segment *segment_open_mapped(void *data, size_t length);

/** Another reference to the segment, for parts that differ in their vectors. */
struct segment *segment_ref(struct segment *segment);

/** Drop a reference; the last one frees. Accepts NULL. */
void segment_free(struct segment *segment);

/** The number of the document `id`, or SEGMENT_NONE. */
uint32_t segment_find_doc(const struct segment *segment, const char *id);

/** The number of the term `text` of `length` bytes, or SEGMENT_NONE. */
uint32_t segment_find_term(const struct segment *segment, const char *text, size_t length);

const char *segment_doc_id(const struct segment *segment, uint32_t doc);
const char *segment_term_text(const struct segment *segment, uint32_t term);
const char *segment_category_name(const struct segment *segment, uint32_t category);

/** Number of blocks in a term's posting list. */
static inline uint32_t segment_block_count(const struct segment_term *term)
{
	return (term->df + POSTINGS_BLOCK - 1) / POSTINGS_BLOCK;
}

/** The headers of a term's blocks; NULL: it has only one, without a header, at the beginning of its
 * data. */
static inline const struct posting_block *segment_blocks(const struct segment *segment,
                                                         uint32_t term)
{
	return term < segment->long_count ? segment->blocks + segment->first_blocks[term] : NULL;
}

/** The slot at which the search for a string with this hash begins. */
static inline size_t segment_slot(uint32_t hash, size_t slot_count)
{
	return (size_t)((uint64_t)hash * slot_count >> 32);
}

/** Unpack a block of a term's posting list. `docs` and `frequencies` have room for POSTINGS_BLOCK.
 * Returns the number of postings. */
uint32_t segment_unpack_block(const struct segment *segment, uint32_t term, uint32_t block,
                              uint32_t *docs, uint8_t *frequencies);

/** The documents published on `day` or later are those with a number below the result. */
uint32_t segment_published_since(const struct segment *segment, int32_t day);

/** Bytes of the forward record of a usual abstract. */
#define FORWARD_PREFETCH_BYTES 320

/** Runs of a forward record. */
#define FORWARD_RUNS 5

/** Reader of a forward record: the terms of one document, in five runs in this order. */
struct forward {
	uint32_t title_count;          /* main tokens of the title */
	uint32_t abstract_count;       /* main tokens of the abstract */
	uint32_t title_extra_count;    /* extra tokens of the title, and the document's id */
	uint32_t abstract_extra_count; /* extra tokens of the abstract, and those of comments */
	uint32_t author_count;         /* terms of the authors' names (text/name.h) */
	const uint8_t *at;             /* the next term number, see forward_next() */
};

/** Start reading the record of `doc`. */
struct forward segment_forward(const struct segment *segment, uint32_t doc);

/** Start fetching the record of `doc`, which is to be read soon, into the cache. */
static inline void segment_prefetch_forward(const struct segment *segment, uint32_t doc)
{
	const uint8_t *record = segment->forward + segment->docs[doc].forward;
	for (size_t byte = 0; byte < FORWARD_PREFETCH_BYTES; byte += 64)
		__builtin_prefetch(record + byte);
}

/** Number of tokens in a record, those of names left out. */
static inline uint32_t forward_count(const struct forward *forward)
{
	return forward->title_count + forward->abstract_count + forward->title_extra_count +
	       forward->abstract_extra_count;
}

/** The same with those of names. */
static inline uint32_t forward_count_all(const struct forward *forward)
{
	return forward_count(forward) + forward->author_count;
}

/** How much token `i` of the record adds to the weighted frequency of its term. */
uint32_t forward_weight(const struct forward *forward, uint32_t i);

/** Read a number of up to 32 bits, seven in each byte, the lowest first. Moves `at` past it. */
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

/** Start reading the record that begins at `at`. */
static inline struct forward forward_open(const uint8_t *at)
{
	struct forward forward = {.at = at};
	forward.title_count = varint_read(&forward.at);
	forward.abstract_count = varint_read(&forward.at);
	forward.title_extra_count = varint_read(&forward.at);
	forward.abstract_extra_count = varint_read(&forward.at);
	forward.author_count = varint_read(&forward.at);
	return forward;
}

/** Read the next term number. The record must have one. */
static inline uint32_t forward_next(struct forward *forward)
{
	return varint_read(&forward->at);
}
