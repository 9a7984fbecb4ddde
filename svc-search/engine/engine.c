#include "engine/engine.h"

#include "base/crypto.h"
#include "engine/internal.h"
#include "engine/snapshot.h"
#include "engine/text/mem.h"
#include "engine/vector/lsa.h"

#include <string.h>

/* A merge is due when more papers are live, or dead, than 1 / MERGE_FRACTION of the base, but at
 * least MERGE_MIN_DOCS and at most MERGE_MAX_DOCS: each change rebuilds the whole live segment. */
#define MERGE_MIN_DOCS 2000
#define MERGE_FRACTION 8
#define MERGE_MAX_DOCS 16000

uint64_t *alive_all(const struct segment *segment)
{
	size_t words = ((size_t)segment->doc_count + 63) / 64;
	uint64_t *alive = mem_array(words, sizeof(uint64_t));
	memset(alive, 0xFF, words * sizeof(uint64_t));
	return alive;
}

void alive_clear(uint64_t *alive, const struct segment *segment, const char *id, uint64_t seq)
{
	uint32_t doc = segment_find_doc(segment, id);
	if (doc != SEGMENT_NONE && segment->docs[doc].seq <= seq)
		alive[doc / 64] &= ~(UINT64_C(1) << (doc % 64));
}

void builder_add_part(struct builder *builder, const struct engine_view *view, enum view_part part,
                      uint32_t doc)
{
	const struct vectors *vectors = !view->base->embedder ? view_vectors(view, part) : NULL;
	builder_add_from(builder, view_segment(view, part), doc, vectors_row(vectors, doc),
	                 !vectors ? 0 : vectors->header->dimension);
}

static struct segment *empty_segment(void)
{
	struct builder *builder = builder_new();
	struct segment *segment = builder_finish(builder, 0);
	builder_free(builder);
	return segment;
}

/* The number of an external model; never 0, which means the built-in embedder. */
static uint32_t model_number(const char *model)
{
	uint32_t number = crc32_of(model, strlen(model));
	return number != 0 ? number : 1;
}

struct engine *engine_new(const char *external_model)
{
	struct engine *engine = mem_array(1, sizeof(*engine));
	struct base *base = base_new(empty_segment(), NULL, NULL, NULL, 0);
	require(pthread_mutex_init(&engine->lock, NULL) == 0);
	engine->external_model = external_model ? model_number(external_model) : 0;
	base->external_model = engine->external_model;
	engine->view = view_new(base, builder_new(), NULL, (struct progress){0, 0});
	base_unref(base);
	return engine;
}

void engine_free(struct engine *engine)
{
	if (!engine)
		return;
	require(engine->merges == 0);
	view_unref(engine->view);
	intern_done(&engine->deletions.ids);
	free(engine->deletions.seqs);
	pthread_mutex_destroy(&engine->lock);
	free(engine);
}

void engine_publish(struct engine *engine, struct engine_view *view)
{
	pthread_mutex_lock(&engine->lock);
	struct engine_view *old = engine->view;
	engine->view = view;
	pthread_mutex_unlock(&engine->lock);
	view_unref(old);
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

uint32_t engine_view_count(const struct engine_view *view)
{
	return view->base->segment->doc_count - view->dead_count + view->live->doc_count;
}

size_t engine_view_bytes(const struct engine_view *view)
{
	const struct base *base = view->base;
	size_t bytes = base->segment->header->length + view->live->header->length;
	for (enum view_part part = 0; part < PART_COUNT; part++)
		if (view_vectors(view, part))
			bytes += view_vectors(view, part)->header->length;
	bytes += base->embedder ? base->embedder->header->length : 0;
	return bytes + (base->ivf ? base->ivf->header->length : 0);
}

/* --- Changes ---------------------------------------------------------------------------------- */

/* Record a deletion for the open merges. */
static void record_deletion(struct engine *engine, const char *id, uint64_t seq)
{
	struct deletions *deletions = &engine->deletions;
	if (engine->merges == 0)
		return;
	uint32_t number = intern_add(&deletions->ids, id, strlen(id));
	if (number >= deletions->capacity) {
		deletions->capacity = mem_capacity(deletions->capacity, (size_t)number + 1);
		deletions->seqs =
			mem_resize(deletions->seqs, deletions->capacity, sizeof(uint64_t));
	}
	deletions->seqs[number] = seq;
}

/* The sequence number of the indexed state of a paper; 0 when it is not indexed. */
static uint64_t known_seq(const struct engine_view *view, const char *id)
{
	uint64_t seq = 0;
	engine_find(view, id, &seq);
	return seq;
}

/* The index + 1 of the newest change to each paper, by number of its id in `ids`; 0 when the indexed
 * state is newer than all its changes. The caller frees it. */
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

/* The live segment with the changes applied. `ids` and `last` are from pick_last_changes(). */
static struct builder *rebuild_live(const struct engine_view *view,
                                    const struct engine_change *changes, const struct intern *ids,
                                    const uint32_t *last)
{
	struct builder *builder = builder_new();
	for (uint32_t doc = 0; doc < view->live->doc_count; doc++) {
		const char *id = segment_doc_id(view->live, doc);
		uint32_t number = intern_find(ids, id, strlen(id));
		if (number == INTERN_NONE || last[number] == 0)
			builder_add_part(builder, view, PART_LIVE, doc);
	}
	for (uint32_t i = 0; i < ids->count; i++)
		if (last[i] > 0 && !changes[last[i] - 1].is_deleted)
			builder_add(builder, &changes[last[i] - 1].document);
	return builder;
}

static uint64_t *copy_alive(const struct engine_view *view)
{
	const struct segment *segment = view->base->segment;
	uint64_t *alive = alive_all(segment);
	if (view->alive)
		memcpy(alive, view->alive, ((size_t)segment->doc_count + 63) / 64 * 8);
	return alive;
}

void engine_apply(struct engine *engine, const struct engine_change *changes, size_t count,
                  uint64_t complete)
{
	const struct engine_view *view = engine->view;
	struct intern ids = {0};
	uint32_t *last = pick_last_changes(view, changes, count, &ids);
	uint64_t *alive = copy_alive(view);
	struct progress progress = {MAX_OF(view->progress.complete, complete),
	                            view->progress.newest};
	for (size_t i = 0; i < count; i++)
		progress.newest = MAX_OF(progress.newest, changes[i].document.seq);
	for (uint32_t i = 0; i < ids.count; i++) {
		if (last[i] == 0)
			continue;
		const struct engine_change *change = &changes[last[i] - 1];
		alive_clear(alive, view->base->segment, change->document.id, change->document.seq);
		if (change->is_deleted)
			record_deletion(engine, change->document.id, change->document.seq);
	}
	engine_publish(engine, view_new(view->base, rebuild_live(view, changes, &ids, last), alive,
	                                progress));
	intern_done(&ids);
	free(last);
}

bool engine_is_merge_due(const struct engine *engine)
{
	const struct engine_view *view = engine->view;
	uint32_t base_count = view->base->segment->doc_count;
	uint32_t threshold = MIN_OF(base_count / MERGE_FRACTION, (uint32_t)MERGE_MAX_DOCS);
	threshold = MAX_OF(threshold, (uint32_t)MERGE_MIN_DOCS);
	uint32_t count = engine_view_count(view);
	uint32_t trained_on =
		view->base->embedder ? view->base->embedder->header->trained_on : base_count;
	if (view->live->doc_count > threshold || view->dead_count > threshold)
		return true;
	if (engine->external_model != 0)
		return false;
	return count >= LSA_MIN_DOCS && count >= trained_on * ENGINE_RETRAIN_GROWTH &&
	       (trained_on < LSA_MAX_DOCS || !view->base->embedder);
}

bool engine_find(const struct engine_view *view, const char *id, uint64_t *ret_seq)
{
	for (enum view_part part = 0; part < PART_COUNT; part++) {
		const struct segment *segment = view_segment(view, part);
		uint32_t doc = segment_find_doc(segment, id);
		if (doc == SEGMENT_NONE || (part == PART_BASE && !view_is_alive(view, doc)))
			continue;
		*ret_seq = segment->docs[doc].seq;
		return true;
	}
	return false;
}

bool engine_save(const struct engine_view *view, const char *path)
{
	return snapshot_save(view->base, path);
}

bool engine_restore(struct engine *engine, const char *path)
{
	require(engine->view->progress.newest == 0 && engine_view_count(engine->view) == 0);
	struct base *base = snapshot_load(path);
	if (!base || base->external_model != engine->external_model) {
		base_unref(base);
		return false;
	}
	engine_publish(engine, view_new(base, builder_new(), NULL,
	                                (struct progress){base->seq, base->seq}));
	base_unref(base);
	return true;
}

/* A checksum of the term scales identifies the embedder; they are far shorter than the whole. */
uint32_t engine_model(const struct engine_view *view)
{
	const struct embedder *embedder = view->base->embedder;
	if (!embedder)
		return view_dimension(view) > 0 ? view->base->external_model : 0;
	return crc32_of(embedder->scales, embedder->header->term_count * sizeof(float));
}
