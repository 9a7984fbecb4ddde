/** Builds segments (segment.h) from new documents and from documents of other segments.
 *
 * One thread may use a builder at a time; several builders may run in parallel. The result is
 * deterministic: it depends only on what was added, not on the threads that read it.
 */
#pragma once

#include "engine/lexical/analyzer.h"
#include "engine/lexical/segment.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The indexed properties of a paper. */
struct document {
	const char *id;                /* arXiv id without version; at most DOCUMENT_MAX_ID bytes */
	const char *title;             /* UTF-8, NUL-terminated, never NULL */
	const char *abstract;          /* the same */
	const char *comments;          /* found, but no part of the length; NULL: none */
	const char *const *categories; /* such as "cs.CL"; the primary one first */
	size_t category_count;         /* more than DOCUMENT_MAX_CATEGORIES are ignored */
	const char *const *authors;    /* full names, the first author first */
	size_t author_count;           /* more than DOCUMENT_MAX_AUTHORS are ignored */
	int32_t published;             /* days since 1970-01-01 */
	bool has_container;
	uint64_t seq;         /* change sequence number of this state */
	const int8_t *vector; /* from an external embedder; NULL: none */
	uint32_t dimension;   /* elements of `vector` */
};

#define DOCUMENT_MAX_ID         63
#define DOCUMENT_MAX_CATEGORIES 32
#define DOCUMENT_MAX_AUTHORS    1000

struct builder;

/** `dimension` is that of the vectors that it accepts; 0: the first vector sets it. A vector of
 * another dimension is ignored. */
struct builder *builder_new(uint32_t dimension);

/** Read the texts of new documents with `analyzer`, borrowed until builder_free(); otherwise the
 * builder makes one of its own, with one thread. Called before a document is added. */
void builder_set_analyzer(struct builder *builder, struct analyzer *analyzer);

/** Accepts NULL. */
void builder_free(struct builder *builder);

/** Add `count` documents. Copies them. Each replaces one with the same id that was added before,
 * unless that one has a greater change sequence number. */
void builder_add_all(struct builder *builder, const struct document *const *documents,
                     size_t count);

/** Add document `number` of `segment`. Borrows the segment until builder_finish(), and the vector
 * until builder_free(). `vector` has `dimension` elements; NULL: none. `list` is its list among
 * those of its embedder (vector/ivf.h); SEGMENT_NONE: not known. */
void builder_add_from(struct builder *builder, const struct segment *segment, uint32_t number,
                      const int8_t *vector, uint32_t dimension, uint32_t list);

/** Let builder_finish() write a large segment to a file in `folder` that has no name, and map it,
 * if all its documents are from other segments. So its pages need not stay in memory. Borrows.
 * NULL: the segment is made in memory. */
void builder_set_folder(struct builder *builder, const char *folder);

/** Let another thread cancel builder_finish() by setting `*cancel`. Borrows `cancel`. */
void builder_set_cancel_flag(struct builder *builder, const atomic_bool *cancel);

/** Build the segment. Afterwards only builder_dimension(), builder_vector(), builder_lists() and
 * builder_free() may be called. The caller frees the segment. Returns NULL only if it was
 * cancelled, or its file could not be written. */
struct segment *builder_finish(struct builder *builder);

/** Elements of each vector; 0 if there are no vectors. */
uint32_t builder_dimension(const struct builder *builder);

/** The vector of document `doc` of the segment that was built, borrowed; NULL: none. */
const int8_t *builder_vector(const struct builder *builder, uint32_t doc);

/** The list of each document's vector, borrowed; SEGMENT_NONE: not known. NULL: there are no
 * vectors. */
const uint32_t *builder_lists(const struct builder *builder);
