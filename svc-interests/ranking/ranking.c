#include "ranking/ranking.h"

#include <math.h>

#define WEIGHT_RETRIEVAL  0.44
#define WEIGHT_PREFERENCE 0.44
#define WEIGHT_RECENCY    0.08
#define WEIGHT_CONTAINER  0.04

/* Part of its merit that a paper loses when it is all but another one. */
#define LIKENESS_PENALTY 0.5

/* A number brought into 0..1; NaN is 0. */
static double clamp_unit(double value)
{
	return value > 0 ? fmin(value, 1) : 0;
}

static double recency(const struct candidate *candidate, const struct rank_options *options)
{
	double half_life =
		options->half_life_days > 0 ? options->half_life_days : RANK_HALF_LIFE_DAYS_DEFAULT;
	if (isnan(candidate->age_days))
		return 0;
	return clamp_unit(exp2(-fmax(candidate->age_days, 0) / half_life));
}

double candidate_merit(const struct candidate *candidate, const struct rank_options *options)
{
	double trusted = WEIGHT_PREFERENCE * clamp_unit(options->preference_trust);
	double sum = WEIGHT_RETRIEVAL * clamp_unit(candidate->retrieval) +
	             trusted * clamp_unit(candidate->preference) +
	             WEIGHT_RECENCY * recency(candidate, options) +
	             WEIGHT_CONTAINER * candidate->has_container;
	return clamp_unit(sum / (WEIGHT_RETRIEVAL + trusted + WEIGHT_RECENCY + WEIGHT_CONTAINER));
}

/* A candidate while the others are chosen. */
struct standing {
	double merit;
	double likeness; /* greatest to a paper that is chosen or seen */
	bool is_chosen;
};

/* What is left of the merit; -1 when the paper is out. */
static double standing_relevance(const struct standing *standing)
{
	if (standing->is_chosen || standing->likeness >= RANK_LIKENESS_SAME)
		return -1;
	double excess = (standing->likeness - RANK_LIKENESS_FREE) / (1 - RANK_LIKENESS_FREE);
	return standing->merit * (1 - LIKENESS_PENALTY * clamp_unit(excess));
}

static void meet(struct standing *standing, const struct features *own,
                 const struct features *other)
{
	standing->likeness = fmax(standing->likeness, features_dot(own, other));
}

static struct standing *stand(struct arena *arena, const struct candidate *pool, size_t count,
                              const struct rank_options *options)
{
	struct standing *standings = arena_array(arena, count, sizeof(*standings));
	for (size_t i = 0; i < count; i++) {
		standings[i].merit = candidate_merit(&pool[i], options);
		for (size_t j = 0; j < options->seen_count; j++)
			meet(&standings[i], pool[i].features, options->seen[j]);
	}
	return standings;
}

/* Place of the best that is left; `count` when none is. */
static size_t best_left(const struct standing *standings, size_t count)
{
	size_t best = count;
	double most = -1;
	for (size_t i = 0; i < count; i++) {
		double relevance = standing_relevance(&standings[i]);
		if (relevance > most) {
			most = relevance;
			best = i;
		}
	}
	return best;
}

struct ranked *rank_pool(struct arena *arena, const struct candidate *pool, size_t pool_count,
                         const struct rank_options *options, size_t *ret_count)
{
	struct arena *scratch = arena_new();
	struct standing *standings = stand(scratch, pool, pool_count, options);
	struct ranked *chosen =
		arena_array(arena, MIN_OF(pool_count, options->limit), sizeof(*chosen));
	size_t count = 0;
	while (count < options->limit) {
		size_t best = best_left(standings, pool_count);
		if (best == pool_count)
			break;
		chosen[count] = (struct ranked){
			.candidate = best,
			.rank = (unsigned)count + 1,
			.relevance = standing_relevance(&standings[best]),
			.merit = standings[best].merit,
			.recency = recency(&pool[best], options),
		};
		count++;
		standings[best].is_chosen = true;
		for (size_t i = 0; i < pool_count; i++)
			if (!standings[i].is_chosen)
				meet(&standings[i], pool[i].features, pool[best].features);
	}
	arena_free(scratch);
	*ret_count = count;
	return chosen;
}
