#include "engine/lexical/score_simd.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define HAS_AVX2 __builtin_cpu_supports("avx2")
/* Without FMA, which would round differently. */
#define AVX2 __attribute__((target("avx2")))

AVX2 static void score_postings_avx2(float weight, const uint8_t *frequencies, const float *norms,
                                     size_t count, float *scores)
{
	const __m256 rounding = _mm256_set1_ps(3 * SCORE_MAX);
	for (size_t i = 0; i < count; i += 8) {
		__m256 frequency = _mm256_cvtepi32_ps(
			_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(frequencies + i))));
		__m256 impact =
			_mm256_div_ps(_mm256_mul_ps(frequency, _mm256_set1_ps(BM25_K1 + 1.0f)),
		                      _mm256_add_ps(frequency, _mm256_loadu_ps(norms + i)));
		__m256 score = _mm256_mul_ps(_mm256_set1_ps(weight), impact);
		_mm256_storeu_ps(scores + i,
		                 _mm256_sub_ps(_mm256_add_ps(score, rounding), rounding));
	}
}

AVX2 static uint64_t scores_above_avx2(const float *scores, float rest, float threshold)
{
	uint64_t bits = 0;
	for (unsigned i = 0; i < 64; i += 8) {
		__m256 sum = _mm256_add_ps(_mm256_loadu_ps(scores + i), _mm256_set1_ps(rest));
		__m256 is_above = _mm256_cmp_ps(sum, _mm256_set1_ps(threshold), _CMP_GT_OQ);
		bits |= (uint64_t)(unsigned)_mm256_movemask_ps(is_above) << i;
	}
	return bits;
}
#endif

void score_postings(float weight, const uint8_t *frequencies, const float *norms, size_t count,
                    float *scores)
{
#if defined(__x86_64__)
	if (HAS_AVX2) {
		score_postings_avx2(weight, frequencies, norms, count, scores);
		return;
	}
#endif
	for (size_t i = 0; i < count; i++)
		scores[i] = score_posting(weight, frequencies[i], norms[i]);
}

uint64_t scores_above(const float *scores, float rest, float threshold)
{
	uint64_t bits = 0;
#if defined(__x86_64__)
	if (HAS_AVX2)
		return scores_above_avx2(scores, rest, threshold);
#endif
	for (unsigned i = 0; i < 64; i++)
		bits |= (uint64_t)(scores[i] + rest > threshold) << i;
	return bits;
}
