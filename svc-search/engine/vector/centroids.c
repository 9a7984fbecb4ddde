#include "engine/vector/centroids.h"

#include "engine/text/cancel.h"
#include "engine/text/mem.h"
#include "engine/vector/simd.h"
#include "engine/vector/vectors.h"

#include <math.h>

/* Vectors per list that k-means samples. */
#define SAMPLE_PER_LIST 40

/* Rounds of k-means. */
#define ROUNDS 6

/* The state of k-means: the centroids as floats and, for comparisons, as bytes. */
struct learner {
	const struct vectors *vectors;
	struct centroids centroids; /* of `rows` and `scales` */
	float *floats;              /* of length 1 */
	int8_t *rows;
	float *scales;
	int32_t *products; /* scratch, by list */
	int16_t *query;    /* scratch, a row */
	const atomic_bool *cancel;
};

uint32_t centroids_nearest(const struct centroids *centroids, const int8_t *row, int32_t *products,
                           int16_t *query)
{
	uint32_t nearest = 0;
	float best = -INFINITY;
	for (uint32_t i = 0; i < centroids->stride; i++)
		query[i] = (int16_t)row[i];
	simd_dot_rows(query, centroids->rows, centroids->count, centroids->stride, products);
	for (uint32_t i = 0; i < centroids->count; i++) {
		float product = (float)products[i] * centroids->scales[i];
		if (product > best) {
			best = product;
			nearest = i;
		}
	}
	return nearest;
}

static void store_centroid(struct learner *learner, uint32_t list)
{
	const struct centroids *centroids = &learner->centroids;
	vectors_quantise(learner->floats + (size_t)list * centroids->dimension,
	                 centroids->dimension, learner->rows + (size_t)list * centroids->stride,
	                 &learner->scales[list]);
}

/* One round: assign each sampled vector to its nearest centroid, then move each centroid to the
 * mean of its vectors. A centroid without vectors stays. */
static void kmeans_round(struct learner *learner, uint32_t step)
{
	const struct centroids *centroids = &learner->centroids;
	const struct vectors *vectors = learner->vectors;
	uint32_t dimension = centroids->dimension;
	mem_auto_free float *sums = mem_array((size_t)centroids->count * dimension, sizeof(float));
	mem_auto_free float *vector = mem_array(dimension, sizeof(float));
	for (uint32_t doc = 0; doc < vectors->header->count && !is_cancelled(learner->cancel);
	     doc += step) {
		uint32_t list = centroids_nearest(centroids,
		                                  vectors->rows + (size_t)doc * centroids->stride,
		                                  learner->products, learner->query);
		vectors_get(vectors, doc, vector);
		simd_add_scaled(sums + (size_t)list * dimension, 1.0f, vector, dimension);
	}
	for (uint32_t i = 0; i < centroids->count; i++) {
		float *sum = sums + (size_t)i * dimension;
		if (!embedder_normalise(sum, dimension))
			continue;
		memcpy(learner->floats + (size_t)i * dimension, sum, dimension * sizeof(float));
		store_centroid(learner, i);
	}
}

static void learn(struct learner *learner)
{
	uint32_t lists = learner->centroids.count;
	uint32_t count = learner->vectors->header->count;
	uint32_t step = MAX_OF(count / (lists * SAMPLE_PER_LIST), 1u);
	for (uint32_t i = 0; i < lists; i++) {
		vectors_get(learner->vectors, (uint32_t)((uint64_t)i * count / lists),
		            learner->floats + (size_t)i * learner->centroids.dimension);
		store_centroid(learner, i);
	}
	for (int round = 0; round < ROUNDS; round++)
		kmeans_round(learner, step);
}

struct centroids *centroids_learn(const struct vectors *vectors, uint32_t count,
                                  const atomic_bool *cancel)
{
	uint32_t dimension = vectors->header->dimension;
	uint32_t stride = vectors->header->stride;
	struct learner learner = {
		.vectors = vectors,
		.floats = mem_array((size_t)count * dimension, sizeof(float)),
		.rows = mem_array((size_t)count * stride, 1),
		.scales = mem_array(count, sizeof(float)),
		.products = mem_array(count, sizeof(int32_t)),
		.query = mem_array(stride, sizeof(int16_t)),
		.cancel = cancel,
	};
	require(count > 0 && count <= vectors->header->count);
	learner.centroids =
		(struct centroids){count, dimension, stride, learner.scales, learner.rows};
	learn(&learner);
	free(learner.floats);
	free(learner.products);
	free(learner.query);
	struct centroids *centroids = mem_array(1, sizeof(*centroids));
	*centroids = learner.centroids;
	return centroids;
}

void centroids_free(struct centroids *centroids)
{
	if (!centroids)
		return;
	free((void *)centroids->scales);
	free((void *)centroids->rows);
	free(centroids);
}
