#include "engine/engine.h"

#include "engine/internal.h"
#include "engine/snapshot.h"
#include "engine/text/cancel.h"
#include "engine/text/intern.h"
#include "engine/text/mem.h"
#include "engine/text/parsed_query.h"

#include <string.h>

struct engine *engine_new(const char *external_model)
{
	struct engine *engine = mem_array(1, sizeof(*engine));
	struct model *model = model_new(external_model, NULL);
	require(pthread_mutex_init(&engine->lock, NULL) == 0);
	engine->analyzer_threads = 1;
	engine->view = view_new(model, NULL, 0, (struct progress){0, 0});
	model_unref(model);
	return engine;
}

void engine_set_threads(struct engine *engine, int threads)
{
	require(threads > 0 && !engine->analyzer);
	engine->analyzer_threads = threads;
}

void engine_set_folder(struct engine *engine, const char *folder)
{
	require(!engine->merge);
	free(engine->folder);
	engine->folder = folder ? strdup(folder) : NULL;
	require(!folder || engine->folder);
}

void engine_free(struct engine *engine)
{
	if (!engine)
		return;
	require(!engine->merge && !engine->adoption);
	for (struct engine_view *view; (view = engine->retired);) {
		engine->retired = view->next_retired;
		view_unref(view);
	}
	view_unref(engine->view);
	pthread_mutex_destroy(&engine->lock);
	analyzer_free(engine->analyzer);
	free(engine->folder);
	free(engine);
}

void engine_publish(struct engine *engine, struct engine_view *view)
{
	pthread_mutex_lock(&engine->lock);
	struct engine_view *old = engine->view;
	engine->view = view;
	pthread_mutex_unlock(&engine->lock);
	old->next_retired = engine->retired;
	engine->retired = old;
	engine_collect(engine);
}

bool engine_is_collect_due(const struct engine *engine)
{
	const struct engine_view *view = engine->retired;
	while (view && !view_is_alone(view))
		view = view->next_retired;
	return view != NULL;
}

void engine_collect(struct engine *engine)
{
	for (struct engine_view **link = &engine->retired; *link;) {
		struct engine_view *view = *link;
		if (!view_is_alone(view)) {
			link = &view->next_retired;
			continue;
		}
		*link = view->next_retired;
		view_unref(view);
	}
}

struct engine_view *engine_view_get(struct engine *engine)
{
	pthread_mutex_lock(&engine->lock);
	struct engine_view *view = view_ref(engine->view);
	pthread_mutex_unlock(&engine->lock);
	return view;
}

void engine_view_put(struct engine_view *view)
{
	view_unref(view);
}

uint64_t engine_view_seq(const struct engine_view *view)
{
	return view->progress.complete;
}

uint64_t engine_view_newest(const struct engine_view *view)
{
	return view->progress.newest;
}

uint32_t engine_view_count(const struct engine_view *view)
{
	return view->doc_count;
}

size_t engine_view_parts(const struct engine_view *view)
{
	return view->part_count;
}

size_t engine_view_bytes(const struct engine_view *view)
{
	size_t bytes = view->model->embedder ? view->model->embedder->header->length : 0;
	for (size_t i = 0; i < view->part_count; i++) {
		const struct part *part = view->parts[i].part;
		bytes += part->segment->header->length;
		bytes += part->vectors ? part->vectors->header->length : 0;
		bytes += part->ivf ? part->ivf->header->length : 0;
	}
	return bytes;
}

/* --- Building parts --------------------------------------------------------------------------- */

void builder_add_part(struct builder *builder, const struct engine_view *view, size_t part,
                      bool has_vectors, const atomic_bool *cancel)
{
	const struct view_part *at = &view->parts[part];
	const struct vectors *vectors = has_vectors ? view_vectors(view, part) : NULL;
	const struct segment *segment = at->part->segment;
	bool has_lists = vectors && at->part->ivf && view->model->embedder;
	mem_auto_free uint32_t *lists = has_lists ? ivf_lists(at->part->ivf) : NULL;
	for (uint32_t doc = 0; doc < segment->doc_count && !is_cancelled(cancel); doc++)
		if (view_is_alive(at, doc))
			builder_add_from(builder, segment, doc, vectors_row(vectors, doc),
			                 view->dimension, lists ? lists[doc] : SEGMENT_NONE);
}

struct ivf *model_make_ivf(const struct model *model, struct vectors *vectors,
                           const uint32_t *lists, const atomic_bool *cancel)
{
	return model->embedder ? ivf_make(vectors, &model->embedder->centroids, lists, cancel)
	                       : ivf_make_alone(vectors, IVF_MIN_VECTORS, cancel);
}

struct part *part_build(struct builder *builder, const struct model *model,
                        const atomic_bool *cancel)
{
	struct vectors *vectors = NULL;
	builder_set_cancel_flag(builder, cancel);
	struct segment *segment = builder_finish(builder);
	if (segment && model->embedder)
		vectors = vectors_make(model->embedder, segment, builder, cancel);
	else if (segment && model->external)
		vectors = vectors_collect(builder, segment);
	struct ivf *ivf =
		vectors ? model_make_ivf(model, vectors, builder_lists(builder), cancel) : NULL;
	builder_free(builder);
	return segment ? part_new(segment, vectors, ivf) : NULL;
}

/* --- Changes ---------------------------------------------------------------------------------- */

/* The sequence number of the indexed state of a paper; 0 when it is not indexed. */
static uint64_t known_seq(const struct engine_view *view, const char *id)
{
	uint64_t seq = 0;
	engine_find(view, id, &seq);
	return seq;
}

/* The index + 1 of the newest change to each paper, by number of its id in `ids`; 0 when the
 * indexed state is newer than all its changes. The caller frees it. */
static uint32_t *pick_last_changes(const struct engine_view *view,
                                   const struct engine_change *changes, size_t count,
                                   struct intern *ids)
{
	uint32_t *last = mem_array(count, sizeof(uint32_t));
	for (size_t i = 0; i < count; i++) {
		const struct document *document = &changes[i].document;
		uint32_t number = intern_add(ids, document->id, strlen(document->id));
		uint64_t known = last[number] > 0 ? changes[last[number] - 1].document.seq
		                                  : known_seq(view, document->id);
		if (document->seq >= known)
			last[number] = (uint32_t)i + 1;
	}
	return last;
}

/* Documents of one part that die. */
struct dying {
	uint32_t *docs;
	size_t count;
	size_t capacity;
};

/* The indexed documents that the changes replace or delete, by part. The caller frees the lists. */
static struct dying *find_dying(const struct engine_view *view, const struct intern *ids,
                                const uint32_t *last)
{
	struct dying *dying = mem_array(view->part_count, sizeof(*dying));
	for (uint32_t i = 0; i < ids->count; i++) {
		uint32_t doc;
		const struct view_part *at =
			last[i] > 0 ? view_find(view, intern_text(ids, i), &doc) : NULL;
		if (!at)
			continue;
		struct dying *list = &dying[at - view->parts];
		if (list->count == list->capacity) {
			list->capacity = mem_capacity(list->capacity, list->count + 1);
			list->docs = mem_resize(list->docs, list->capacity, sizeof(uint32_t));
		}
		list->docs[list->count++] = doc;
	}
	return dying;
}

/* `view` without the dying documents. The caller drops the reference. */
static struct engine_view *bury(const struct engine_view *view, const struct dying *dying)
{
	struct view_part *parts = mem_array(view->part_count, sizeof(*parts));
	for (size_t i = 0; i < view->part_count; i++) {
		const struct view_part *at = &view->parts[i];
		parts[i].part = part_ref(at->part);
		parts[i].deaths = dying[i].count == 0 ? deaths_ref(at->deaths)
		                                      : deaths_add(at->part->segment, at->deaths,
		                                                   dying[i].docs, dying[i].count);
	}
	return view_new(view->model, parts, view->part_count, view->progress);
}

/* The changed papers, and the parts of `view` that are rebuilt with them. NULL: no paper is
 * added. */
static struct builder *build_changes(struct engine *engine, const struct engine_view *view,
                                     const bool *is_absorbed, const struct engine_change *changes,
                                     uint32_t count, const uint32_t *last)
{
	mem_auto_free const struct document **documents = mem_array(count, sizeof(*documents));
	size_t document_count = 0;
	for (uint32_t i = 0; i < count; i++)
		if (last[i] > 0 && !changes[last[i] - 1].is_deleted)
			documents[document_count++] = &changes[last[i] - 1].document;
	if (document_count == 0)
		return NULL;
	if (!engine->analyzer)
		engine->analyzer = analyzer_new(engine->analyzer_threads);
	struct builder *builder = builder_new(view->dimension);
	builder_set_analyzer(builder, engine->analyzer);
	builder_add_all(builder, documents, document_count);
	for (size_t i = 0; i < view->part_count; i++)
		if (is_absorbed[i])
			builder_add_part(builder, view, i, true, NULL);
	return builder;
}

/* `view` with `added` instead of the absorbed parts. Takes `added`. */
static struct engine_view *replace_parts(const struct engine_view *view, const bool *is_absorbed,
                                         struct part *added, struct progress progress)
{
	struct view_part *parts = mem_array(view->part_count + 1, sizeof(*parts));
	size_t count = 0;
	for (size_t i = 0; i < view->part_count; i++) {
		if (is_absorbed[i])
			continue;
		parts[count].part = part_ref(view->parts[i].part);
		parts[count++].deaths = deaths_ref(view->parts[i].deaths);
	}
	parts[count++] = (struct view_part){added, NULL};
	return view_new(view->model, parts, count, progress);
}

static void set_progress(struct engine_view *view, const struct engine_change *changes,
                         size_t count, uint64_t complete)
{
	struct progress *progress = &view->progress;
	progress->complete = MAX_OF(progress->complete, complete);
	progress->newest = MAX_OF(progress->newest, complete);
	for (size_t i = 0; i < count; i++)
		progress->newest = MAX_OF(progress->newest, changes[i].document.seq);
}

void engine_apply(struct engine *engine, const struct engine_change *changes, size_t count,
                  uint64_t complete)
{
	struct intern ids = {0};
	mem_auto_free uint32_t *last = pick_last_changes(engine->view, changes, count, &ids);
	struct dying *dying = find_dying(engine->view, &ids, last);
	struct engine_view *view = bury(engine->view, dying);
	set_progress(view, changes, count, complete);
	mem_auto_free bool *is_absorbed = mem_array(view->part_count, sizeof(bool));
	tiers_absorb(engine, view, is_absorbed);
	struct builder *builder =
		build_changes(engine, view, is_absorbed, changes, ids.count, last);
	for (size_t i = 0; i < engine->view->part_count; i++)
		free(dying[i].docs);
	free(dying);
	intern_done(&ids);
	if (!builder) {
		engine_publish(engine, view);
		return;
	}
	struct part *added = part_build(builder, view->model, NULL);
	engine_publish(engine, replace_parts(view, is_absorbed, added, view->progress));
	view_unref(view);
}

bool engine_is_listed(const char *id, const char *const *ids, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(ids[i], id) == 0)
			return true;
	return false;
}

bool engine_find(const struct engine_view *view, const char *id, uint64_t *ret_seq)
{
	uint32_t doc;
	const struct view_part *at = view_find(view, id, &doc);
	if (at)
		*ret_seq = at->part->segment->docs[doc].seq;
	return at != NULL;
}

bool engine_save(const struct engine_view *view, const char *path)
{
	return snapshot_save(view, path);
}

bool engine_restore(struct engine *engine, const char *path)
{
	require(engine->view->progress.newest == 0 && engine->view->part_count == 0);
	struct engine_view *view = snapshot_load(path, engine->view->model->external);
	if (view)
		engine_publish(engine, view);
	return view != NULL;
}

const char *engine_version(const struct engine_view *view)
{
	if (view->model->embedder)
		return view->model->embedder->version;
	return view->dimension > 0 ? view->model->external : "";
}

size_t engine_categories(const struct engine_view *view, const char *id, const char **names)
{
	uint32_t doc;
	const struct view_part *at = view_find(view, id, &doc);
	if (!at)
		return 0;
	const struct segment *segment = at->part->segment;
	const uint16_t *numbers = segment->category_list + segment->docs[doc].categories;
	size_t count = segment->docs[doc].category_count;
	for (size_t i = 0; i < count; i++)
		names[i] = segment_category_name(segment, numbers[i]);
	return count;
}

uint32_t engine_dimension(const struct engine_view *view)
{
	return view->dimension;
}

bool engine_vector(const struct engine_view *view, const char *id, float *out)
{
	uint32_t doc;
	const struct view_part *at = view_find(view, id, &doc);
	const struct vectors *vectors = at ? view_vectors(view, (size_t)(at - view->parts)) : NULL;
	if (!vectors)
		return false;
	vectors_get(vectors, doc, out);
	return embedder_normalise(out, view->dimension);
}

bool engine_embed(const struct engine_view *view, const char *text, size_t length, float *out,
                  struct arena *arena)
{
	if (!view->model->embedder)
		return false;
	return embedder_embed(view->model->embedder, query_parse(arena, text, length), out);
}
