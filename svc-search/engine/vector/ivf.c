#include "engine/vector/ivf.h"

#include "engine/text/cancel.h"
#include "engine/text/mem.h"
#include "engine/vector/simd.h"

#include <math.h>

/* A search scans 1 / PROBE_FRACTION of the lists, but at least PROBE_MIN. */
#define PROBE_FRACTION 12
#define PROBE_MIN      24

static uint64_t length_of(const struct ivf_header *header)
{
	uint64_t own = header->has_centroids ? sizeof(float) + (uint64_t)header->stride : 0;
	return sizeof(*header) + header->list_count * (own + sizeof(uint32_t)) + sizeof(uint32_t) +
	       header->doc_count * (uint64_t)sizeof(uint32_t);
}

static bool is_header_valid(const struct ivf_header *header, size_t length)
{
	return length >= sizeof(*header) && header->magic == IVF_MAGIC &&
	       header->length == length && header->list_count > 0 && header->dimension > 0 &&
	       header->stride == simd_padded(header->dimension) && header->has_centroids <= 1 &&
	       length_of(header) == length;
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
	const struct ivf_header *header = ivf->header;
	ivf->starts = (const uint32_t *)(header + 1);
	ivf->docs = ivf->starts + header->list_count + 1;
	if (!header->has_centroids)
		return;
	ivf->own = (struct centroids){
		.count = header->list_count,
		.dimension = header->dimension,
		.stride = header->stride,
		.scales = (const float *)(ivf->docs + header->doc_count),
	};
	ivf->own.rows = (const int8_t *)(ivf->own.scales + header->list_count);
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

/* The list of each vector, of which `known` has some or is NULL; sets `starts` to where the lists
 * start. The caller frees it. */
static uint32_t *assign_lists(const struct vectors *vectors, const struct centroids *centroids,
                              const uint32_t *known, uint32_t *starts, const atomic_bool *cancel)
{
	uint32_t count = vectors->header->count;
	uint32_t *lists = mem_array(count, sizeof(uint32_t));
	mem_auto_free int32_t *products = mem_array(centroids->count, sizeof(int32_t));
	mem_auto_free int16_t *query = mem_array(centroids->stride, sizeof(int16_t));
	for (uint32_t doc = 0; doc < count; doc++) {
		const int8_t *row = vectors->rows + (size_t)doc * centroids->stride;
		if (known && known[doc] != SEGMENT_NONE)
			lists[doc] = known[doc];
		else if (!is_cancelled(cancel))
			lists[doc] = centroids_nearest(centroids, row, products, query);
		starts[lists[doc] + 1]++;
	}
	for (uint32_t i = 0; i < centroids->count; i++)
		starts[i + 1] += starts[i];
	return lists;
}

static void fill_lists(const struct vectors *vectors, const struct centroids *centroids,
                       const uint32_t *known, uint32_t *starts, uint32_t *docs,
                       const atomic_bool *cancel)
{
	mem_auto_free uint32_t *lists = assign_lists(vectors, centroids, known, starts, cancel);
	mem_auto_free uint32_t *ends = mem_array(centroids->count, sizeof(uint32_t));
	memcpy(ends, starts, centroids->count * sizeof(uint32_t));
	for (uint32_t doc = 0; doc < vectors->header->count; doc++)
		docs[ends[lists[doc]]++] = doc;
}

static struct ivf *write_ivf(struct vectors *vectors, const struct centroids *centroids,
                             bool has_centroids, const uint32_t *known, const atomic_bool *cancel)
{
	struct ivf_header header = {.magic = IVF_MAGIC,
	                            .list_count = centroids->count,
	                            .doc_count = vectors->header->count,
	                            .dimension = centroids->dimension,
	                            .stride = centroids->stride,
	                            .has_centroids = has_centroids};
	header.length = length_of(&header);
	char *blob = mem_array(header.length, 1);
	memcpy(blob, &header, sizeof(header));
	uint32_t *starts = (uint32_t *)(blob + sizeof(header));
	uint32_t *docs = starts + centroids->count + 1;
	fill_lists(vectors, centroids, known, starts, docs, cancel);
	vectors_order(vectors, docs);
	if (has_centroids) {
		float *scales = (float *)(docs + header.doc_count);
		memcpy(scales, centroids->scales, centroids->count * sizeof(float));
		memcpy(scales + centroids->count, centroids->rows,
		       (size_t)centroids->count * centroids->stride);
	}
	struct ivf *ivf = ivf_open(blob, header.length, true);
	require(ivf);
	return ivf;
}

struct ivf *ivf_make(struct vectors *vectors, const struct centroids *centroids,
                     const uint32_t *lists, const atomic_bool *cancel)
{
	if (vectors->header->count == 0 || centroids->count == 0)
		return NULL;
	return write_ivf(vectors, centroids, false, lists, cancel);
}

struct ivf *ivf_make_alone(struct vectors *vectors, uint32_t min_count, const atomic_bool *cancel)
{
	uint32_t count = vectors->header->count;
	if (count == 0 || count < min_count)
		return NULL;
	struct centroids *centroids = centroids_learn(vectors, (uint32_t)ceil(sqrt(count)), cancel);
	struct ivf *ivf = write_ivf(vectors, centroids, true, NULL, cancel);
	centroids_free(centroids);
	return ivf;
}

uint32_t *ivf_lists(const struct ivf *ivf)
{
	uint32_t *lists = mem_array(ivf->header->doc_count, sizeof(uint32_t));
	for (uint32_t list = 0; list < ivf->header->list_count; list++)
		for (uint32_t i = ivf->starts[list]; i < ivf->starts[list + 1]; i++)
			lists[ivf->docs[i]] = list;
	return lists;
}

struct ivf_probes ivf_probe(const struct centroids *centroids, const struct vector_query *query,
                            struct arena *arena)
{
	uint32_t count = MIN_OF(MAX_OF(centroids->count / PROBE_FRACTION, (uint32_t)PROBE_MIN),
	                        centroids->count);
	int32_t *products = arena_array(arena, centroids->count, sizeof(*products));
	struct hit *nearest = arena_array(arena, count, sizeof(*nearest));
	uint32_t *lists = arena_array(arena, count, sizeof(*lists));
	simd_dot_rows(query->elements, centroids->rows, centroids->count, centroids->stride,
	              products);
	struct topk top;
	topk_init(&top, nearest, count, 0);
	for (uint32_t i = 0; i < centroids->count; i++)
		topk_offer(&top, i,
		           2.0f + (float)products[i] * query->scale * centroids->scales[i]);
	for (size_t i = 0; i < top.count; i++)
		lists[i] = nearest[i].doc;
	return (struct ivf_probes){lists, top.count};
}

size_t ivf_search(const struct ivf *ivf, const struct vectors *vectors,
                  const struct ivf_probes *probes, const struct vector_query *query,
                  const struct doc_filter *filter, size_t k, float floor, struct arena *arena,
                  struct hit *hits)
{
	struct ivf_probes own = {0};
	struct topk top;
	require(vectors->rows_by_doc);
	if (ivf->own.count > 0) {
		own = ivf_probe(&ivf->own, query, arena);
		probes = &own;
	}
	topk_init(&top, hits, k, floor);
	for (size_t i = 0; i < probes->count; i++) {
		const uint32_t *start = &ivf->starts[probes->lists[i]];
		vectors_offer(vectors, query, start[0], start[1], ivf->docs, filter, &top);
	}
	topk_sort(&top);
	return top.count;
}
