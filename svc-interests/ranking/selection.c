#include "ranking/selection.h"

#include <math.h>
#include <stdlib.h>

/* A candidate during the selection. Its similarity is only computed when its base score, which a
 * similarity can but lower, is enough to be the best: that of most candidates never is. */
struct mmr {
	double base_score;
	double relevance;
	bool is_related;   /* at least loosely */
	double similarity; /* to the most similar of the first `compared` papers */
	const struct features *most_similar; /* its features; NULL: none has a similarity above 0 */
	size_t compared;                     /* papers of struct mmr_state */
	size_t candidate;                    /* index in the pool */
	bool is_selected;
};

/* The candidates, best base score first, and the papers that they are compared with. */
struct mmr_state {
	const struct candidate *pool;
	struct mmr *all;
	size_t count;
	const struct features **others; /* recommended, then selected */
	size_t other_count;
};

static int best_score_first(const void *a, const void *b)
{
	const struct mmr *left = a, *right = b;
	if (left->base_score != right->base_score)
		return left->base_score < right->base_score ? 1 : -1;
	return (left->candidate > right->candidate) - (left->candidate < right->candidate);
}

static struct mmr_state mmr_init(struct arena *arena, const struct candidate *pool, size_t count,
                                 const struct selection_options *options)
{
	struct mmr_state state = {.pool = pool, .count = count};
	size_t recommended = options->recommended_count;
	state.all = arena_array(arena, count, sizeof(*state.all));
	state.others = arena_array(arena, recommended + MIN_OF(count, options->limit),
	                           sizeof(*state.others));
	for (; state.other_count < recommended; state.other_count++)
		state.others[state.other_count] = options->recommended[state.other_count];
	for (size_t i = 0; i < count; i++) {
		struct mmr *mmr = &state.all[i];
		mmr->candidate = i;
		mmr->base_score = base_score(&pool[i], &options->scoring);
		mmr->relevance = candidate_relevance(&pool[i], &options->scoring);
		mmr->is_related =
			!relevance_is_below(mmr->relevance, pool[i].author, RELEVANCE_LOOSE);
	}
	qsort(state.all, count, sizeof(*state.all), best_score_first);
	return state;
}

/* Account for the papers that were recommended or selected. */
static void mmr_compare(const struct mmr_state *state, struct mmr *mmr)
{
	const struct features *own = state->pool[mmr->candidate].features;
	for (; mmr->compared < state->other_count; mmr->compared++) {
		const struct features *other = state->others[mmr->compared];
		double similarity = features_dot(own, other);
		if (!(similarity > mmr->similarity))
			continue;
		mmr->similarity = similarity;
		mmr->most_similar = other;
	}
}

/* The candidate with the highest final score, of the related ones or of the others; of equal ones
 * the first of the pool. NULL: none is left. */
static struct mmr *find_best(const struct mmr_state *state, bool is_related)
{
	struct mmr *best = NULL;
	double highest = -1;
	for (size_t i = 0; i < state->count && state->all[i].base_score >= highest; i++) {
		struct mmr *mmr = &state->all[i];
		if (mmr->is_selected || mmr->is_related != is_related)
			continue;
		mmr_compare(state, mmr);
		if (mmr->similarity >= SIMILARITY_DUPLICATE)
			continue;
		double score = final_score(mmr->base_score, mmr->similarity);
		if (score > highest || (score == highest && mmr->candidate < best->candidate)) {
			highest = score;
			best = mmr;
		}
	}
	return best;
}

/* Whether no paper out of the pool, whose base score is `outside` at most, can be better than the
 * best of it. NULL: there is none. */
static bool is_certain(const struct mmr *best, double outside)
{
	return outside <= 0 || (best && final_score(best->base_score, best->similarity) > outside);
}

/* The next paper to select: a related one or, where there is none left and the list is short,
 * another. NULL: none. False: one that is not in the pool may be better. */
static bool find_next(const struct mmr_state *state, const struct selection_options *options,
                      size_t selected, struct mmr **ret_best)
{
	*ret_best = find_best(state, true);
	if (!is_certain(*ret_best, options->related_outside))
		return false;
	if (*ret_best || selected >= SELECTION_LEAST)
		return true;
	*ret_best = find_best(state, false);
	return is_certain(*ret_best, options->base_score_outside);
}

static int most_relevant_first(const void *a, const void *b)
{
	const struct selected *left = a, *right = b;
	if (left->relevance != right->relevance)
		return left->relevance < right->relevance ? 1 : -1;
	return (left->candidate > right->candidate) - (left->candidate < right->candidate);
}

static void rank_by_relevance(struct selected *selected, size_t count)
{
	qsort(selected, count, sizeof(*selected), most_relevant_first);
	for (size_t i = 0; i < count; i++)
		selected[i].rank = (unsigned)i + 1;
}

struct selected *select_papers(struct arena *arena, const struct candidate *pool, size_t pool_count,
                               const struct selection_options *options, size_t *ret_count)
{
	struct arena *scratch = arena_new();
	struct mmr_state state = mmr_init(scratch, pool, pool_count, options);
	struct selected *selected =
		arena_array(arena, MIN_OF(pool_count, options->limit), sizeof(*selected));
	size_t count = 0;
	struct mmr *best = NULL;
	bool is_sure = true;
	while (count < options->limit) {
		is_sure = find_next(&state, options, count, &best);
		if (!is_sure || !best)
			break;
		selected[count++] = (struct selected){
			.candidate = best->candidate,
			.relevance = best->relevance,
			.final_score = final_score(best->base_score, best->similarity),
			.base_score = best->base_score,
			.similarity = best->similarity,
			.most_similar = best->most_similar,
		};
		best->is_selected = true;
		state.others[state.other_count++] = pool[best->candidate].features;
	}
	arena_free(scratch);
	if (!is_sure)
		return NULL;
	rank_by_relevance(selected, count);
	*ret_count = count;
	return selected;
}
