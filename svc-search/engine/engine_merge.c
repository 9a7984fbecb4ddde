#include "engine/engine.h"
#include "engine/engine_internal.h"
#include "engine/text/mem.h"
#include "engine/text/stop.h"
#include "engine/vector/lsa.h"

#include <string.h>

struct engine_merge {
	struct engine_view *view; /* what is merged; NULL for a load */
	struct builder *builder;
	uint64_t seq;            /* changes up to this one are in it */
	uint32_t outside;        /* number of the outside embedder; 0: built in */
	struct base *base;       /* the outcome, once it has run */
	const atomic_bool *stop; /* NULL: it runs to its end */
};

static struct engine_merge *merge_new(struct engine *engine, struct engine_view *view, uint64_t seq)
{
	struct engine_merge *merge = mem_array(1, sizeof(*merge));

	engine->merges++;
	merge->builder = builder_new();
	merge->view = view;
	merge->seq = seq;
	merge->outside = engine->outside;
	return merge;
}

struct engine_merge *engine_merge_new(struct engine *engine)
{
	struct engine_view *view = engine_view_get(engine);

	return merge_new(engine, view, view->seq);
}

struct engine_merge *engine_load_new(struct engine *engine, uint64_t seq)
{
	return merge_new(engine, NULL, seq);
}

void engine_merge_add(struct engine_merge *merge, const struct document *document)
{
	require(merge->base == NULL);
	if (document->seq <= merge->seq)
		builder_add(merge->builder, document);
}

static void add_view(struct builder *builder, const struct engine_view *view,
                     const atomic_bool *stop)
{
	for (uint32_t doc = 0; doc < view->base->segment->doc_count && !stop_is_set(stop); doc++)
		if (view_is_alive(view, doc))
			builder_add_part(builder, view, PART_BASE, doc);
	for (uint32_t doc = 0; doc < view->live->doc_count; doc++)
		builder_add_part(builder, view, PART_LIVE, doc);
}

static struct embedder *copy_embedder(const struct embedder *embedder)
{
	size_t length = embedder->header->length;
	void *blob = mem_array(length, 1);
	struct embedder *copy;

	memcpy(blob, embedder->header, length);
	copy = embedder_open(blob, length, true);
	require(copy != NULL);
	return copy;
}

/* The built-in embedder for the new base: the old one's, unless the corpus has outgrown it. */
static struct embedder *make_embedder(const struct engine_merge *merge,
                                      const struct segment *segment)
{
	const struct embedder *old = merge->view != NULL ? merge->view->base->embedder : NULL;
	bool is_outgrown;

	if (merge->outside != 0)
		return NULL;
	if (old == NULL)
		return lsa_train_until(segment, merge->stop);
	is_outgrown = old->header->trained_on < LSA_MAX_DOCS &&
	              segment->doc_count >= old->header->trained_on * ENGINE_RETRAIN_GROWTH;
	return is_outgrown ? lsa_train_until(segment, merge->stop) : copy_embedder(old);
}

void engine_merge_heed(struct engine_merge *merge, const atomic_bool *stop)
{
	merge->stop = stop;
}

bool engine_merge_run(struct engine_merge *merge)
{
	struct segment *segment;
	struct embedder *embedder;
	struct vectors *vectors = NULL;
	struct ivf *ivf;

	require(merge->base == NULL);
	if (merge->view != NULL)
		add_view(merge->builder, merge->view, merge->stop);
	builder_heed(merge->builder, merge->stop);
	segment = builder_finish(merge->builder, 0);
	if (segment != NULL)
		vectors = vectors_collect(merge->builder, segment);
	builder_free(merge->builder);
	merge->builder = NULL;
	if (segment == NULL)
		return false;
	embedder = make_embedder(merge, segment);
	if (embedder != NULL)
		vectors = vectors_make(embedder, segment, merge->stop);
	ivf = vectors != NULL ? ivf_make(vectors, IVF_MIN_VECTORS, merge->stop) : NULL;
	merge->base = base_new(segment, embedder, vectors, ivf, merge->seq);
	merge->base->outside = merge->outside;
	return !stop_is_set(merge->stop);
}

/* Take what changed since the merge began over from the current view: newer papers into a live
 * segment, and the bits of what they replace, or of what was deleted, cleared. */
static struct engine_view *carry_over(const struct engine *engine, const struct engine_merge *merge)
{
	const struct segment *live = engine->view->live;
	const struct removals *removals = &engine->removals;
	struct builder *builder = builder_new();
	uint64_t *alive = alive_all(merge->base->segment);

	for (uint32_t doc = 0; doc < live->doc_count; doc++) {
		if (live->docs[doc].seq <= merge->seq)
			continue;
		builder_add_part(builder, engine->view, PART_LIVE, doc);
		alive_clear(alive, merge->base->segment, segment_doc_id(live, doc),
		            live->docs[doc].seq);
	}
	for (uint32_t i = 0; i < removals->ids.count; i++)
		alive_clear(alive, merge->base->segment, intern_text(&removals->ids, i),
		            removals->seqs[i]);
	return view_new(merge->base, builder, alive, MAX_OF(engine->view->seq, merge->seq));
}

void engine_merge_commit(struct engine *engine, struct engine_merge *merge)
{
	require(merge->base != NULL);
	engine_publish(engine, carry_over(engine, merge));
	engine_merge_cancel(engine, merge);
}

void engine_merge_cancel(struct engine *engine, struct engine_merge *merge)
{
	if (merge == NULL)
		return;
	engine->merges--;
	if (engine->merges == 0)
		intern_done(&engine->removals.ids);
	builder_free(merge->builder);
	view_unref(merge->view);
	base_unref(merge->base);
	free(merge);
}
