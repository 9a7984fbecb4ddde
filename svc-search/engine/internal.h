/** Shared by engine.c, adoption.c, merge.c and tiers.c only. */
#pragma once

#include "engine/engine.h"
#include "engine/view.h"

#include <pthread.h>

struct engine {
	pthread_mutex_t lock;             /* held only to read or swap `view` */
	struct engine_view *view;         /* never NULL */
	struct engine_view *retired;      /* old views that may have readers; used by the writer */
	struct engine_merge *merge;       /* the open one; NULL: none */
	struct engine_adoption *adoption; /* the same; not both are open */
	struct analyzer *analyzer;        /* used by the writer; NULL before the first change */
	int analyzer_threads;
	char *folder; /* of the files of merges; NULL: none */
};

/** Make `view` the current view. Takes its reference. */
void engine_publish(struct engine *engine, struct engine_view *view);

/** Whether the part is being merged. */
bool engine_is_merging(const struct engine *engine, const struct part *part);

/** Add the living documents of part number `part`, with their vectors if `has_vectors`. */
void builder_add_part(struct builder *builder, const struct engine_view *view, size_t part,
                      bool has_vectors, const atomic_bool *cancel);

/** Build a part, with vectors by the embedder of `model`, except those that the builder has. Frees
 * `builder`. NULL: it was cancelled, or its file could not be
 * written; `cancel` may be NULL. */
struct part *part_build(struct builder *builder, const struct model *model,
                        const atomic_bool *cancel);

/** The inverted file of vectors that this model made, in whose order it puts them; NULL: a scan is
 * quick. `lists` are known lists of the embedder, as in ivf_make(). */
struct ivf *model_make_ivf(const struct model *model, struct vectors *vectors,
                           const uint32_t *lists, const atomic_bool *cancel);

/** Tiers. A view has a few parts of each order of magnitude. Parts of one tier are merged when
 * there are TIERS_FAN_IN of them, so each document is merged once a tier (O'Neil et al., "The
 * log-structured merge-tree", 1996; the same rule as Lucene's TieredMergePolicy). A part of which a
 * quarter is dead is rewritten. */
#define TIERS_FAN_IN 8

/** A part of at most this many documents is *live*: it is rebuilt with the next change. */
#define TIERS_LIVE_DOCS 256

/** With more parts than this, the TIERS_FAN_IN smallest ones are rebuilt with the next change, so
 * that their number stays bounded during a long merge. */
#define TIERS_MAX_PARTS 24

/** Mark the parts that are to be merged now in `is_source`, by part number. Returns how many; 0: no
 * merge is due. */
size_t tiers_pick(const struct engine_view *view, bool *is_source);

/** Mark the parts of `view` that a change is to be built with, among those not being merged. */
void tiers_absorb(const struct engine *engine, const struct engine_view *view, bool *is_absorbed);
