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
static float top_relevance(const struct candidate *candidate, float full_score, bool has_dense)
{
	float coverage = MIN_OF(candidate->words / full_score, 1.0f);
	float cosine = MIN_OF(MAX_OF(candidate->cosine, 0.0f), 1.0f);
	return has_dense && !candidate->awaits_vector ? 0.5f * (coverage + cosine) : coverage;
}

void fusion_rank(struct candidate *candidates, size_t count, float full_score, bool has_dense)
{
	float lexical_max = 0;
	float cosine_max = 0;
	float coverage = 0;
	size_t first = 0;
	float best = 0;
	if (count == 0)
		return;
	for (size_t i = 0; i < count; i++) {
		if (candidates[i].is_named)
			continue;
		float score = candidates[i].words + candidates[i].pairs;
		if (score > lexical_max)
			coverage = 0;
		if (score >= lexical_max)
			coverage = MAX_OF(coverage, candidates[i].coverage);
		lexical_max = MAX_OF(lexical_max, score);
		cosine_max = MAX_OF(cosine_max, candidates[i].cosine);
	}
	float weight = dense_weight(coverage);
	for (size_t i = 0; i < count; i++) {
		struct candidate *candidate = &candidates[i];
		float lexical = 0;
		float dense = 0;
		if (lexical_max > 0)
			lexical = (candidate->words + candidate->pairs) / lexical_max;
		if (candidate->awaits_vector)
			dense = weight * lexical;
		else if (cosine_max > 0)
			dense = weight * MAX_OF(candidate->cosine, 0.0f) / cosine_max;
		candidate->fused = has_dense ? lexical + dense : lexical;
	}
	qsort(candidates, count, sizeof(*candidates), compare);
	while (first < count && candidates[first].is_named)
		candidates[first++].relevance = 1;
	if (first < count && candidates[first].fused > 0)
		best = top_relevance(&candidates[first], full_score, has_dense) /
		       candidates[first].fused;
	for (size_t i = first; i < count; i++) {
		float limit = i > 0 ? candidates[i - 1].relevance : 1;
		candidates[i].relevance = MIN_OF(candidates[i].fused * best, limit);
	}
}
