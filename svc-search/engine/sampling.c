/* Takes samples of papers out of the parts of a view, among them the one that an embedder is
 * trained on. */
#include "engine/engine.h"
#include "engine/text/mem.h"
#include "engine/vector/sample.h"
#include "engine/view.h"

struct sample_place {
	uint32_t order;
	uint32_t part;
	uint32_t doc;
	const char *id;
};

static int compare_places(const void *a, const void *b)
{
	const struct sample_place *left = a;
	const struct sample_place *right = b;
	if (left->order != right->order)
		return left->order < right->order ? -1 : 1;
	return strcmp(left->id, right->id);
}

/* The living documents in the order of samples. The caller frees them. */
static struct sample_place *list_places(const struct engine_view *view)
{
	struct sample_place *places = mem_array(view->doc_count, sizeof(*places));
	size_t count = 0;
	for (size_t part = 0; part < view->part_count; part++) {
		const struct segment *segment = view->parts[part].part->segment;
		for (uint32_t doc = 0; doc < segment->doc_count; doc++) {
			if (!view_is_alive(&view->parts[part], doc))
				continue;
			const char *id = segment_doc_id(segment, doc);
			places[count++] =
				(struct sample_place){sample_order(id), (uint32_t)part, doc, id};
		}
	}
	qsort(places, count, sizeof(*places), compare_places);
	return places;
}

size_t engine_sample_ids(const struct engine_view *view, const char **ids, size_t count)
{
	mem_auto_free struct sample_place *places = list_places(view);
	size_t taken = MIN_OF(count, (size_t)view->doc_count);
	for (size_t i = 0; i < taken; i++)
		ids[i] = places[i].id;
	return taken;
}

struct sample *engine_sample(const struct engine_view *view)
{
	mem_auto_free struct sample_place *places = list_places(view);
	mem_auto_free uint32_t **maps = mem_array(view->part_count, sizeof(*maps));
	uint32_t count = MIN_OF(view->doc_count, (uint32_t)SAMPLE_MAX_DOCS);
	struct sample *sample = sample_new(count, view->doc_count);
	for (size_t part = 0; part < view->part_count; part++)
		maps[part] =
			mem_array(view->parts[part].part->segment->term_count, sizeof(uint32_t));
	for (uint32_t i = 0; i < count; i++)
		sample_add(sample, view->parts[places[i].part].part->segment, maps[places[i].part],
		           places[i].doc);
	for (size_t part = 0; part < view->part_count; part++)
		free(maps[part]);
	sample_finish(sample);
	return sample;
}
