/** Centroids: the points around which an inverted file (ivf.h) groups vectors into lists. Spherical
 * k-means finds them (Dhillon and Modha, "Concept decompositions for large sparse text data using
 * clustering", 2001). */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

struct vectors;

/** A view of centroids of length 1, quantised to bytes. */
struct centroids {
	uint32_t count; /* 0: there are none */
	uint32_t dimension;
	uint32_t stride;     /* elements of a row: the dimension, padded (simd.h) */
	const float *scales; /* by centroid: factor that restores its row */
	const int8_t *rows;
};

/** The centroids of `count` (> 0) lists of `vectors`, of which there are at least as many; memory
 * of their own, which centroids_free() frees. The result depends on the vectors and their order
 * alone. Takes about 2 s for 200,000 vectors. Once `*cancel` is true, the caller discards the
 * result. `cancel` may be NULL. */
struct centroids *centroids_learn(const struct vectors *vectors, uint32_t count,
                                  const atomic_bool *cancel);

/** Accepts NULL. */
void centroids_free(struct centroids *centroids);

/** The centroid that is nearest to a vector of the same stride. `products` and `query` are working
 * memory for `count` and `stride` elements. */
uint32_t centroids_nearest(const struct centroids *centroids, const int8_t *row, int32_t *products,
                           int16_t *query);
