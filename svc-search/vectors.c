#include "vectors.h"

#include "mem.h"
#include "simd.h"
#include "stop.h"

#include <math.h>

/* The greatest magnitude of a query's elements; see simd_dot_rows(). */
#define QUERY_MAX 4095.0f

/* Rows whose products are taken at once. */
#define SCAN_ROWS 256

static struct vectors *view(void *data, bool takes_data)
{
	struct vectors *vectors = mem_array(1, sizeof(*vectors));

	vectors->owned = takes_data ? data : NULL;
	vectors->header = data;
	vectors->scales = (const float *)(vectors->header + 1);
	return vectors;
}

struct vectors *vectors_open(void *data, size_t length, bool takes_data)
{
	struct vectors *vectors = view(data, takes_data);
	const struct vectors_header *header = vectors->header;

	if (length >= sizeof(*header) && header->magic == VECTORS_MAGIC &&
	    header->length == length && header->dimension > 0 &&
	    header->stride == simd_padded(header->dimension) &&
	    sizeof(*header) + header->count * (sizeof(float) + (uint64_t)header->stride) ==
	            length) {
		vectors->rows = (const int8_t *)(vectors->scales + header->count);
		return vectors;
	}
	vectors_free(vectors);
	return NULL;
}

void vectors_free(struct vectors *vectors)
{
	if (vectors == NULL)
		return;
	free(vectors->owned);
	free(vectors);
}

void vectors_quantise(const float *vector, size_t dimension, int8_t *row, float *ret_scale)
{
	float max = 0;

	for (size_t i = 0; i < dimension; i++)
		max = MAX_OF(max, fabsf(vector[i]));
	*ret_scale = max / 127.0f;
	for (size_t i = 0; i < dimension && max > 0; i++)
		row[i] = (int8_t)lrintf(vector[i] / max * 127.0f);
}

struct vectors *vectors_make(const struct embedder *embedder, const struct segment *segment,
                             const atomic_bool *stop)
{
	uint32_t dimension = embedder->header->dimension;
	struct vectors_header header = {.magic = VECTORS_MAGIC,
	                                .count = segment->doc_count,
	                                .dimension = dimension,
	                                .stride = embedder->header->stride};
	mem_auto_free uint32_t *map = embedder_map(embedder, segment);
	mem_auto_free float *vector = mem_array(dimension, sizeof(float));
	struct vectors *vectors;
	char *blob;
	float *scales;
	int8_t *rows;

	header.length = sizeof(header) + header.count * (sizeof(float) + (uint64_t)header.stride);
	blob = mem_array(header.length, 1);
	memcpy(blob, &header, sizeof(header));
	scales = (float *)(blob + sizeof(header));
	rows = (int8_t *)(scales + header.count);
	for (uint32_t doc = 0; doc < header.count && !stop_is_set(stop); doc++) {
		embedder_embed_doc(embedder, segment, map, doc, vector);
		vectors_quantise(vector, dimension, rows + (size_t)doc * header.stride,
		                 &scales[doc]);
	}
	vectors = vectors_open(blob, header.length, true);
	require(vectors != NULL);
	return vectors;
}

struct vector_query vector_query_make(const float *vector, size_t dimension, struct arena *arena)
{
	struct vector_query query = {
		.elements = arena_array(arena, simd_padded(dimension), sizeof(int16_t)),
	};
	float max = 0;

	for (size_t i = 0; i < dimension; i++)
		max = MAX_OF(max, fabsf(vector[i]));
	query.scale = max / QUERY_MAX;
	for (size_t i = 0; i < dimension && max > 0; i++)
		query.elements[i] = (int16_t)lrintf(vector[i] / max * QUERY_MAX);
	return query;
}

float vectors_cosine(const struct vectors *vectors, const struct vector_query *query, uint32_t doc)
{
	int32_t product;

	simd_dot_rows(query->elements, vectors->rows + (size_t)doc * vectors->header->stride, 1,
	              vectors->header->stride, &product);
	return (float)product * query->scale * vectors->scales[doc];
}

void vectors_get(const struct vectors *vectors, uint32_t doc, float *out)
{
	const int8_t *row = vectors->rows + (size_t)doc * vectors->header->stride;

	for (uint32_t i = 0; i < vectors->header->dimension; i++)
		out[i] = (float)row[i] * vectors->scales[doc];
}

size_t vectors_scan(const struct vectors *vectors, const struct vector_query *query,
                    const struct doc_filter *filter, size_t k, struct hit *hits)
{
	int32_t products[SCAN_ROWS];
	struct topk top;

	topk_init(&top, hits, k);
	for (uint32_t first = 0; first < filter->below; first += SCAN_ROWS) {
		uint32_t rows = MIN_OF(filter->below - first, (uint32_t)SCAN_ROWS);

		simd_dot_rows(query->elements,
		              vectors->rows + (size_t)first * vectors->header->stride, rows,
		              vectors->header->stride, products);
		for (uint32_t i = 0; i < rows; i++) {
			float cosine =
				(float)products[i] * query->scale * vectors->scales[first + i];

			if (cosine > top.threshold && doc_filter_allows(filter, first + i))
				topk_offer(&top, first + i, cosine);
		}
	}
	topk_sort(&top);
	return top.count;
}
