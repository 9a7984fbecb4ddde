/** Shared by engine.c and merge.c only. */
#pragma once

#include "engine/engine.h"
#include "engine/text/intern.h"
#include "engine/view.h"

#include <pthread.h>

/** Retrain the embedder once the corpus has grown by this factor since the last training. */
#define ENGINE_RETRAIN_GROWTH 1.5

/** Papers deleted while a merge is open, which the merge may still contain. */
struct deletions {
	struct intern ids;
	uint64_t *seqs; /* of the deletion, by number in `ids` */
	size_t capacity;
};

struct engine {
	pthread_mutex_t lock;     /* held only to read or swap `view` */
	struct engine_view *view; /* never NULL */
	uint32_t external_model;  /* number of the external embedder; 0: built-in */
	uint32_t merges;          /* open merges */
	struct deletions deletions;
};

/** Make `view` the current view. Takes its reference. */
void engine_publish(struct engine *engine, struct engine_view *view);

/** A bitmap of the documents of `segment` with every bit set, including the unused bits of the last
 * word. The caller frees it. */
uint64_t *alive_all(const struct segment *segment);

/** Clear the bit of document `id` unless its state is newer than `seq`. */
void alive_clear(uint64_t *alive, const struct segment *segment, const char *id, uint64_t seq);

/** Add document `doc` of `part`, with its external vector if it has one. Vectors of the built-in
 * embedder are not copied; they are computed again. */
void builder_add_part(struct builder *builder, const struct engine_view *view, enum view_part part,
                      uint32_t doc);
