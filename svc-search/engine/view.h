/** An immutable state of the index, as searches read it: its parts, which documents of each are
 * current, and the statistics that scores depend on.
 *
 * A *part* is a segment with the vectors of its documents. A paper that changes or is deleted
 * *dies* in its part, and its new state is added to a newer part. So a paper is alive in at most
 * one part. All statistics are those of the living documents, so that scores do not depend on the
 * distribution of the documents over parts, nor on dead ones.
 *
 * Views, parts, deaths and models are reference-counted; the last reference frees them. Internal to
 * the engine; other code uses engine.h.
 */
#pragma once

#include "engine/lexical/builder.h"
#include "engine/lexical/lexical.h"
#include "engine/vector/embedder.h"
#include "engine/vector/ivf.h"
#include "engine/vector/vectors.h"

#include <stdatomic.h>
#include <stdint.h>

/** A file that is mapped into memory. */
struct mapping {
	atomic_uint references;
	void *data;
	size_t length;
};

/** A segment with its vectors; immutable. Parts that differ in their vectors share a segment. */
struct part {
	atomic_uint references;
	struct segment *segment;
	struct vectors *vectors; /* of the segment's documents; NULL while there are none */
	struct ivf *ivf;         /* of the vectors; NULL where a scan is quick */
	struct mapping *mapping; /* the file that they are in; NULL: they own their memory */
};

/** The documents of a part that are replaced or deleted; immutable. */
struct deaths {
	atomic_uint references;
	uint32_t count;
	uint64_t length; /* sum of their weighted lengths */
	uint64_t *alive; /* bitmap of the other documents; unused bits of the last word are set */
	uint32_t *df;    /* by term: how many of them contain it */
};

/** What makes the vectors. All vectors of a view are of its model. */
struct model {
	atomic_uint references;
	char *external;            /* name of the external embedder; NULL: built-in */
	struct embedder *embedder; /* NULL while there is none, or if external */
	struct mapping *mapping;   /* as in struct part */
};

/** What an index includes: every change up to number `complete`, and of the later ones up to
 * `newest` those that have been applied. */
struct progress {
	uint64_t complete;
	uint64_t newest;
};

/** A part in a view. */
struct view_part {
	struct part *part;
	struct deaths *deaths; /* NULL: none */
};

struct engine_view {
	atomic_uint references;
	struct engine_view *next_retired; /* in struct engine; NULL: none */
	struct model *model;
	struct view_part *parts; /* the one with the most living documents first */
	size_t part_count;
	struct progress progress;
	uint32_t doc_count; /* living documents */
	uint32_t dimension; /* of the vectors; 0 while there are none */
	float background;   /* mean cosine of two papers, see vectors_collect(); 0 if built-in */
	struct lexical_norms norms;
};

/** With one reference. Takes its arguments; all but `segment` may be NULL. */
struct part *part_new(struct segment *segment, struct vectors *vectors, struct ivf *ivf);
struct part *part_ref(struct part *part);
void part_unref(struct part *part);

/** With one reference. Copies `external`, takes `embedder`; both may be NULL. */
struct model *model_new(const char *external, struct embedder *embedder);
struct model *model_ref(struct model *model);
void model_unref(struct model *model);

/** With one reference. Takes `data`, which is from mmap(). */
struct mapping *mapping_new(void *data, size_t length);
struct mapping *mapping_ref(struct mapping *mapping);
void mapping_unref(struct mapping *mapping);

/** The deaths of `old`, which may be NULL, and of the `count` other documents in `docs`. With one
 * reference; NULL when there are none. */
struct deaths *deaths_add(const struct segment *segment, const struct deaths *old,
                          const uint32_t *docs, size_t count);

/** A reference to `deaths`, which may be NULL. */
struct deaths *deaths_ref(struct deaths *deaths);
void deaths_unref(struct deaths *deaths);

/** A view with one reference. Adds a reference to `model`; takes `parts`, from malloc(), and their
 * references, and drops parts without living documents. */
struct engine_view *view_new(struct model *model, struct view_part *parts, size_t count,
                             struct progress progress);
struct engine_view *view_ref(struct engine_view *view);
void view_unref(struct engine_view *view);

/** Whether the caller has the only reference to a view that nobody can take another one from. */
bool view_is_alone(const struct engine_view *view);

/** The part that `id` is alive in, and its document number; NULL: it is not indexed. */
const struct view_part *view_find(const struct engine_view *view, const char *id,
                                  uint32_t *ret_doc);

/** Number of living documents of a part. */
static inline uint32_t view_part_count(const struct view_part *at)
{
	return at->part->segment->doc_count - (at->deaths ? at->deaths->count : 0);
}

/** Whether the document is neither replaced nor deleted. */
static inline bool view_is_alive(const struct view_part *at, uint32_t doc)
{
	return !at->deaths || (at->deaths->alive[doc / 64] >> (doc % 64) & 1) != 0;
}

/** Number of living documents of a part that contain the term. */
static inline uint32_t view_part_df(const struct view_part *at, uint32_t term)
{
	uint32_t df = at->part->segment->terms[term].df;
	uint32_t dead = at->deaths ? at->deaths->df[term] : 0;
	return df > dead ? df - dead : 0;
}

/** Vectors of a part; NULL when it has none that are comparable with those of the view. */
static inline const struct vectors *view_vectors(const struct engine_view *view, size_t part)
{
	const struct vectors *vectors = view->parts[part].part->vectors;
	return vectors && vectors->header->dimension == view->dimension ? vectors : NULL;
}

/** Whether the embedder is external and the document has no vector yet. */
static inline bool view_awaits_vector(const struct engine_view *view, size_t part, uint32_t doc)
{
	const struct vectors *vectors = view_vectors(view, part);
	return view->model->external && (!vectors || !vectors_has(vectors, doc));
}
