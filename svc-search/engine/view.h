/** An immutable state of the index, as searches read it: the large *base* segment, the small *live*
 * segment of later changes, and a bitmap of the base documents that are still current.
 *
 * Views and bases are reference-counted; the last reference frees them. Internal to the engine;
 * other code uses engine.h.
 */
#pragma once

#include "engine/lexical/builder.h"
#include "engine/lexical/segment.h"
#include "engine/vector/embedder.h"
#include "engine/vector/ivf.h"
#include "engine/vector/vectors.h"

#include <stdatomic.h>
#include <stdint.h>

/** Shared by all views made since the last merge. */
struct base {
	atomic_uint references;
	struct segment *segment;
	uint32_t external_model; /* number of the external embedder (engine.h); 0: built-in */
	struct embedder
		*embedder;       /* built in; NULL while the corpus is too small, or if external */
	struct vectors *vectors; /* of the segment's documents; NULL while there are none */
	struct ivf *ivf;         /* of the vectors; NULL while a scan is quick */
	uint64_t seq;            /* the base includes every change up to this number */
	void *mapped; /* the snapshot file; NULL when the four parts above own their memory */
	size_t mapped_length;
};

/** What an index includes: every change up to number `complete`, and of the later ones up to `newest`
 * those that have been applied. */
struct progress {
	uint64_t complete;
	uint64_t newest;
};

enum view_part { PART_BASE, PART_LIVE, PART_COUNT };

struct engine_view {
	atomic_uint references;
	struct base *base;
	struct segment *live;
	struct vectors *live_vectors; /* of the live documents; NULL while there are none */
	/* Bitmap of the base documents that are neither replaced nor deleted; NULL: all. */
	uint64_t *alive;
	uint32_t dead_count; /* base documents that are replaced or deleted */
	struct progress progress;
};

/** A base with one reference. Takes its arguments; `embedder`, `vectors` and `ivf` may be NULL. */
struct base *base_new(struct segment *segment, struct embedder *embedder, struct vectors *vectors,
                      struct ivf *ivf, uint64_t seq);
struct base *base_ref(struct base *base);
void base_unref(struct base *base);

/** A view with one reference. Adds a reference to `base`; builds the live segment and its vectors
 * from `live`, and frees `live`; takes `alive`, which may be NULL. */
struct engine_view *view_new(struct base *base, struct builder *live, uint64_t *alive,
                             struct progress progress);
struct engine_view *view_ref(struct engine_view *view);
void view_unref(struct engine_view *view);

static inline const struct segment *view_segment(const struct engine_view *view,
                                                 enum view_part part)
{
	return part == PART_BASE ? view->base->segment : view->live;
}

/** NULL when no document of `part` has a vector. */
static inline const struct vectors *view_vectors(const struct engine_view *view,
                                                 enum view_part part)
{
	return part == PART_BASE ? view->base->vectors : view->live_vectors;
}

/** Whether the embedder is external and document `doc` of `part` has no vector yet. */
static inline bool view_awaits_vector(const struct engine_view *view, enum view_part part,
                                      uint32_t doc)
{
	const struct vectors *vectors = view_vectors(view, part);
	return !view->base->embedder && (!vectors || !vectors_has(vectors, doc));
}

/** Dimension of the vectors; 0 while there are none. */
static inline uint32_t view_dimension(const struct engine_view *view)
{
	const struct vectors *vectors =
		view->base->vectors ? view->base->vectors : view->live_vectors;
	return vectors ? vectors->header->dimension : 0;
}

static inline const uint64_t *view_alive(const struct engine_view *view, enum view_part part)
{
	return part == PART_BASE ? view->alive : NULL;
}

/** Whether document `doc` of the base is neither replaced nor deleted. */
static inline bool view_is_alive(const struct engine_view *view, uint32_t doc)
{
	return !view->alive || (view->alive[doc / 64] >> (doc % 64) & 1) != 0;
}
