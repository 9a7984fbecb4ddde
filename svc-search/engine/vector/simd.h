/** The inner loops over dense vectors.
 *
 * Each function has a plain C version, which compilers vectorise, and a version for AVX2 and FMA,
 * which is selected at run time on processors that have them. Float sums of the two versions can
 * differ in the last bits; integer sums are equal.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** Vectors of 8-bit integers are padded with zeros to a multiple of this many elements. */
#define SIMD_PADDING 32

static inline size_t simd_padded(size_t dimension)
{
	return (dimension + SIMD_PADDING - 1) / SIMD_PADDING * SIMD_PADDING;
}

/** sum += factor x row, `count` elements. */
void simd_add_scaled(float *sum, float factor, const float *row, size_t count);

/** The same with a row of 8-bit integers. */
void simd_add_scaled_i8(float *sum, float factor, const int8_t *row, size_t count);

/** Inner product of `count` elements. */
float simd_dot(const float *a, const float *b, size_t count);

/** Inner products of `query` with `rows` consecutive rows at `data`, each of `stride` elements (a
 * multiple of SIMD_PADDING, at most 4096). The magnitude of the query's elements is below 2^12, so
 * that no sum overflows. */
void simd_dot_rows(const int16_t *query, const int8_t *data, size_t rows, size_t stride,
                   int32_t *out);
