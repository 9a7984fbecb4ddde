/** One unchanging state of the whole index, as searches read it: the large *base* segment, the
 * small *live* segment of what changed since, and which documents of the base still count.
 *
 * Counted references: whoever searches holds one, and the last to let go frees it. Inside the
 * engine alone; others see engine.h.
 */
#pragma once

#include "engine/lexical/builder.h"
#include "engine/lexical/segment.h"
#include "engine/vector/embedder.h"
#include "engine/vector/ivf.h"
#include "engine/vector/vectors.h"

#include <stdatomic.h>
#include <stdint.h>

/** A base is shared by the views that were made since it was. */
struct base {
	atomic_uint references;
	struct segment *segment;
	uint32_t outside; /* number of the outside embedder (engine.h); 0: built in */
	struct embedder
		*embedder;       /* the one built in; NULL while there is too little to train on */
	struct vectors *vectors; /* of the segment's documents; NULL while there are none */
	struct ivf *ivf;         /* of the vectors; NULL while a scan is quick */
	uint64_t seq;            /* changes up to this one are in it */
	void *mapped; /* the snapshot that the three borrow from; NULL when they own theirs */
	size_t mapped_length;
};

enum view_part { PART_BASE, PART_LIVE, PART_COUNT };

struct engine_view {
	atomic_uint references;
	struct base *base;
	struct segment *live;
	struct vectors *live_vectors; /* as those of the base */
	/* A bit for each document of the base that is not replaced or deleted; NULL: all are. */
	uint64_t *alive;
	uint32_t dead_count; /* documents of the base that are not */
	uint64_t seq;        /* the last change that is in it */
};

/** A base with one reference. Takes all; `embedder`, `vectors` and `ivf` may be NULL. */
struct base *base_new(struct segment *segment, struct embedder *embedder, struct vectors *vectors,
                      struct ivf *ivf, uint64_t seq);
struct base *base_ref(struct base *base);
void base_unref(struct base *base);

/** A view with one reference. Takes its own reference of `base`; makes the live segment and its
 * vectors of what `live` has, and frees it; takes `alive`, which may be NULL. */
struct engine_view *view_new(struct base *base, struct builder *live, uint64_t *alive,
                             uint64_t seq);
struct engine_view *view_ref(struct engine_view *view);
void view_unref(struct engine_view *view);

static inline const struct segment *view_segment(const struct engine_view *view,
                                                 enum view_part part)
{
	return part == PART_BASE ? view->base->segment : view->live;
}

/** NULL where none of the documents has one. */
static inline const struct vectors *view_vectors(const struct engine_view *view,
                                                 enum view_part part)
{
	return part == PART_BASE ? view->base->vectors : view->live_vectors;
}

/** Whether document `doc` of `part` waits for its vector by an outside embedder. */
static inline bool view_is_bare(const struct engine_view *view, enum view_part part, uint32_t doc)
{
	const struct vectors *vectors = view_vectors(view, part);

	return view->base->embedder == NULL && (vectors == NULL || !vectors_has(vectors, doc));
}

/** Elements of the vectors; 0 while there are none. */
static inline uint32_t view_dimension(const struct engine_view *view)
{
	const struct vectors *vectors =
		view->base->vectors != NULL ? view->base->vectors : view->live_vectors;

	return vectors != NULL ? vectors->header->dimension : 0;
}

static inline const uint64_t *view_alive(const struct engine_view *view, enum view_part part)
{
	return part == PART_BASE ? view->alive : NULL;
}

/** Whether document `doc` of the base still counts. */
static inline bool view_is_alive(const struct engine_view *view, uint32_t doc)
{
	return view->alive == NULL || (view->alive[doc / 64] >> (doc % 64) & 1) != 0;
}
