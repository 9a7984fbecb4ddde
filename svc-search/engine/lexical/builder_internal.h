/** The data that builder.c collects, and builder_write.c, builder_lists.c and builder_blob.c write
 * as a segment. Private to these files. */
#pragma once

#include "base/arena.h"
#include "engine/lexical/builder.h"
#include "engine/text/intern.h"

struct builder_doc {
	uint64_t seq;
	/* its number in its source; of a new document: offset of its record in the share */
	size_t place;
	uint32_t id;         /* intern number in `ids`, and the index of this entry in `docs` */
	uint32_t categories; /* index of its first one in `category_list` */
	uint32_t source;     /* number in `sources` + 1; 0: its record is in a share */
	int32_t published;
	uint16_t length; /* weighted; at most SEGMENT_MAX_LENGTH */
	uint8_t category_count;
	uint8_t has_container;
	uint16_t share;       /* number in `shares`, of a new document */
	uint32_t list;        /* of the vector; SEGMENT_NONE: not known */
	const int8_t *vector; /* in `vectors`, or borrowed by builder_add_from(); NULL: none */
};

/** A segment from which documents are added. */
struct builder_source {
	const struct segment *segment; /* borrowed */
	uint32_t added;                /* documents */
	uint32_t *terms; /* by its term number: intern number, after rank_terms() the new number */
	uint32_t *docs; /* by its document number: the new one, or SEGMENT_NONE if it is left out */
	uint32_t *categories; /* by its category number: intern number + 1; 0: not looked up yet */
};

/** A growing byte array. */
struct bytes {
	uint8_t *data;
	size_t length;
	size_t capacity;
};

/** A growing array of term numbers. */
struct numbers {
	uint32_t *items;
	size_t count;
	size_t capacity;
};

enum builder_run {
	RUN_TITLE,
	RUN_ABSTRACT,
	RUN_TITLE_EXTRA,
	RUN_ABSTRACT_EXTRA,
	RUN_AUTHORS,
	RUN_COUNT
};

/** The new documents that one thread has read. */
struct builder_share {
	struct tokenizer *tokenizer; /* of the analyzer */
	struct intern terms;
	uint32_t *numbers;    /* as in struct builder_source; NULL before builder_finish() */
	struct bytes forward; /* records of documents; terms by number in `terms` */
	struct numbers runs[RUN_COUNT]; /* terms of the document that is being added */
	uint32_t *name_docs;            /* by term: the last document with it as a name; 0: none */
	size_t name_docs_capacity;
	uint32_t name_document; /* number of the last document, counted for `name_docs` */
} __attribute__((aligned(64))); /* each thread writes only to cache lines of its own */

struct builder {
	struct analyzer *analyzer; /* NULL: no document was added to the shares yet */
	bool owns_analyzer;
	struct builder_share *shares; /* one for each thread of the analyzer */
	size_t share_count;
	struct intern terms; /* of all shares and sources; filled by builder_finish() */
	struct intern ids;
	struct intern categories;
	struct builder_doc *docs; /* by intern number of the id */
	size_t docs_capacity;
	struct builder_source *sources;
	size_t source_count;
	size_t sources_capacity;
	bool has_replaced;       /* a document was added twice */
	uint16_t *category_list; /* intern numbers in `categories` */
	size_t category_list_count;
	size_t category_list_capacity;
	const char *folder;        /* borrowed; NULL: no file */
	const atomic_bool *cancel; /* borrowed; NULL: cannot be cancelled */
	uint32_t dimension;        /* of the vectors; 0: not known yet */
	bool has_vectors;
	struct arena *vectors; /* copied vectors; NULL: none yet */
	/* By document number in the segment, set by builder_finish(); NULL: no document has a
	 * vector. */
	const int8_t **doc_vectors;
	uint32_t *doc_lists;
};

/** State of one builder_finish(), shared by its steps. */
struct writer {
	struct builder *builder;
	struct bytes blob; /* the segment after its `in_file` bytes; its header is written last */
	size_t in_file;    /* bytes of the segment */
	int file;          /* -1: none */
	bool has_failed;   /* to write the file */
	struct segment_header header;
	struct bytes strings;
	const struct builder_doc **order; /* documents by new number, while they are needed */
	uint32_t *df;                     /* by intern number */
	uint32_t *new_df;                 /* the same, of the new documents alone */
	uint32_t *rank;                   /* new term number by intern number */
	uint32_t *by_rank;                /* intern number by new term number */
	struct segment_doc *docs;
	uint16_t *lengths; /* by document */
	struct segment_term *terms;
	struct bytes first_blocks; /* see SECTION_FIRST_BLOCKS */
	struct bytes blocks;
};

/** Write the posting lists of all terms as a section, and their blocks. Takes the term numbers of
 * the sources. */
void write_lists(struct writer *writer);

/** The bytes of the segment that were written. */
size_t blob_length(const struct writer *writer);

/** Append `length` bytes to the segment. */
void blob_add(struct writer *writer, const void *data, size_t length);

/** Move the blob to the file, if there may be one and it is long enough. */
void blob_flush(struct writer *writer);

/** The complete segment, with the header; NULL: the file could not be written. */
struct segment *blob_open(struct writer *writer);

/** Free what blob_open() has not taken. */
void blob_done(struct writer *writer);

/** Begin a section at the end of the blob. */
void begin_section(struct writer *writer, enum segment_section section);

/** End the section that was begun last. */
void end_section(struct writer *writer, enum segment_section section);

/** Free the bytes; there are none then. */
void bytes_done(struct bytes *bytes);

/** Append `length` bytes. */
void bytes_add(struct bytes *bytes, const void *data, size_t length);

/** Make room for `length` more bytes. */
void bytes_reserve(struct bytes *bytes, size_t length);

/** Maximum bytes of a varint: 32 bits, seven in each byte. */
#define VARINT_MAX_BYTES 5

/** Write a number at `out`, seven bits in each byte, the lowest first; varint_read() reads it.
 * There is room for it. Returns the byte after it. */
static inline uint8_t *varint_write(uint8_t *out, uint32_t value)
{
	for (; value >= 0x80; value >>= 7)
		*out++ = (uint8_t)(value | 0x80);
	*out++ = (uint8_t)value;
	return out;
}
