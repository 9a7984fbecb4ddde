/** Makes segments (segment.h): from documents, and from documents of other segments.
 *
 * Not safe for use from two threads at once; two builders on two threads are fine. The result
 * depends on what was added, not on time or machine.
 */
#pragma once

#include "engine/lexical/segment.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What is indexed of a paper. */
struct document {
	const char *id;    /* arXiv id without version; at most DOCUMENT_MAX_ID bytes */
	const char *title; /* UTF-8, NUL-terminated; never NULL, as the abstract */
	const char *abstract;
	const char *const *categories; /* such as "cs.CL"; primary first */
	size_t category_count;         /* those past DOCUMENT_MAX_CATEGORIES are left out */
	int32_t published;             /* days since 1970-01-01 */
	bool has_container;
	uint64_t seq;         /* change sequence number of this state */
	const int8_t *vector; /* where an outside embedder made one; NULL: none */
	uint32_t dimension;   /* elements of it */
};

#define DOCUMENT_MAX_ID         63
#define DOCUMENT_MAX_CATEGORIES 32

struct builder;

struct builder *builder_new(void);

/** NULL is fine. */
void builder_free(struct builder *builder);

/** Add a document; copies. One with the same id that was added before is replaced, unless it has
 * the greater change sequence number. */
void builder_add(struct builder *builder, const struct document *document);

/** Add the document `number` of `segment`, which must live until builder_finish(). `vector` (NULL:
 * none) are its `dimension` elements, which must live as long as the builder. */
void builder_add_from(struct builder *builder, const struct segment *segment, uint32_t number,
                      const int8_t *vector, uint32_t dimension);

/** Documents that were added. */
uint32_t builder_count(const struct builder *builder);

/** Have builder_finish() give up soon after `*cancel` has become true. Borrows. */
void builder_set_cancel_flag(struct builder *builder, const atomic_bool *cancel);

/** Make the segment; the builder then only tells vectors, and can be freed. `average_length` is what
 * impacts are computed with, so that the scores of several segments compare; 0 takes the documents'
 * own average. NULL only when it was given up; the caller frees it. */
struct segment *builder_finish(struct builder *builder, float average_length);

/** Elements of the vectors that were added, 0 when none was. The first one sets it; a document
 * whose vector is of another length counts as one without. */
uint32_t builder_dimension(const struct builder *builder);

/** The vector that was added with the document `id`; NULL when it has none. */
const int8_t *builder_vector(const struct builder *builder, const char *id);
