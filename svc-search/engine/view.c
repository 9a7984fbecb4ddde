#include "engine/view.h"

#include "engine/text/mem.h"

#include <sys/mman.h>

struct base *base_new(struct segment *segment, struct embedder *embedder, struct vectors *vectors,
                      struct ivf *ivf, uint64_t seq)
{
	struct base *base = mem_array(1, sizeof(*base));
	atomic_init(&base->references, 1);
	base->segment = segment;
	base->embedder = embedder;
	base->vectors = vectors;
	base->ivf = ivf;
	base->seq = seq;
	return base;
}

struct base *base_ref(struct base *base)
{
	atomic_fetch_add_explicit(&base->references, 1, memory_order_relaxed);
	return base;
}

void base_unref(struct base *base)
{
	if (!base || atomic_fetch_sub_explicit(&base->references, 1, memory_order_acq_rel) != 1)
		return;
	ivf_free(base->ivf);
	vectors_free(base->vectors);
	embedder_free(base->embedder);
	segment_free(base->segment);
	if (base->mapped)
		munmap(base->mapped, base->mapped_length);
	free(base);
}

static uint32_t count_dead(const struct base *base, const uint64_t *alive)
{
	size_t words = ((size_t)base->segment->doc_count + 63) / 64;
	uint32_t dead = 0;
	/* Unused bits of the last word are set, see alive_all(). */
	for (size_t i = 0; alive && i < words; i++)
		dead += 64 - (uint32_t)__builtin_popcountll(alive[i]);
	return dead;
}

/* Vectors of the live documents; NULL when there are none, or when their dimension differs from the
 * base's. */
static struct vectors *make_live_vectors(const struct base *base, const struct builder *builder,
                                         const struct segment *live)
{
	if (base->embedder)
		return vectors_make(base->embedder, live, NULL);
	if (base->vectors && base->vectors->header->dimension != builder_dimension(builder))
		return NULL;
	return vectors_collect(builder, live);
}

struct engine_view *view_new(struct base *base, struct builder *live, uint64_t *alive,
                             struct progress progress)
{
	struct engine_view *view = mem_array(1, sizeof(*view));
	float average_length =
		base->segment->doc_count > 0 ? base->segment->header->average_length : 0;
	atomic_init(&view->references, 1);
	view->base = base_ref(base);
	view->live = builder_finish(live, average_length);
	view->live_vectors = make_live_vectors(base, live, view->live);
	builder_free(live);
	view->alive = alive;
	view->dead_count = count_dead(base, alive);
	view->progress = progress;
	return view;
}

struct engine_view *view_ref(struct engine_view *view)
{
	atomic_fetch_add_explicit(&view->references, 1, memory_order_relaxed);
	return view;
}

void view_unref(struct engine_view *view)
{
	if (!view || atomic_fetch_sub_explicit(&view->references, 1, memory_order_acq_rel) != 1)
		return;
	vectors_free(view->live_vectors);
	segment_free(view->live);
	free(view->alive);
	base_unref(view->base);
	free(view);
}
