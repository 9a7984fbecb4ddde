#include "engine/fusion.h"

#include "base/base.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	const struct candidate *left = a;
	const struct candidate *right = b;
	if (left->is_named != right->is_named)
		return left->is_named ? -1 : 1;
	if (left->has_all_names != right->has_all_names)
		return left->has_all_names ? -1 : 1;
	if (left->fused < right->fused || left->fused > right->fused)
		return left->fused > right->fused ? -1 : 1;
	if (left->published != right->published)
		return left->published > right->published ? -1 : 1;
	return strcmp(left->id, right->id);
}

/* Weight of the dense scores when the best document by words covers this much of the query. */
static float dense_weight(float coverage)
{
	float power = coverage * coverage * coverage * coverage;
	return FUSION_DENSE_WEIGHT + (FUSION_DENSE_WEIGHT_COVERED - FUSION_DENSE_WEIGHT) * power;
}

/* The relevance of the best candidate, 0 to 1. */
static float top_relevance(const struct candidate *candidate, struct relevance_scale scale)
{
	float coverage = MIN_OF(candidate->smoothed / scale.full_score, 1.0f);
	float cosine = MIN_OF(MAX_OF(candidate->cosine, 0.0f), 1.0f);
	float weight = candidate->awaits_vector ? 0 : scale.cosine_weight;
	return (1 - weight) * coverage + weight * cosine;
}

float fusion_lexical(const struct fusion *fusion, const struct candidate *candidate)
{
	return fusion->lexical_max > 0 ? (candidate->words + candidate->pairs) / fusion->lexical_max
	                               : 0;
}

float fusion_dense(const struct fusion *fusion, const struct candidate *candidate)
{
	if (candidate->awaits_vector)
		return fusion->dense_weight * fusion_lexical(fusion, candidate);
	return fusion->cosine_max > 0
	               ? fusion->dense_weight * MAX_OF(candidate->cosine, 0.0f) / fusion->cosine_max
	               : 0;
}

/* The maxima of both kinds of score, and the weight. */
static struct fusion measure(const struct candidate *candidates, size_t count, bool has_dense)
{
	struct fusion fusion = {0};
	float coverage = 0;
	for (size_t i = 0; i < count; i++) {
		if (candidates[i].is_named)
			continue;
		float score = candidates[i].words + candidates[i].pairs;
		if (score > fusion.lexical_max)
			coverage = 0;
		if (score >= fusion.lexical_max)
			coverage = MAX_OF(coverage, candidates[i].coverage);
		fusion.lexical_max = MAX_OF(fusion.lexical_max, score);
		fusion.cosine_max = MAX_OF(fusion.cosine_max, candidates[i].cosine);
	}
	fusion.dense_weight = has_dense ? dense_weight(coverage) : 0;
	return fusion;
}

struct fusion fusion_rank(struct candidate *candidates, size_t count, struct relevance_scale scale,
                          bool has_dense)
{
	struct fusion fusion = measure(candidates, count, has_dense);
	size_t first = 0;
	for (size_t i = 0; i < count; i++)
		candidates[i].fused = fusion_lexical(&fusion, &candidates[i]) +
		                      fusion_dense(&fusion, &candidates[i]);
	if (count > 0) /* or there may be no array */
		qsort(candidates, count, sizeof(*candidates), compare);
	while (first < count && candidates[first].is_named)
		candidates[first++].relevance = 1;
	if (first < count && candidates[first].fused > 0)
		fusion.relevance_factor =
			top_relevance(&candidates[first], scale) / candidates[first].fused;
	for (size_t i = first; i < count; i++) {
		float limit = i > 0 ? candidates[i - 1].relevance : 1;
		candidates[i].relevance =
			MIN_OF(candidates[i].fused * fusion.relevance_factor, limit);
	}
	return fusion;
}
