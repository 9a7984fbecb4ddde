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

double base_score(const struct candidate *candidate, const struct score_options *options)
{
	double trusted = WEIGHT_PREFERENCE * clamp_unit(options->preference_trust);
	double sum = WEIGHT_RETRIEVAL * clamp_unit(candidate->retrieval) +
	             trusted * clamp_unit(candidate->preference) +
	             WEIGHT_RECENCY * recency(candidate, options) +
	             WEIGHT_CONTAINER * candidate->has_container;
	double mean = sum / (WEIGHT_RETRIEVAL + trusted + WEIGHT_RECENCY + WEIGHT_CONTAINER);
	return clamp_unit(mean) * (1 - REFUSAL_PENALTY * clamp_unit(candidate->refusal));
}

double final_score(double base, double similarity)
{
	double excess = (similarity - SIMILARITY_IGNORED) / (1 - SIMILARITY_IGNORED);
	return base * (1 - SIMILARITY_PENALTY * clamp_unit(excess));
}
