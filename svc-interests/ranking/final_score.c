#include "ranking/final_score.h"

#include <math.h>

#define WEIGHT_RETRIEVAL  0.44
#define WEIGHT_PREFERENCE 0.44
#define WEIGHT_RECENCY    0.08
#define WEIGHT_CONTAINER  0.04

/* The part of its base score that a paper loses at similarity 1. */
#define SIMILARITY_PENALTY 0.15

/* Clamp to 0..1; NaN gives 0. */
static double clamp_unit(double value)
{
	return value > 0 ? fmin(value, 1) : 0;
}

static double recency(const struct candidate *candidate, const struct score_options *options)
{
	double half_life =
		options->half_life_days > 0 ? options->half_life_days : HALF_LIFE_DAYS_DEFAULT;
	if (isnan(candidate->age_days))
		return 0;
	return clamp_unit(exp2(-fmax(candidate->age_days, 0) / half_life));
}

struct score_parts score_parts_of(const struct candidate *candidate,
                                  const struct score_options *options)
{
	double trusted = WEIGHT_PREFERENCE * clamp_unit(options->preference_trust);
	return (struct score_parts){
		.values = {[SCORE_RETRIEVAL] = clamp_unit(candidate->retrieval),
	                   [SCORE_PREFERENCE] = clamp_unit(candidate->preference),
	                   [SCORE_RECENCY] = recency(candidate, options),
	                   [SCORE_CONTAINER] = candidate->has_container},
		.weights = {[SCORE_RETRIEVAL] = WEIGHT_RETRIEVAL,
	                    [SCORE_PREFERENCE] = trusted,
	                    [SCORE_RECENCY] = WEIGHT_RECENCY,
	                    [SCORE_CONTAINER] = WEIGHT_CONTAINER},
		.weight_sum = WEIGHT_RETRIEVAL + trusted + WEIGHT_RECENCY + WEIGHT_CONTAINER,
		.refusal_factor = 1 - REFUSAL_PENALTY * clamp_unit(candidate->refusal),
	};
}

double base_score(const struct candidate *candidate, const struct score_options *options)
{
	struct score_parts parts = score_parts_of(candidate, options);
	double sum = 0;
	for (int i = 0; i < SCORE_SIGNALS; i++)
		sum += parts.weights[i] * parts.values[i];
	return clamp_unit(sum / parts.weight_sum) * parts.refusal_factor;
}

double similarity_factor(double similarity)
{
	double excess = (similarity - SIMILARITY_IGNORED) / (1 - SIMILARITY_IGNORED);
	return 1 - SIMILARITY_PENALTY * clamp_unit(excess);
}

struct relevance_signals relevance_signals_of(const struct candidate *candidate,
                                              const struct score_options *options)
{
	double lift = clamp_unit(candidate->preference) - clamp_unit(options->preference_typical);
	return (struct relevance_signals){
		.retrieval = candidate->retrieval,
		.preference_lift = clamp_unit(options->preference_trust) * lift,
		.refusal = candidate->refusal,
	};
}

double candidate_relevance(const struct candidate *candidate, const struct score_options *options)
{
	struct relevance_signals signals = relevance_signals_of(candidate, options);
	return relevance_calibrate(&signals);
}

double final_score(double base, double similarity)
{
	return base * similarity_factor(similarity);
}
