#include "engine/engine.h"
#include "engine/internal.h"
#include "engine/text/cancel.h"
#include "engine/text/mem.h"
#include "engine/vector/lsa.h"

#include <string.h>

struct engine_merge {
	struct engine_view *view; /* to be merged; NULL for a load */
	struct builder *builder;
	struct progress progress;  /* what it includes */
	uint32_t external_model;   /* number of the external embedder; 0: built-in */
	struct base *base;         /* the result, once it has run */
	const atomic_bool *cancel; /* may be NULL */
};

static struct engine_merge *merge_new(struct engine *engine, struct engine_view *view,
                                      struct progress progress)
{
	struct engine_merge *merge = mem_array(1, sizeof(*merge));
	engine->merges++;
	merge->builder = builder_new();
	merge->view = view;
	merge->progress = progress;
	merge->external_model = engine->external_model;
	return merge;
}

struct engine_merge *engine_merge_new(struct engine *engine)
{
	struct engine_view *view = engine_view_get(engine);
	return merge_new(engine, view, view->progress);
}

struct engine_merge *engine_load_new(struct engine *engine, uint64_t seq)
{
	return merge_new(engine, NULL, (struct progress){seq, seq});
}

void engine_merge_add(struct engine_merge *merge, const struct document *document)
{
	require(!merge->base);
	if (document->seq <= merge->progress.newest)
		builder_add(merge->builder, document);
}

static void add_view(struct builder *builder, const struct engine_view *view,
                     const atomic_bool *cancel)
{
	for (uint32_t doc = 0; doc < view->base->segment->doc_count && !is_cancelled(cancel); doc++)
		if (view_is_alive(view, doc))
			builder_add_part(builder, view, PART_BASE, doc);
	for (uint32_t doc = 0; doc < view->live->doc_count; doc++)
		builder_add_part(builder, view, PART_LIVE, doc);
}

static struct embedder *copy_embedder(const struct embedder *embedder)
{
	size_t length = embedder->header->length;
	void *blob = mem_array(length, 1);
	memcpy(blob, embedder->header, length);
	struct embedder *copy = embedder_open(blob, length, true);
	require(copy);
	return copy;
}

/* The built-in embedder of the new base: a copy of the old one, unless the corpus has outgrown it. */
static struct embedder *make_embedder(const struct engine_merge *merge,
                                      const struct segment *segment)
{
	const struct embedder *old = merge->view ? merge->view->base->embedder : NULL;
	if (merge->external_model != 0)
		return NULL;
	if (!old)
		return lsa_train(segment, merge->cancel);
	bool is_outgrown = old->header->trained_on < LSA_MAX_DOCS &&
	                   segment->doc_count >= old->header->trained_on * ENGINE_RETRAIN_GROWTH;
	return is_outgrown ? lsa_train(segment, merge->cancel) : copy_embedder(old);
}

void engine_merge_set_cancel_flag(struct engine_merge *merge, const atomic_bool *cancel)
{
	merge->cancel = cancel;
}

bool engine_merge_run(struct engine_merge *merge)
{
	struct vectors *vectors = NULL;
	require(!merge->base);
	if (merge->view)
		add_view(merge->builder, merge->view, merge->cancel);
	builder_set_cancel_flag(merge->builder, merge->cancel);
	struct segment *segment = builder_finish(merge->builder, 0);
	if (segment)
		vectors = vectors_collect(merge->builder, segment);
	builder_free(merge->builder);
	merge->builder = NULL;
	if (!segment)
		return false;
	struct embedder *embedder = make_embedder(merge, segment);
	if (embedder)
		vectors = vectors_make(embedder, segment, merge->cancel);
	struct ivf *ivf = vectors ? ivf_make(vectors, IVF_MIN_VECTORS, merge->cancel) : NULL;
	merge->base = base_new(segment, embedder, vectors, ivf, merge->progress.complete);
	merge->base->external_model = merge->external_model;
	return !is_cancelled(merge->cancel);
}

/* A view of the merged base and the changes since the merge was opened: newer papers form the live
 * segment, and the base documents that they replace, or that were deleted, lose their bit. */
static struct engine_view *carry_over(const struct engine *engine, const struct engine_merge *merge)
{
	const struct segment *live = engine->view->live;
	const struct deletions *deletions = &engine->deletions;
	struct builder *builder = builder_new();
	uint64_t *alive = alive_all(merge->base->segment);
	for (uint32_t doc = 0; doc < live->doc_count; doc++) {
		if (live->docs[doc].seq <= merge->progress.newest)
			continue;
		builder_add_part(builder, engine->view, PART_LIVE, doc);
		alive_clear(alive, merge->base->segment, segment_doc_id(live, doc),
		            live->docs[doc].seq);
	}
	for (uint32_t i = 0; i < deletions->ids.count; i++)
		alive_clear(alive, merge->base->segment, intern_text(&deletions->ids, i),
		            deletions->seqs[i]);
	struct progress progress = {
		MAX_OF(engine->view->progress.complete, merge->progress.complete),
		MAX_OF(engine->view->progress.newest, merge->progress.newest),
	};
	return view_new(merge->base, builder, alive, progress);
}

void engine_merge_commit(struct engine *engine, struct engine_merge *merge)
{
	require(merge->base);
	engine_publish(engine, carry_over(engine, merge));
	engine_merge_cancel(engine, merge);
}

void engine_merge_cancel(struct engine *engine, struct engine_merge *merge)
{
	if (!merge)
		return;
	engine->merges--;
	if (engine->merges == 0)
		intern_done(&engine->deletions.ids);
	builder_free(merge->builder);
	view_unref(merge->view);
	base_unref(merge->base);
	free(merge);
}
