/** The inner loops of dense vectors, for whatever the processor can do.
 *
 * Each has a plain C form, which compilers vectorise for any machine, and where AVX2 and FMA are
 * there one for those, chosen at run time. Sums of floats can differ in the last bits between the
 * two; sums of integers do not.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** Vectors of 8-bit numbers are padded with zeros to a multiple of this many elements. */
#define SIMD_PADDING 32

static inline size_t simd_padded(size_t dimension)
{
	return (dimension + SIMD_PADDING - 1) / SIMD_PADDING * SIMD_PADDING;
}

/** sum += factor x row, `count` elements. */
void simd_add_scaled(float *sum, float factor, const float *row, size_t count);

/** The same with a row of 8-bit numbers. */
void simd_add_scaled_i8(float *sum, float factor, const int8_t *row, size_t count);

/** Inner product of `count` elements. */
float simd_dot(const float *a, const float *b, size_t count);

/** Inner products of `query` with `rows` rows of `stride` (a multiple of SIMD_PADDING) elements
 * that follow one another at `data`. `query` is of magnitude under 2^12, so that no sum overflows
 * up to 4096 elements. */
void simd_dot_rows(const int16_t *query, const int8_t *data, size_t rows, size_t stride,
                   int32_t *out);
