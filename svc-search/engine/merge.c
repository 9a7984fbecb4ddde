#include "engine/engine.h"
#include "engine/internal.h"
#include "engine/text/cancel.h"
#include "engine/text/mem.h"
#include "engine/vector/lsa.h"

#include <string.h>

struct engine_merge {
	struct engine_view *view;  /* when it was opened */
	bool *is_source;           /* by part of `view` */
	bool trains;               /* trains the embedder; then every part is a source */
	struct model *model;       /* of the result, once it has run */
	struct part *part;         /* the result, once it has run; NULL: no document is left */
	const atomic_bool *cancel; /* may be NULL */
};

/* Mark the parts that a merge of this kind is to replace. Returns how many. */
static size_t pick_sources(const struct engine_view *view, enum engine_merge_kind kind,
                           bool *is_source)
{
	bool takes_all = kind == ENGINE_MERGE_ALL ||
	                 (kind == ENGINE_MERGE_DUE && engine_is_training_due(view));
	if (!takes_all)
		return tiers_pick(view, is_source);
	for (size_t i = 0; i < view->part_count; i++)
		is_source[i] = true;
	return view->part_count;
}

bool engine_is_merge_due(const struct engine *engine, enum engine_merge_kind kind)
{
	const struct engine_view *view = engine->view;
	mem_auto_free bool *is_source = mem_array(view->part_count, sizeof(bool));
	return !engine->merge && pick_sources(view, kind, is_source) > 0;
}

struct engine_merge *engine_merge_new(struct engine *engine, enum engine_merge_kind kind)
{
	struct engine_view *view = engine->view;
	bool *is_source = mem_array(view->part_count, sizeof(bool));
	require(!engine->merge);
	if (pick_sources(view, kind, is_source) == 0) {
		free(is_source);
		return NULL;
	}
	struct engine_merge *merge = mem_array(1, sizeof(*merge));
	merge->view = engine_view_get(engine);
	merge->is_source = is_source;
	merge->trains = kind != ENGINE_MERGE_PARTS && engine_is_training_due(view);
	engine->merge = merge;
	return merge;
}

bool engine_is_merging(const struct engine *engine, const struct part *part)
{
	const struct engine_merge *merge = engine->merge;
	for (size_t i = 0; merge && i < merge->view->part_count; i++)
		if (merge->view->parts[i].part == part)
			return merge->is_source[i];
	return false;
}

void engine_merge_set_cancel_flag(struct engine_merge *merge, const atomic_bool *cancel)
{
	merge->cancel = cancel;
}

static struct embedder *copy_embedder(const struct embedder *embedder)
{
	size_t length = embedder->header->length;
	void *blob = mem_array(length, 1);
	memcpy(blob, embedder->header, length);
	return embedder_open(blob, length, true);
}

/* A merge that trains: build the segment, train on it, and compute all vectors. */
static void run_training(struct engine_merge *merge, struct builder *builder)
{
	const struct embedder *old = merge->view->model->embedder;
	struct model none = {.external = 0};
	struct part *part = part_build(builder, &none, merge->cancel);
	struct embedder *embedder = part ? lsa_train(part->segment, merge->cancel) : NULL;
	if (part && !embedder && old)
		embedder = copy_embedder(old);
	merge->part = part;
	merge->model = model_new(0, embedder, merge->view->doc_count);
	if (!embedder)
		return;
	part->vectors = vectors_make(embedder, part->segment, NULL, merge->cancel);
	part->ivf = ivf_make(part->vectors, IVF_MIN_VECTORS, merge->cancel);
}

bool engine_merge_run(struct engine_merge *merge)
{
	struct builder *builder = builder_new(merge->view->dimension);
	require(!merge->model);
	for (size_t i = 0; i < merge->view->part_count; i++)
		if (merge->is_source[i])
			builder_add_part(builder, merge->view, i, !merge->trains, merge->cancel);
	if (merge->trains) {
		run_training(merge, builder);
	} else {
		merge->model = model_ref(merge->view->model);
		merge->part = part_build(builder, merge->model, merge->cancel);
	}
	return merge->part && !is_cancelled(merge->cancel);
}

static const struct view_part *find_part(const struct engine_view *view, const struct part *part)
{
	for (size_t i = 0; i < view->part_count; i++)
		if (view->parts[i].part == part)
			return &view->parts[i];
	return NULL;
}

/* Documents of the result that have died since the merge was opened. The view has dropped a source
 * whose documents are all dead. The caller frees them. */
static uint32_t *find_dead(const struct engine_view *view, const struct engine_merge *merge,
                           size_t *ret_count)
{
	const struct segment *merged = merge->part->segment;
	uint32_t *dead = mem_array(merged->doc_count, sizeof(uint32_t));
	size_t count = 0;
	for (size_t i = 0; i < merge->view->part_count; i++) {
		const struct view_part *before = &merge->view->parts[i];
		const struct view_part *now = find_part(view, before->part);
		const struct segment *segment = before->part->segment;
		if (!merge->is_source[i] || (now && now->deaths == before->deaths))
			continue;
		for (uint32_t doc = 0; doc < segment->doc_count; doc++)
			if (view_is_alive(before, doc) && !(now && view_is_alive(now, doc)))
				dead[count++] =
					segment_find_doc(merged, segment_doc_id(segment, doc));
	}
	*ret_count = count;
	return dead;
}

/* A copy of the part with vectors of another embedder. */
static struct part *embed_again(const struct part *part, const struct embedder *embedder)
{
	size_t length = part->segment->header->length;
	void *blob = mem_array(length, 1);
	memcpy(blob, part->segment->header, length);
	struct segment *segment = segment_open(blob, length, true);
	require(segment);
	struct vectors *vectors = vectors_make(embedder, segment, NULL, NULL);
	return part_new(segment, vectors, ivf_make(vectors, IVF_MIN_VECTORS, NULL));
}

/* Replaces the sources by the result. Parts that were added meanwhile stay; they get vectors of the new
 * embedder if it was trained. */
void engine_merge_commit(struct engine *engine, struct engine_merge *merge)
{
	const struct engine_view *view = engine->view;
	struct view_part *parts = mem_array(view->part_count + 1, sizeof(*parts));
	size_t count = 0;
	size_t dead_count;
	require(engine->merge == merge && merge->part);
	mem_auto_free uint32_t *dead = find_dead(view, merge, &dead_count);
	for (size_t i = 0; i < view->part_count; i++) {
		const struct view_part *at = &view->parts[i];
		if (engine_is_merging(engine, at->part))
			continue;
		parts[count].part = merge->model == view->model || !merge->model->embedder
		                            ? part_ref(at->part)
		                            : embed_again(at->part, merge->model->embedder);
		parts[count++].deaths = deaths_ref(at->deaths);
	}
	parts[count].part = part_ref(merge->part);
	parts[count++].deaths = deaths_add(merge->part->segment, NULL, dead, dead_count);
	engine_publish(engine, view_new(merge->model, parts, count, view->progress));
	engine_merge_cancel(engine, merge);
}

void engine_merge_cancel(struct engine *engine, struct engine_merge *merge)
{
	if (!merge)
		return;
	engine->merge = NULL;
	part_unref(merge->part);
	model_unref(merge->model);
	view_unref(merge->view);
	free(merge->is_source);
	free(merge);
}
