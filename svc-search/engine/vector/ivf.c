#include "engine/vector/ivf.h"

#include "engine/text/mem.h"
#include "engine/text/stop.h"
#include "engine/vector/simd.h"

#include <math.h>

/* Vectors a centre is learned from, on average. */
#define SAMPLE_PER_LIST 40

/* Rounds of k-means. */
#define ROUNDS 6

/* One in so many lists is looked into, */
#define PROBE_PART 12

/* and no fewer than this. */
#define PROBE_LEAST 24

/* Rows that are asked of memory ahead of their use. */
#define AHEAD 12

/* Lists in the making: their centres as they are learned, and as they are compared with. */
struct maker {
	const struct vectors *vectors;
	uint32_t list_count;
	uint32_t dimension;
	uint32_t stride;
	float *centres; /* of length 1 */
	int8_t *rows;   /* the same in bytes */
	float *scales;
	int32_t *products; /* scratch, by list */
	int16_t *query;    /* scratch, a row */
	const atomic_bool *stop;
};

static bool is_sound(const struct ivf_header *header, size_t length)
{
	uint64_t needed = sizeof(*header);

	if (length < sizeof(*header) || header->magic != IVF_MAGIC || header->length != length ||
	    header->list_count == 0 || header->dimension == 0 ||
	    header->stride != simd_padded(header->dimension))
		return false;
	needed +=
		header->list_count * (sizeof(float) + sizeof(uint32_t) + (uint64_t)header->stride);
	needed += sizeof(uint32_t) + header->doc_count * (uint64_t)sizeof(uint32_t);
	return needed == length;
}

static bool are_lists_sound(const struct ivf *ivf)
{
	const struct ivf_header *header = ivf->header;

	for (uint32_t i = 0; i < header->list_count; i++)
		if (ivf->starts[i] > ivf->starts[i + 1])
			return false;
	for (uint32_t i = 0; i < header->doc_count; i++)
		if (ivf->docs[i] >= header->doc_count)
			return false;
	return ivf->starts[0] == 0 && ivf->starts[header->list_count] == header->doc_count;
}

static void point_at_parts(struct ivf *ivf)
{
	ivf->scales = (const float *)(ivf->header + 1);
	ivf->starts = (const uint32_t *)(ivf->scales + ivf->header->list_count);
	ivf->docs = ivf->starts + ivf->header->list_count + 1;
	ivf->rows = (const int8_t *)(ivf->docs + ivf->header->doc_count);
}

struct ivf *ivf_open(void *data, size_t length, bool takes_data)
{
	struct ivf *ivf = mem_array(1, sizeof(*ivf));

	ivf->owned = takes_data ? data : NULL;
	ivf->header = data;
	if (is_sound(data, length)) {
		point_at_parts(ivf);
		if (are_lists_sound(ivf))
			return ivf;
	}
	ivf_free(ivf);
	return NULL;
}

void ivf_free(struct ivf *ivf)
{
	if (ivf == NULL)
		return;
	free(ivf->owned);
	free(ivf);
}

static uint32_t nearest_list(struct maker *maker, uint32_t doc)
{
	const int8_t *row = maker->vectors->rows + (size_t)doc * maker->stride;
	uint32_t nearest = 0;
	float best = -INFINITY;

	for (uint32_t i = 0; i < maker->stride; i++)
		maker->query[i] = (int16_t)row[i];
	simd_dot_rows(maker->query, maker->rows, maker->list_count, maker->stride, maker->products);
	for (uint32_t i = 0; i < maker->list_count; i++) {
		float product = (float)maker->products[i] * maker->scales[i];

		if (product > best) {
			best = product;
			nearest = i;
		}
	}
	return nearest;
}

static void store_centre(struct maker *maker, uint32_t list)
{
	vectors_quantise(maker->centres + (size_t)list * maker->dimension, maker->dimension,
	                 maker->rows + (size_t)list * maker->stride, &maker->scales[list]);
}

/* One round: each sampled vector to its nearest centre, each centre to the mean of its vectors. A
 * centre that gets none stays. */
static void learn_round(struct maker *maker, uint32_t step)
{
	uint32_t dimension = maker->dimension;
	mem_auto_free float *sums = mem_array((size_t)maker->list_count * dimension, sizeof(float));
	mem_auto_free float *vector = mem_array(dimension, sizeof(float));

	for (uint32_t doc = 0; doc < maker->vectors->header->count && !stop_is_set(maker->stop);
	     doc += step) {
		float *sum = sums + (size_t)nearest_list(maker, doc) * dimension;

		vectors_get(maker->vectors, doc, vector);
		simd_add_scaled(sum, 1.0f, vector, dimension);
	}
	for (uint32_t i = 0; i < maker->list_count; i++) {
		float *sum = sums + (size_t)i * dimension;

		if (!embedder_normalise(sum, dimension))
			continue;
		memcpy(maker->centres + (size_t)i * dimension, sum, dimension * sizeof(float));
		store_centre(maker, i);
	}
}

static void learn_centres(struct maker *maker)
{
	uint32_t count = maker->vectors->header->count;
	uint32_t step = count / (maker->list_count * SAMPLE_PER_LIST);

	for (uint32_t i = 0; i < maker->list_count; i++) {
		vectors_get(maker->vectors, (uint32_t)((uint64_t)i * count / maker->list_count),
		            maker->centres + (size_t)i * maker->dimension);
		store_centre(maker, i);
	}
	for (int round = 0; round < ROUNDS; round++)
		learn_round(maker, MAX_OF(step, 1u));
}

/* Which list each vector belongs to, and in `starts` where the lists begin. */
static uint32_t *assign(struct maker *maker, uint32_t *starts)
{
	uint32_t count = maker->vectors->header->count;
	uint32_t *lists = mem_array(count, sizeof(uint32_t));

	for (uint32_t doc = 0; doc < count; doc++) {
		lists[doc] = stop_is_set(maker->stop) ? 0 : nearest_list(maker, doc);
		starts[lists[doc] + 1]++;
	}
	for (uint32_t i = 0; i < maker->list_count; i++)
		starts[i + 1] += starts[i];
	return lists;
}

static void fill_lists(struct maker *maker, uint32_t *starts, uint32_t *docs)
{
	mem_auto_free uint32_t *lists = assign(maker, starts);
	mem_auto_free uint32_t *ends = mem_array(maker->list_count, sizeof(uint32_t));

	memcpy(ends, starts, maker->list_count * sizeof(uint32_t));
	for (uint32_t doc = 0; doc < maker->vectors->header->count; doc++)
		docs[ends[lists[doc]]++] = doc;
}

static struct ivf *write_ivf(struct maker *maker)
{
	struct ivf_header header = {.magic = IVF_MAGIC,
	                            .list_count = maker->list_count,
	                            .doc_count = maker->vectors->header->count,
	                            .dimension = maker->dimension,
	                            .stride = maker->stride};
	uint32_t lists = maker->list_count;
	struct ivf *ivf;
	char *blob;
	float *scales;
	uint32_t *starts;

	header.length = sizeof(header) +
	                lists * (sizeof(float) + sizeof(uint32_t) + (uint64_t)header.stride) +
	                sizeof(uint32_t) + header.doc_count * (uint64_t)sizeof(uint32_t);
	blob = mem_array(header.length, 1);
	memcpy(blob, &header, sizeof(header));
	scales = (float *)(blob + sizeof(header));
	starts = (uint32_t *)(scales + lists);
	fill_lists(maker, starts, starts + lists + 1);
	memcpy(scales, maker->scales, lists * sizeof(float));
	memcpy(starts + lists + 1 + header.doc_count, maker->rows, (size_t)lists * header.stride);
	ivf = ivf_open(blob, header.length, true);
	require(ivf != NULL);
	return ivf;
}

struct ivf *ivf_make(const struct vectors *vectors, uint32_t least, const atomic_bool *stop)
{
	struct maker maker = {.vectors = vectors,
	                      .dimension = vectors->header->dimension,
	                      .stride = vectors->header->stride,
	                      .stop = stop};
	struct ivf *ivf;

	if (vectors->header->count == 0 || vectors->header->count < least)
		return NULL;
	maker.list_count = (uint32_t)ceil(sqrt(vectors->header->count));
	maker.centres = mem_array((size_t)maker.list_count * maker.dimension, sizeof(float));
	maker.rows = mem_array((size_t)maker.list_count * maker.stride, 1);
	maker.scales = mem_array(maker.list_count, sizeof(float));
	maker.products = mem_array(maker.list_count, sizeof(int32_t));
	maker.query = mem_array(maker.stride, sizeof(int16_t));
	learn_centres(&maker);
	ivf = write_ivf(&maker);
	free(maker.centres);
	free(maker.rows);
	free(maker.scales);
	free(maker.products);
	free(maker.query);
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

size_t ivf_search(const struct ivf *ivf, const struct vectors *vectors,
                  const struct vector_query *query, const struct doc_filter *filter, size_t k,
                  struct arena *arena, struct hit *hits)
{
	uint32_t lists = ivf->header->list_count;
	uint32_t probes = MIN_OF(MAX_OF(lists / PROBE_PART, (uint32_t)PROBE_LEAST), lists);
	int32_t *products = arena_array(arena, lists, sizeof(*products));
	struct hit *nearest = arena_array(arena, probes, sizeof(*nearest));
	struct topk centres;
	struct topk top;

	simd_dot_rows(query->elements, ivf->rows, lists, ivf->header->stride, products);
	topk_init(&centres, nearest, probes);
	for (uint32_t i = 0; i < lists; i++)
		topk_offer(&centres, i, 2.0f + (float)products[i] * query->scale * ivf->scales[i]);
	topk_init(&top, hits, k);
	for (size_t i = 0; i < centres.count; i++)
		look_into(ivf, nearest[i].doc, vectors, query, filter, &top);
	topk_sort(&top);
	return top.count;
}
