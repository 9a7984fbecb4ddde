#include "engine/engine.h"
#include "engine/internal.h"
#include "engine/text/cancel.h"
#include "engine/text/mem.h"

#include <string.h>

struct engine_merge {
	struct engine_view *view;  /* when it was opened */
	bool *is_source;           /* by part of `view` */
	struct part *part;         /* the result, once it has run */
	const char *folder;        /* of the engine; may be NULL */
	const atomic_bool *cancel; /* may be NULL */
	bool has_file_failed;
};

/* Mark the parts that a merge is to replace. Returns how many. */
static size_t pick_sources(const struct engine_view *view, enum engine_merge_kind kind,
                           bool *is_source)
{
	if (kind == ENGINE_MERGE_DUE)
		return tiers_pick(view, is_source);
	for (size_t i = 0; i < view->part_count; i++)
		is_source[i] = true;
	return view->part_count;
}

bool engine_is_merge_due(const struct engine *engine, enum engine_merge_kind kind)
{
	const struct engine_view *view = engine->view;
	mem_auto_free bool *is_source = mem_array(view->part_count, sizeof(bool));
	return !engine->merge && !engine->adoption && pick_sources(view, kind, is_source) > 0;
}

struct engine_merge *engine_merge_new(struct engine *engine, enum engine_merge_kind kind)
{
	struct engine_view *view = engine->view;
	bool *is_source = mem_array(view->part_count, sizeof(bool));
	require(!engine->merge && !engine->adoption);
	if (pick_sources(view, kind, is_source) == 0) {
		free(is_source);
		return NULL;
	}
	struct engine_merge *merge = mem_array(1, sizeof(*merge));
	merge->view = engine_view_get(engine);
	merge->is_source = is_source;
	merge->folder = engine->folder;
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

/* The sources as one part; NULL: it was cancelled, or the file in `folder` failed. */
static struct part *build_merged(const struct engine_merge *merge, const char *folder)
{
	const struct engine_view *view = merge->view;
	struct builder *builder = builder_new(view->dimension);
	builder_set_folder(builder, folder);
	for (size_t i = 0; i < view->part_count; i++)
		if (merge->is_source[i])
			builder_add_part(builder, view, i, true, merge->cancel);
	return part_build(builder, view->model, merge->cancel);
}

bool engine_merge_run(struct engine_merge *merge)
{
	require(!merge->part);
	merge->part = build_merged(merge, merge->folder);
	merge->has_file_failed = !merge->part && !is_cancelled(merge->cancel);
	if (merge->has_file_failed)
		merge->part = build_merged(merge, NULL);
	return merge->part && !is_cancelled(merge->cancel);
}

bool engine_merge_has_file_failed(const struct engine_merge *merge)
{
	return merge->has_file_failed;
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

/* Replaces the sources by the result. Parts that were added meanwhile stay. */
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
		parts[count].part = part_ref(at->part);
		parts[count++].deaths = deaths_ref(at->deaths);
	}
	parts[count].part = part_ref(merge->part);
	parts[count++].deaths = deaths_add(merge->part->segment, NULL, dead, dead_count);
	engine_publish(engine, view_new(view->model, parts, count, view->progress));
	engine_merge_cancel(engine, merge);
	engine_collect(engine);
}

void engine_merge_cancel(struct engine *engine, struct engine_merge *merge)
{
	if (!merge)
		return;
	engine->merge = NULL;
	part_unref(merge->part);
	view_unref(merge->view);
	free(merge->is_source);
	free(merge);
}
