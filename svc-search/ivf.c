#include "ivf.h"

#include <math.h>

#include "mem.h"
#include "simd.h"

/** Vectors a centre is learned from, on average. */
#define SAMPLE_PER_LIST 40

/** Rounds of k-means. */
#define ROUNDS 6

/** One in so many lists is looked into, */
#define PROBE_PART 16

/** and no fewer than this. */
#define PROBE_LEAST 24

/** Rows that are asked of memory ahead of their use. */
#define AHEAD 12

struct ivf {
	uint32_t list_count;
	uint32_t dimension;
	float *centres;   /* list_count x dimension, of length 1 */
	uint32_t *starts; /* list_count + 1: where each list begins in `docs` */
	uint32_t *docs;   /* list after list, rising in each */
};

void ivf_free(struct ivf *ivf)
{
	if (ivf == NULL)
		return;
	free(ivf->centres);
	free(ivf->starts);
	free(ivf->docs);
	free(ivf);
}

static uint32_t nearest_list(const struct ivf *ivf, const float *vector)
{
	float best = -2;
	uint32_t nearest = 0;

	for (uint32_t i = 0; i < ivf->list_count; i++) {
		float cosine =
			simd_dot(ivf->centres + (size_t)i * ivf->dimension, vector, ivf->dimension);

		if (cosine > best) {
			best = cosine;
			nearest = i;
		}
	}
	return nearest;
}

/* One round: each sampled vector to its nearest centre, each centre to the mean of its vectors. A centre that
 * gets none stays. */
static void learn_round(struct ivf *ivf, const struct vectors *vectors, uint32_t step)
{
	size_t size = (size_t)ivf->list_count * ivf->dimension;
	mem_auto_free float *sums = mem_array(size, sizeof(float));
	mem_auto_free float *vector = mem_array(ivf->dimension, sizeof(float));

	for (uint32_t doc = 0; doc < vectors->header->count; doc += step) {
		float *sum;

		vectors_get(vectors, doc, vector);
		sum = sums + (size_t)nearest_list(ivf, vector) * ivf->dimension;
		simd_add_scaled(sum, 1.0f, vector, ivf->dimension);
	}
	for (uint32_t i = 0; i < ivf->list_count; i++) {
		float *sum = sums + (size_t)i * ivf->dimension;

		if (embedder_normalise(sum, ivf->dimension))
			memcpy(ivf->centres + (size_t)i * ivf->dimension, sum,
			       ivf->dimension * sizeof(float));
	}
}

static void learn_centres(struct ivf *ivf, const struct vectors *vectors)
{
	uint32_t count = vectors->header->count;
	uint32_t step = count / (ivf->list_count * SAMPLE_PER_LIST);

	ivf->centres = mem_array((size_t)ivf->list_count * ivf->dimension, sizeof(float));
	for (uint32_t i = 0; i < ivf->list_count; i++)
		vectors_get(vectors, (uint32_t)((uint64_t)i * count / ivf->list_count),
		            ivf->centres + (size_t)i * ivf->dimension);
	for (int round = 0; round < ROUNDS; round++)
		learn_round(ivf, vectors, MAX_OF(step, 1u));
}

static void fill_lists(struct ivf *ivf, const struct vectors *vectors)
{
	uint32_t count = vectors->header->count;
	mem_auto_free uint32_t *lists = mem_array(count, sizeof(uint32_t));
	mem_auto_free uint32_t *ends = mem_array(ivf->list_count, sizeof(uint32_t));
	mem_auto_free float *vector = mem_array(ivf->dimension, sizeof(float));

	ivf->starts = mem_array(ivf->list_count + (size_t)1, sizeof(uint32_t));
	ivf->docs = mem_array(count, sizeof(uint32_t));
	for (uint32_t doc = 0; doc < count; doc++) {
		vectors_get(vectors, doc, vector);
		lists[doc] = nearest_list(ivf, vector);
		ivf->starts[lists[doc] + 1]++;
	}
	for (uint32_t i = 0; i < ivf->list_count; i++) {
		ivf->starts[i + 1] += ivf->starts[i];
		ends[i] = ivf->starts[i];
	}
	for (uint32_t doc = 0; doc < count; doc++)
		ivf->docs[ends[lists[doc]]++] = doc;
}

struct ivf *ivf_make(const struct vectors *vectors, uint32_t least)
{
	struct ivf *ivf;

	if (vectors->header->count == 0 || vectors->header->count < least)
		return NULL;
	ivf = mem_array(1, sizeof(*ivf));
	ivf->list_count = (uint32_t)ceil(sqrt(vectors->header->count));
	ivf->dimension = vectors->header->dimension;
	learn_centres(ivf, vectors);
	fill_lists(ivf, vectors);
	return ivf;
}

static void look_into(const struct ivf *ivf, uint32_t list, const struct vectors *vectors,
                      const struct vector_query *query, const struct doc_filter *filter,
                      struct topk *top)
{
	size_t stride = vectors->header->stride;
	uint32_t end = ivf->starts[list + 1];

	for (uint32_t i = ivf->starts[list]; i < end; i++) {
		uint32_t doc = ivf->docs[i];
		float cosine;

		if (i + AHEAD < end) {
			const int8_t *row = vectors->rows + ivf->docs[i + AHEAD] * stride;

			for (size_t byte = 0; byte < stride; byte += 64)
				__builtin_prefetch(row + byte);
		}
		if (!doc_filter_allows(filter, doc))
			continue;
		cosine = vectors_cosine(vectors, query, doc);
		if (cosine > top->threshold)
			topk_offer(top, doc, cosine);
	}
}

size_t ivf_search(const struct ivf *ivf, const struct vectors *vectors, const float *vector,
                  const struct vector_query *query, const struct doc_filter *filter, size_t k,
                  struct arena *arena, struct hit *hits)
{
	uint32_t probes = MAX_OF(ivf->list_count / PROBE_PART, (uint32_t)PROBE_LEAST);
	struct hit *lists;
	struct topk nearest;
	struct topk top;

	probes = MIN_OF(probes, ivf->list_count);
	lists = arena_array(arena, probes, sizeof(*lists));
	topk_init(&nearest, lists, probes);
	for (uint32_t i = 0; i < ivf->list_count; i++)
		topk_offer(&nearest, i,
		           2.0f + simd_dot(ivf->centres + (size_t)i * ivf->dimension, vector,
		                           ivf->dimension));
	topk_init(&top, hits, k);
	for (size_t i = 0; i < nearest.count; i++)
		look_into(ivf, lists[i].doc, vectors, query, filter, &top);
	topk_sort(&top);
	return top.count;
}
