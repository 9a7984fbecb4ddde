#include "engine/vector/vectors.h"

#include "engine/text/cancel.h"
#include "engine/text/mem.h"
#include "engine/vector/simd.h"

#include <math.h>

/* Greatest magnitude of the elements of a quantised query; see simd_dot_rows(). */
#define QUERY_MAX 4095.0f

/* Rows per call of simd_dot_rows(). */
#define SCAN_ROWS 256

/* The background is measured on an evenly spaced sample of about this many documents. It is 0 when
 * the sample has fewer vectors than the minimum. */
#define BACKGROUND_SAMPLE   4096
#define BACKGROUND_MIN_DOCS 50
#define BACKGROUND_MAX      0.95f

static uint64_t length_of(const struct vectors_header *header)
{
	uint64_t number = header->is_reordered ? sizeof(uint32_t) : 0;
	return sizeof(*header) +
	       header->count * (sizeof(float) + (uint64_t)header->stride + number);
}

static bool is_header_valid(const struct vectors_header *header, size_t length)
{
	return length >= sizeof(*header) && header->magic == VECTORS_MAGIC &&
	       header->length == length && header->dimension > 0 &&
	       header->dimension <= VECTORS_MAX_DIMENSION &&
	       header->stride == simd_padded(header->dimension) && header->background >= 0 &&
	       header->background < 1 && header->is_reordered <= 1 && length_of(header) == length;
}

/* Set the view to the blob that begins with `header`. */
static void set_sections(struct vectors *vectors, const struct vectors_header *header)
{
	vectors->header = header;
	vectors->scales = (const float *)(header + 1);
	vectors->rows = (const int8_t *)(vectors->scales + header->count);
	if (header->is_reordered)
		vectors->rows_by_doc =
			(const uint32_t *)(vectors->rows + (size_t)header->count * header->stride);
}

static bool are_row_numbers_valid(const struct vectors *vectors)
{
	for (uint32_t doc = 0; vectors->rows_by_doc && doc < vectors->header->count; doc++)
		if (vectors->rows_by_doc[doc] >= vectors->header->count)
			return false;
	return true;
}

struct vectors *vectors_open(void *data, size_t length, bool takes_data)
{
	struct vectors *vectors = mem_array(1, sizeof(*vectors));
	vectors->owned = takes_data ? data : NULL;
	if (is_header_valid(data, length)) {
		set_sections(vectors, data);
		if (are_row_numbers_valid(vectors))
			return vectors;
	}
	vectors_free(vectors);
	return NULL;
}

void vectors_free(struct vectors *vectors)
{
	if (!vectors)
		return;
	free(vectors->owned);
	free(vectors);
}

/* Row `i` becomes the old row docs[i]: along each cycle of the permutation, each row takes the
 * place of the one before it. */
static void permute_rows(float *scales, int8_t *rows, size_t stride, const uint32_t *docs,
                         uint32_t count)
{
	mem_auto_free bool *is_done = mem_array(count, sizeof(bool));
	mem_auto_free int8_t *row = mem_array(stride, 1);
	for (uint32_t start = 0; start < count; start++) {
		uint32_t to = start;
		float scale = scales[start];
		if (is_done[start])
			continue;
		memcpy(row, rows + start * stride, stride);
		for (; docs[to] != start; to = docs[to]) {
			scales[to] = scales[docs[to]];
			memcpy(rows + to * stride, rows + docs[to] * stride, stride);
			is_done[to] = true;
		}
		scales[to] = scale;
		memcpy(rows + to * stride, row, stride);
		is_done[to] = true;
	}
}

void vectors_order(struct vectors *vectors, const uint32_t *docs)
{
	struct vectors_header header = *vectors->header;
	uint64_t end = header.length;
	require(vectors->owned && !vectors->rows_by_doc);
	header.is_reordered = 1;
	header.length = length_of(&header);
	char *blob = mem_resize(vectors->owned, header.length, 1);
	vectors->owned = blob;
	memcpy(blob, &header, sizeof(header));
	uint32_t *rows_by_doc = (uint32_t *)(blob + end);
	for (uint32_t row = 0; row < header.count; row++)
		rows_by_doc[docs[row]] = row;
	set_sections(vectors, (const struct vectors_header *)blob);
	permute_rows((float *)vectors->scales, (int8_t *)vectors->rows, header.stride, docs,
	             header.count);
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

/* A blob being written; its vectors are initially zero. */
struct draft {
	char *blob;
	uint64_t length;
	uint32_t stride;
	float *scales;
	int8_t *rows;
};

static struct draft draft_new(uint32_t count, uint32_t dimension)
{
	struct vectors_header header = {.magic = VECTORS_MAGIC,
	                                .count = count,
	                                .dimension = dimension,
	                                .stride = (uint32_t)simd_padded(dimension)};
	struct draft draft = {.stride = header.stride};
	header.length = length_of(&header);
	draft.length = header.length;
	draft.blob = mem_array(header.length, 1);
	memcpy(draft.blob, &header, sizeof(header));
	draft.scales = (float *)(draft.blob + sizeof(header));
	draft.rows = (int8_t *)(draft.scales + count);
	return draft;
}

static struct vectors *draft_open(const struct draft *draft)
{
	struct vectors *vectors = vectors_open(draft->blob, draft->length, true);
	require(vectors);
	return vectors;
}

/* The factor that scales `row` to length 1; 0 when it is zero. */
static float unit_scale(const int8_t *row, uint32_t dimension)
{
	uint32_t squares = 0;
	for (uint32_t i = 0; i < dimension; i++)
		squares += (uint32_t)(row[i] * row[i]);
	return squares > 0 ? 1.0f / sqrtf((float)squares) : 0;
}

struct vectors *vectors_make(const struct embedder *embedder, const struct segment *segment,
                             const struct builder *builder, const atomic_bool *cancel)
{
	uint32_t dimension = embedder->header->dimension;
	bool has_rows = builder && builder_dimension(builder) == dimension;
	struct draft draft = draft_new(segment->doc_count, dimension);
	mem_auto_free uint32_t *map = NULL;
	mem_auto_free float *vector = mem_array(dimension, sizeof(float));
	mem_auto_free struct term_frequency *terms = mem_array(EMBEDDER_DOC_TOKENS, sizeof(*terms));
	for (uint32_t doc = 0; doc < segment->doc_count && !is_cancelled(cancel); doc++) {
		int8_t *to = draft.rows + (size_t)doc * draft.stride;
		const int8_t *row = has_rows ? builder_vector(builder, doc) : NULL;
		float scale;
		if (row) {
			memcpy(to, row, dimension);
		} else {
			map = map ? map : embedder_map_terms(embedder, segment);
			embedder_embed_doc(embedder, segment, map, doc, terms, vector);
			vectors_quantise(vector, dimension, to, &scale);
		}
		draft.scales[doc] = unit_scale(to, dimension);
	}
	return draft_open(&draft);
}

struct vectors *vectors_of_sample(const struct embedder *embedder, const struct sample *sample,
                                  const atomic_bool *cancel)
{
	uint32_t dimension = embedder->header->dimension;
	struct draft draft = draft_new(sample->doc_count, dimension);
	mem_auto_free float *vector = mem_array(dimension, sizeof(float));
	mem_auto_free struct term_frequency *terms = mem_array(SAMPLE_DOC_TOKENS, sizeof(*terms));
	require(embedder->header->term_count == sample->term_count);
	for (uint32_t doc = 0; doc < sample->doc_count && !is_cancelled(cancel); doc++) {
		int8_t *row = draft.rows + (size_t)doc * draft.stride;
		size_t count = sample->starts[doc + 1] - sample->starts[doc];
		float scale;
		for (size_t i = 0; i < count; i++)
			terms[i] = (struct term_frequency){sample->tokens[sample->starts[doc] + i],
			                                   (float)sample_weight(sample, doc, i)};
		embedder_embed_terms(embedder, terms, count, vector);
		vectors_quantise(vector, dimension, row, &scale);
		draft.scales[doc] = unit_scale(row, dimension);
	}
	return draft_open(&draft);
}

/* The mean cosine of two documents, from the sum of their unit vectors: its squared length is their
 * number plus the cosines of all ordered pairs. */
static float measure_background(const struct vectors *vectors)
{
	uint32_t dimension = vectors->header->dimension;
	uint32_t step = vectors->header->count / BACKGROUND_SAMPLE + 1;
	mem_auto_free float *sum = mem_array(dimension, sizeof(float));
	float count = 0;
	for (uint32_t doc = 0; doc < vectors->header->count; doc += step) {
		const int8_t *row = vectors->rows + (size_t)doc * vectors->header->stride;
		simd_add_scaled_i8(sum, vectors->scales[doc], row, dimension);
		count += vectors_has(vectors, doc) ? 1 : 0;
	}
	if (count < BACKGROUND_MIN_DOCS)
		return 0;
	float mean = (simd_dot(sum, sum, dimension) - count) / (count * (count - 1));
	return MIN_OF(MAX_OF(mean, 0.0f), BACKGROUND_MAX);
}

struct vectors *vectors_collect(const struct builder *builder, const struct segment *segment)
{
	uint32_t dimension = builder_dimension(builder);
	if (dimension == 0)
		return NULL;
	struct draft draft = draft_new(segment->doc_count, dimension);
	for (uint32_t doc = 0; doc < segment->doc_count; doc++) {
		const int8_t *row = builder_vector(builder, doc);
		if (!row)
			continue;
		memcpy(draft.rows + (size_t)doc * draft.stride, row, dimension);
		draft.scales[doc] = unit_scale(row, dimension);
	}
	struct vectors *vectors = draft_open(&draft);
	((struct vectors_header *)draft.blob)->background = measure_background(vectors);
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
	size_t row = vectors_row_number(vectors, doc);
	int32_t product;
	simd_dot_rows(query->elements, vectors->rows + row * vectors->header->stride, 1,
	              vectors->header->stride, &product);
	return (float)product * query->scale * vectors->scales[row];
}

void vectors_get(const struct vectors *vectors, uint32_t doc, float *out)
{
	size_t number = vectors_row_number(vectors, doc);
	const int8_t *row = vectors->rows + number * vectors->header->stride;
	for (uint32_t i = 0; i < vectors->header->dimension; i++)
		out[i] = (float)row[i] * vectors->scales[number];
}

void vectors_offer(const struct vectors *vectors, const struct vector_query *query, uint32_t first,
                   uint32_t last, const uint32_t *docs, const struct doc_filter *filter,
                   struct topk *top)
{
	size_t stride = vectors->header->stride;
	int32_t products[SCAN_ROWS];
	for (; first < last; first += SCAN_ROWS) {
		uint32_t rows = MIN_OF(last - first, (uint32_t)SCAN_ROWS);
		simd_dot_rows(query->elements, vectors->rows + first * stride, rows, stride,
		              products);
		for (uint32_t i = 0; i < rows; i++) {
			float cosine =
				(float)products[i] * query->scale * vectors->scales[first + i];
			if (!(cosine > top->threshold))
				continue;
			uint32_t doc = docs ? docs[first + i] : first + i;
			if (doc_filter_allows(filter, doc))
				topk_offer(top, doc, cosine);
		}
	}
}

size_t vectors_scan(const struct vectors *vectors, const struct vector_query *query,
                    const struct doc_filter *filter, size_t k, float floor, struct hit *hits)
{
	struct topk top;
	require(!vectors->rows_by_doc);
	topk_init(&top, hits, k, floor);
	vectors_offer(vectors, query, 0, filter->below, NULL, filter, &top);
	topk_sort(&top);
	return top.count;
}
