/** What engine.c and engine_merge.c share; no business of other files. */
#pragma once

#include "engine/engine.h"
#include "engine/text/intern.h"
#include "engine/view.h"

#include <pthread.h>

/** The corpus has outgrown the embedder at this many times the papers that it was trained for. */
#define ENGINE_RETRAIN_GROWTH 1.5

/** Papers that were deleted while merges are under way, by number in `ids`. */
struct removals {
	struct intern ids;
	uint64_t *seqs;
	size_t capacity;
};

struct engine {
	pthread_mutex_t lock;     /* held only to read or swap `view` */
	struct engine_view *view; /* never NULL */
	uint32_t outside;         /* number of the outside embedder; 0: built in */
	uint32_t merges;          /* under way */
	struct removals removals;
};

/** Publish `view`, taking its reference. */
void engine_publish(struct engine *engine, struct engine_view *view);

/** A bit for each document of `segment`, all set, and the bits behind them in the last word too. The
 * caller frees it. */
uint64_t *alive_all(const struct segment *segment);

/** Clear the bit of the document `id` when its state is older than `seq` or the same. */
void alive_clear(uint64_t *alive, const struct segment *segment, const char *id, uint64_t seq);

/** Add the document `doc` of that part of the view, with its vector where an outside embedder made it;
 * the one built in makes them anew. */
void builder_add_part(struct builder *builder, const struct engine_view *view, enum view_part part,
                      uint32_t doc);
