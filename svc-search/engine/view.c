#include "engine/view.h"

#include "engine/text/mem.h"

#include <sys/mman.h>

/* Take a reference away. Returns whether it was the last one. */
static bool is_last(atomic_uint *references)
{
	return atomic_fetch_sub_explicit(references, 1, memory_order_acq_rel) == 1;
}

static void add_reference(atomic_uint *references)
{
	atomic_fetch_add_explicit(references, 1, memory_order_relaxed);
}

struct mapping *mapping_new(void *data, size_t length)
{
	struct mapping *mapping = mem_array(1, sizeof(*mapping));
	atomic_init(&mapping->references, 1);
	mapping->data = data;
	mapping->length = length;
	return mapping;
}

struct mapping *mapping_ref(struct mapping *mapping)
{
	if (mapping)
		add_reference(&mapping->references);
	return mapping;
}

void mapping_unref(struct mapping *mapping)
{
	if (!mapping || !is_last(&mapping->references))
		return;
	munmap(mapping->data, mapping->length);
	free(mapping);
}

struct part *part_new(struct segment *segment, struct vectors *vectors, struct ivf *ivf)
{
	struct part *part = mem_array(1, sizeof(*part));
	atomic_init(&part->references, 1);
	part->segment = segment;
	part->vectors = vectors;
	part->ivf = ivf;
	return part;
}

struct part *part_ref(struct part *part)
{
	add_reference(&part->references);
	return part;
}

void part_unref(struct part *part)
{
	if (!part || !is_last(&part->references))
		return;
	ivf_free(part->ivf);
	vectors_free(part->vectors);
	segment_free(part->segment);
	mapping_unref(part->mapping);
	free(part);
}

struct model *model_new(const char *external, struct embedder *embedder)
{
	struct model *model = mem_array(1, sizeof(*model));
	atomic_init(&model->references, 1);
	if (external) {
		size_t size = strlen(external) + 1;
		model->external = memcpy(mem_array(size, 1), external, size);
	}
	model->embedder = embedder;
	return model;
}

struct model *model_ref(struct model *model)
{
	add_reference(&model->references);
	return model;
}

void model_unref(struct model *model)
{
	if (!model || !is_last(&model->references))
		return;
	embedder_free(model->embedder);
	free(model->external);
	mapping_unref(model->mapping);
	free(model);
}

/* Subtract the document from the statistics of the living ones. `seen` is scratch by term: the last
 * document + 1 that contained it. */
static void add_death(struct deaths *deaths, const struct segment *segment, uint32_t doc,
                      uint32_t *seen)
{
	struct forward forward = segment_forward(segment, doc);
	deaths->alive[doc / 64] &= ~(UINT64_C(1) << (doc % 64));
	deaths->count++;
	deaths->length += segment->lengths[doc];
	for (uint32_t left = forward_count_all(&forward); left > 0; left--) {
		uint32_t term = forward_next(&forward);
		if (seen[term] == doc + 1)
			continue;
		seen[term] = doc + 1;
		deaths->df[term]++;
	}
}

struct deaths *deaths_add(const struct segment *segment, const struct deaths *old,
                          const uint32_t *docs, size_t count)
{
	size_t words = ((size_t)segment->doc_count + 63) / 64;
	if (!old && count == 0)
		return NULL;
	struct deaths *deaths = mem_array(1, sizeof(*deaths));
	atomic_init(&deaths->references, 1);
	deaths->alive = mem_array(words, sizeof(uint64_t));
	deaths->df = mem_array(segment->term_count, sizeof(uint32_t));
	memset(deaths->alive, 0xFF, words * sizeof(uint64_t));
	if (old) {
		deaths->count = old->count;
		deaths->length = old->length;
		memcpy(deaths->alive, old->alive, words * sizeof(uint64_t));
		memcpy(deaths->df, old->df, segment->term_count * sizeof(uint32_t));
	}
	mem_auto_free uint32_t *seen = mem_array(segment->term_count, sizeof(uint32_t));
	for (size_t i = 0; i < count; i++)
		add_death(deaths, segment, docs[i], seen);
	return deaths;
}

struct deaths *deaths_ref(struct deaths *deaths)
{
	if (deaths)
		add_reference(&deaths->references);
	return deaths;
}

void deaths_unref(struct deaths *deaths)
{
	if (!deaths || !is_last(&deaths->references))
		return;
	free(deaths->alive);
	free(deaths->df);
	free(deaths);
}

static int compare_parts(const void *a, const void *b)
{
	uint32_t left = view_part_count(a);
	uint32_t right = view_part_count(b);
	return left > right ? -1 : left < right;
}

static size_t drop_empty_parts(struct view_part *parts, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		if (view_part_count(&parts[i]) > 0) {
			parts[kept++] = parts[i];
			continue;
		}
		part_unref(parts[i].part);
		deaths_unref(parts[i].deaths);
	}
	return kept;
}

/* The statistics over all parts. Among parts with vectors of different dimensions the largest part
 * decides. */
static void set_statistics(struct engine_view *view)
{
	uint64_t length = 0;
	if (view->model->embedder)
		view->dimension = view->model->embedder->header->dimension;
	for (size_t i = 0; i < view->part_count; i++) {
		const struct view_part *at = &view->parts[i];
		const struct vectors *vectors = at->part->vectors;
		view->doc_count += view_part_count(at);
		length += at->part->segment->length_sum - (at->deaths ? at->deaths->length : 0);
		if (view->dimension == 0 && vectors) {
			view->dimension = vectors->header->dimension;
			view->background = vectors->header->background;
		}
	}
	lexical_norms_set(&view->norms, length > 0 ? (float)length / (float)view->doc_count : 1.0f);
}

struct engine_view *view_new(struct model *model, struct view_part *parts, size_t count,
                             struct progress progress)
{
	struct engine_view *view = mem_array(1, sizeof(*view));
	atomic_init(&view->references, 1);
	view->model = model_ref(model);
	view->parts = parts;
	view->part_count = drop_empty_parts(parts, count);
	view->progress = progress;
	if (view->part_count > 1)
		qsort(parts, view->part_count, sizeof(*parts), compare_parts);
	set_statistics(view);
	return view;
}

struct engine_view *view_ref(struct engine_view *view)
{
	add_reference(&view->references);
	return view;
}

bool view_is_alone(const struct engine_view *view)
{
	return atomic_load_explicit(&view->references, memory_order_acquire) == 1;
}

void view_unref(struct engine_view *view)
{
	if (!view || !is_last(&view->references))
		return;
	for (size_t i = 0; i < view->part_count; i++) {
		part_unref(view->parts[i].part);
		deaths_unref(view->parts[i].deaths);
	}
	free(view->parts);
	model_unref(view->model);
	free(view);
}

const struct view_part *view_find(const struct engine_view *view, const char *id, uint32_t *ret_doc)
{
	for (size_t i = 0; i < view->part_count; i++) {
		uint32_t doc = segment_find_doc(view->parts[i].part->segment, id);
		if (doc == SEGMENT_NONE || !view_is_alive(&view->parts[i], doc))
			continue;
		*ret_doc = doc;
		return &view->parts[i];
	}
	return NULL;
}
