#include "engine/vector/ivf.h"

#include "engine/text/cancel.h"
#include "engine/text/mem.h"
#include "engine/vector/simd.h"

#include <math.h>

/* Vectors per list that k-means samples. */
#define SAMPLE_PER_LIST 40

/* Rounds of k-means. */
#define ROUNDS 6

/* A search scans 1 / PROBE_FRACTION of the lists, but at least PROBE_MIN. */
#define PROBE_FRACTION 12
#define PROBE_MIN      24

/* Rows are prefetched this many steps before their use. */
#define PREFETCH_ROWS 12

/* The state of k-means: the centroids as floats and, for comparisons, as bytes. */
struct ivf_builder {
	const struct vectors *vectors;
	uint32_t list_count;
	uint32_t dimension;
	uint32_t stride;
	float *centroids; /* of length 1 */
	int8_t *rows;     /* the same, quantised */
	float *scales;
	int32_t *products; /* scratch, by list */
	int16_t *query;    /* scratch, a row */
	const atomic_bool *cancel;
};

static bool is_header_valid(const struct ivf_header *header, size_t length)
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

static bool are_lists_valid(const struct ivf *ivf)
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

static void set_sections(struct ivf *ivf)
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
	if (is_header_valid(data, length)) {
		set_sections(ivf);
		if (are_lists_valid(ivf))
			return ivf;
	}
	ivf_free(ivf);
	return NULL;
}

void ivf_free(struct ivf *ivf)
{
	if (!ivf)
		return;
	free(ivf->owned);
	free(ivf);
}

static uint32_t nearest_list(struct ivf_builder *builder, uint32_t doc)
{
	const int8_t *row = builder->vectors->rows + (size_t)doc * builder->stride;
	uint32_t nearest = 0;
	float best = -INFINITY;
	for (uint32_t i = 0; i < builder->stride; i++)
		builder->query[i] = (int16_t)row[i];
	simd_dot_rows(builder->query, builder->rows, builder->list_count, builder->stride,
	              builder->products);
	for (uint32_t i = 0; i < builder->list_count; i++) {
		float product = (float)builder->products[i] * builder->scales[i];
		if (product > best) {
			best = product;
			nearest = i;
		}
	}
	return nearest;
}

static void store_centroid(struct ivf_builder *builder, uint32_t list)
{
	vectors_quantise(builder->centroids + (size_t)list * builder->dimension, builder->dimension,
	                 builder->rows + (size_t)list * builder->stride, &builder->scales[list]);
}

/* One round: assign each sampled vector to its nearest centroid, then move each centroid to the mean of
 * its vectors. A centroid without vectors stays. */
static void kmeans_round(struct ivf_builder *builder, uint32_t step)
{
	uint32_t dimension = builder->dimension;
	mem_auto_free float *sums =
		mem_array((size_t)builder->list_count * dimension, sizeof(float));
	mem_auto_free float *vector = mem_array(dimension, sizeof(float));
	for (uint32_t doc = 0;
	     doc < builder->vectors->header->count && !is_cancelled(builder->cancel); doc += step) {
		float *sum = sums + (size_t)nearest_list(builder, doc) * dimension;
		vectors_get(builder->vectors, doc, vector);
		simd_add_scaled(sum, 1.0f, vector, dimension);
	}
	for (uint32_t i = 0; i < builder->list_count; i++) {
		float *sum = sums + (size_t)i * dimension;
		if (!embedder_normalise(sum, dimension))
			continue;
		memcpy(builder->centroids + (size_t)i * dimension, sum, dimension * sizeof(float));
		store_centroid(builder, i);
	}
}

static void learn_centroids(struct ivf_builder *builder)
{
	uint32_t count = builder->vectors->header->count;
	uint32_t step = count / (builder->list_count * SAMPLE_PER_LIST);
	for (uint32_t i = 0; i < builder->list_count; i++) {
		vectors_get(builder->vectors, (uint32_t)((uint64_t)i * count / builder->list_count),
		            builder->centroids + (size_t)i * builder->dimension);
		store_centroid(builder, i);
	}
	for (int round = 0; round < ROUNDS; round++)
		kmeans_round(builder, MAX_OF(step, 1u));
}

/* The list of each vector; sets `starts` to where the lists start. The caller frees it. */
static uint32_t *assign_lists(struct ivf_builder *builder, uint32_t *starts)
{
	uint32_t count = builder->vectors->header->count;
	uint32_t *lists = mem_array(count, sizeof(uint32_t));
	for (uint32_t doc = 0; doc < count; doc++) {
		lists[doc] = is_cancelled(builder->cancel) ? 0 : nearest_list(builder, doc);
		starts[lists[doc] + 1]++;
	}
	for (uint32_t i = 0; i < builder->list_count; i++)
		starts[i + 1] += starts[i];
	return lists;
}

static void fill_lists(struct ivf_builder *builder, uint32_t *starts, uint32_t *docs)
{
	mem_auto_free uint32_t *lists = assign_lists(builder, starts);
	mem_auto_free uint32_t *ends = mem_array(builder->list_count, sizeof(uint32_t));
	memcpy(ends, starts, builder->list_count * sizeof(uint32_t));
	for (uint32_t doc = 0; doc < builder->vectors->header->count; doc++)
		docs[ends[lists[doc]]++] = doc;
}

static struct ivf *write_ivf(struct ivf_builder *builder)
{
	struct ivf_header header = {.magic = IVF_MAGIC,
	                            .list_count = builder->list_count,
	                            .doc_count = builder->vectors->header->count,
	                            .dimension = builder->dimension,
	                            .stride = builder->stride};
	uint32_t lists = builder->list_count;
	header.length = sizeof(header) +
	                lists * (sizeof(float) + sizeof(uint32_t) + (uint64_t)header.stride) +
	                sizeof(uint32_t) + header.doc_count * (uint64_t)sizeof(uint32_t);
	char *blob = mem_array(header.length, 1);
	memcpy(blob, &header, sizeof(header));
	float *scales = (float *)(blob + sizeof(header));
	uint32_t *starts = (uint32_t *)(scales + lists);
	fill_lists(builder, starts, starts + lists + 1);
	memcpy(scales, builder->scales, lists * sizeof(float));
	memcpy(starts + lists + 1 + header.doc_count, builder->rows, (size_t)lists * header.stride);
	struct ivf *ivf = ivf_open(blob, header.length, true);
	require(ivf);
	return ivf;
}

struct ivf *ivf_make(const struct vectors *vectors, uint32_t min_count, const atomic_bool *cancel)
{
	struct ivf_builder builder = {.vectors = vectors,
	                              .dimension = vectors->header->dimension,
	                              .stride = vectors->header->stride,
	                              .cancel = cancel};
	if (vectors->header->count == 0 || vectors->header->count < min_count)
		return NULL;
	builder.list_count = (uint32_t)ceil(sqrt(vectors->header->count));
	builder.centroids =
		mem_array((size_t)builder.list_count * builder.dimension, sizeof(float));
	builder.rows = mem_array((size_t)builder.list_count * builder.stride, 1);
	builder.scales = mem_array(builder.list_count, sizeof(float));
	builder.products = mem_array(builder.list_count, sizeof(int32_t));
	builder.query = mem_array(builder.stride, sizeof(int16_t));
	learn_centroids(&builder);
	struct ivf *ivf = write_ivf(&builder);
	free(builder.centroids);
	free(builder.rows);
	free(builder.scales);
	free(builder.products);
	free(builder.query);
	return ivf;
}

static void scan_list(const struct ivf *ivf, uint32_t list, const struct vectors *vectors,
                      const struct vector_query *query, const struct doc_filter *filter,
                      struct topk *top)
{
	size_t stride = vectors->header->stride;
	uint32_t end = ivf->starts[list + 1];
	for (uint32_t i = ivf->starts[list]; i < end; i++) {
		uint32_t doc = ivf->docs[i];
		if (i + PREFETCH_ROWS < end) {
			const int8_t *row = vectors->rows + ivf->docs[i + PREFETCH_ROWS] * stride;
			for (size_t byte = 0; byte < stride; byte += 64)
				__builtin_prefetch(row + byte);
		}
		if (!doc_filter_allows(filter, doc))
			continue;
		float cosine = vectors_cosine(vectors, query, doc);
		if (cosine > top->threshold)
			topk_offer(top, doc, cosine);
	}
}

size_t ivf_search(const struct ivf *ivf, const struct vectors *vectors,
                  const struct vector_query *query, const struct doc_filter *filter, size_t k,
                  float floor, struct arena *arena, struct hit *hits)
{
	uint32_t lists = ivf->header->list_count;
	uint32_t probes = MIN_OF(MAX_OF(lists / PROBE_FRACTION, (uint32_t)PROBE_MIN), lists);
	int32_t *products = arena_array(arena, lists, sizeof(*products));
	struct hit *nearest = arena_array(arena, probes, sizeof(*nearest));
	simd_dot_rows(query->elements, ivf->rows, lists, ivf->header->stride, products);
	struct topk centroids;
	topk_init(&centroids, nearest, probes, 0);
	for (uint32_t i = 0; i < lists; i++)
		topk_offer(&centroids, i,
		           2.0f + (float)products[i] * query->scale * ivf->scales[i]);
	struct topk top;
	topk_init(&top, hits, k, floor);
	for (size_t i = 0; i < centroids.count; i++)
		scan_list(ivf, nearest[i].doc, vectors, query, filter, &top);
	topk_sort(&top);
	return top.count;
}
