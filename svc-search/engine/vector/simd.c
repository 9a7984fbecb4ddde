#include "engine/vector/simd.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define HAS_AVX2 (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#define AVX2     __attribute__((target("avx2,fma")))

AVX2 static void add_scaled_avx2(float *sum, float factor, const float *row, size_t count)
{
	__m256 factors = _mm256_set1_ps(factor);
	size_t i = 0;
	for (; i + 8 <= count; i += 8)
		_mm256_storeu_ps(sum + i, _mm256_fmadd_ps(factors, _mm256_loadu_ps(row + i),
		                                          _mm256_loadu_ps(sum + i)));
	for (; i < count; i++)
		sum[i] += factor * row[i];
}

AVX2 static void add_scaled_i8_avx2(float *sum, float factor, const int8_t *row, size_t count)
{
	__m256 factors = _mm256_set1_ps(factor);
	size_t i = 0;
	for (; i + 8 <= count; i += 8) {
		__m256i wide = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(row + i)));
		_mm256_storeu_ps(sum + i, _mm256_fmadd_ps(factors, _mm256_cvtepi32_ps(wide),
		                                          _mm256_loadu_ps(sum + i)));
	}
	for (; i < count; i++)
		sum[i] += factor * (float)row[i];
}

AVX2 static float dot_avx2(const float *a, const float *b, size_t count)
{
	__m256 sums = _mm256_setzero_ps();
	float sum = 0;
	size_t i = 0;
	for (; i + 8 <= count; i += 8)
		sums = _mm256_fmadd_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i), sums);
	float lanes[8];
	_mm256_storeu_ps(lanes, sums);
	for (size_t lane = 0; lane < 8; lane++)
		sum += lanes[lane];
	for (; i < count; i++)
		sum += a[i] * b[i];
	return sum;
}

AVX2 static void dot_rows_avx2(const int16_t *query, const int8_t *data, size_t rows, size_t stride,
                               int32_t *out)
{
	for (size_t row = 0; row < rows; row++, data += stride) {
		__m256i even = _mm256_setzero_si256();
		__m256i odd = _mm256_setzero_si256();
		for (size_t i = 0; i < stride; i += 32) {
			__m256i a =
				_mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(data + i)));
			__m256i b = _mm256_cvtepi8_epi16(
				_mm_loadu_si128((const __m128i *)(data + i + 16)));
			even = _mm256_add_epi32(
				even, _mm256_madd_epi16(a, _mm256_loadu_si256(
								   (const __m256i *)(query + i))));
			odd = _mm256_add_epi32(
				odd,
				_mm256_madd_epi16(b, _mm256_loadu_si256(
							     (const __m256i *)(query + i + 16))));
		}
		even = _mm256_add_epi32(even, odd);
		__m128i half = _mm_add_epi32(_mm256_castsi256_si128(even),
		                             _mm256_extracti128_si256(even, 1));
		half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4E));
		half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xB1));
		out[row] = _mm_cvtsi128_si32(half);
	}
}
#endif

void simd_add_scaled(float *sum, float factor, const float *row, size_t count)
{
#if defined(__x86_64__)
	if (HAS_AVX2) {
		add_scaled_avx2(sum, factor, row, count);
		return;
	}
#endif
	for (size_t i = 0; i < count; i++)
		sum[i] += factor * row[i];
}

void simd_add_scaled_i8(float *sum, float factor, const int8_t *row, size_t count)
{
#if defined(__x86_64__)
	if (HAS_AVX2) {
		add_scaled_i8_avx2(sum, factor, row, count);
		return;
	}
#endif
	for (size_t i = 0; i < count; i++)
		sum[i] += factor * (float)row[i];
}

float simd_dot(const float *a, const float *b, size_t count)
{
	float sum = 0;
#if defined(__x86_64__)
	if (HAS_AVX2)
		return dot_avx2(a, b, count);
#endif
	for (size_t i = 0; i < count; i++)
		sum += a[i] * b[i];
	return sum;
}

void simd_dot_rows(const int16_t *query, const int8_t *data, size_t rows, size_t stride,
                   int32_t *out)
{
#if defined(__x86_64__)
	if (HAS_AVX2) {
		dot_rows_avx2(query, data, rows, stride, out);
		return;
	}
#endif
	for (size_t row = 0; row < rows; row++, data += stride) {
		int32_t sum = 0;
		for (size_t i = 0; i < stride; i++)
			sum += query[i] * data[i];
		out[row] = sum;
	}
}
