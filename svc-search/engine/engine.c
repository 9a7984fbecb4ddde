#include "engine/engine.h"

#include "base/crypto.h"
#include "engine/engine_internal.h"
#include "engine/snapshot.h"
#include "engine/text/mem.h"
#include "engine/vector/lsa.h"

#include <string.h>

/* A merge pays when more papers than this are live, or dead, ... */
#define MERGE_LEAST 2000

/* ...and more than one in so many of the base; and when there are more than this, for every change
 * costs as much as all that is live. */
#define MERGE_PART 8
#define MERGE_MOST 16000

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
	const struct vectors *vectors =
		view->base->embedder == NULL ? view_vectors(view, part) : NULL;

	builder_add_from(builder, view_segment(view, part), doc, vectors_row(vectors, doc),
	                 vectors == NULL ? 0 : vectors->header->dimension);
}

static struct segment *empty_segment(void)
{
	struct builder *builder = builder_new();
	struct segment *segment = builder_finish(builder, 0);

	builder_free(builder);
	return segment;
}

/* Never 0. */
static uint32_t number_of_model(const char *model)
{
	uint32_t number = crc32_of(model, strlen(model));

	return number != 0 ? number : 1;
}

struct engine *engine_new(const char *outside_model)
{
	struct engine *engine = mem_array(1, sizeof(*engine));
	struct base *base = base_new(empty_segment(), NULL, NULL, NULL, 0);

	require(pthread_mutex_init(&engine->lock, NULL) == 0);
	engine->outside = outside_model != NULL ? number_of_model(outside_model) : 0;
	base->outside = engine->outside;
	engine->view = view_new(base, builder_new(), NULL, 0);
	base_unref(base);
	return engine;
}

void engine_free(struct engine *engine)
{
	if (engine == NULL)
		return;
	require(engine->merges == 0);
	view_unref(engine->view);
	intern_done(&engine->removals.ids);
	free(engine->removals.seqs);
	pthread_mutex_destroy(&engine->lock);
	free(engine);
}

void engine_publish(struct engine *engine, struct engine_view *view)
{
	struct engine_view *old;

	pthread_mutex_lock(&engine->lock);
	old = engine->view;
	engine->view = view;
	pthread_mutex_unlock(&engine->lock);
	view_unref(old);
}

struct engine_view *engine_view_get(struct engine *engine)
{
	struct engine_view *view;

	pthread_mutex_lock(&engine->lock);
	view = view_ref(engine->view);
	pthread_mutex_unlock(&engine->lock);
	return view;
}

void engine_view_put(struct engine_view *view)
{
	view_unref(view);
}

uint64_t engine_view_seq(const struct engine_view *view)
{
	return view->seq;
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
		if (view_vectors(view, part) != NULL)
			bytes += view_vectors(view, part)->header->length;
	bytes += base->embedder != NULL ? base->embedder->header->length : 0;
	return bytes + (base->ivf != NULL ? base->ivf->header->length : 0);
}

/* --- Changes ---------------------------------------------------------------------------------- */

/* Remember a deletion for the merges that are under way. */
static void note_removal(struct engine *engine, const char *id, uint64_t seq)
{
	struct removals *removals = &engine->removals;
	uint32_t number;

	if (engine->merges == 0)
		return;
	number = intern_add(&removals->ids, id, strlen(id));
	if (number >= removals->capacity) {
		removals->capacity = mem_capacity(removals->capacity, (size_t)number + 1);
		removals->seqs = mem_resize(removals->seqs, removals->capacity, sizeof(uint64_t));
	}
	removals->seqs[number] = seq;
}

/* The newest state that the view has of a paper; 0 when it has none. */
static uint64_t known_seq(const struct engine_view *view, const char *id)
{
	uint64_t seq = 0;

	engine_find(view, id, &seq);
	return seq;
}

/* Which of the changes to a paper is the last that counts, by number of its id: index + 1, or 0. */
static uint32_t *pick_last(const struct engine_view *view, const struct engine_change *changes,
                           size_t count, struct intern *ids)
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

/* What is live with the changes in it. `ids` and `last` are from pick_last(). */
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

	if (view->alive != NULL)
		memcpy(alive, view->alive, ((size_t)segment->doc_count + 63) / 64 * 8);
	return alive;
}

void engine_apply(struct engine *engine, const struct engine_change *changes, size_t count)
{
	const struct engine_view *view = engine->view;
	struct intern ids = {0};
	uint32_t *last = pick_last(view, changes, count, &ids);
	uint64_t *alive = copy_alive(view);
	uint64_t seq = view->seq;

	for (size_t i = 0; i < count; i++)
		seq = MAX_OF(seq, changes[i].document.seq);
	for (uint32_t i = 0; i < ids.count; i++) {
		const struct engine_change *change = last[i] > 0 ? &changes[last[i] - 1] : NULL;

		if (change == NULL)
			continue;
		alive_clear(alive, view->base->segment, change->document.id, change->document.seq);
		if (change->is_deleted)
			note_removal(engine, change->document.id, change->document.seq);
	}
	engine_publish(engine,
	               view_new(view->base, rebuild_live(view, changes, &ids, last), alive, seq));
	intern_done(&ids);
	free(last);
}

bool engine_wants_merge(const struct engine *engine)
{
	const struct engine_view *view = engine->view;
	uint32_t base_count = view->base->segment->doc_count;
	uint32_t part = MIN_OF(base_count / MERGE_PART, (uint32_t)MERGE_MOST);
	uint32_t least = MAX_OF(part, (uint32_t)MERGE_LEAST);
	uint32_t count = engine_view_count(view);
	uint32_t trained_on = view->base->embedder != NULL
	                              ? view->base->embedder->header->trained_on
	                              : base_count;

	if (view->live->doc_count > least || view->dead_count > least)
		return true;
	if (engine->outside != 0)
		return false;
	return count >= LSA_MIN_DOCS && count >= trained_on * ENGINE_RETRAIN_GROWTH &&
	       (trained_on < LSA_MAX_DOCS || view->base->embedder == NULL);
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
	struct base *base;

	require(engine->view->seq == 0 && engine_view_count(engine->view) == 0);
	base = snapshot_load(path);
	if (base == NULL || base->outside != engine->outside) {
		base_unref(base);
		return false;
	}
	engine_publish(engine, view_new(base, builder_new(), NULL, base->seq));
	base_unref(base);
	return true;
}

/* The scales of its terms are as good as the whole of the embedder, and short. */
uint32_t engine_model(const struct engine_view *view)
{
	const struct embedder *embedder = view->base->embedder;

	if (embedder == NULL)
		return view_dimension(view) > 0 ? view->base->outside : 0;
	return crc32_of(embedder->scales, embedder->header->term_count * sizeof(float));
}
