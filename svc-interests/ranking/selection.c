#include "ranking/selection.h"

#include <math.h>
#include <stdlib.h>

/* A candidate during the selection. */
struct mmr {
	double base_score;
	double relevance;
	bool is_related;                     /* at least loosely */
	double similarity;                   /* to the most similar selected or recommended paper */
	const struct features *most_similar; /* its features; NULL: none has a similarity above 0 */
	bool is_selected;
};

/* Account for a paper that was selected or recommended. */
static void mmr_update(struct mmr *mmr, const struct features *own, const struct features *other)
{
	double similarity = features_dot(own, other);
	if (!(similarity > mmr->similarity))
		return;
	mmr->similarity = similarity;
	mmr->most_similar = other;
}

static struct mmr *mmr_init(struct arena *arena, const struct candidate *pool, size_t count,
                            const struct selection_options *options)
{
	struct mmr *all = arena_array(arena, count, sizeof(*all));
	for (size_t i = 0; i < count; i++) {
		all[i].base_score = base_score(&pool[i], &options->scoring);
		all[i].relevance = candidate_relevance(&pool[i], &options->scoring);
		all[i].is_related =
			!relevance_is_below(all[i].relevance, pool[i].author, RELEVANCE_LOOSE);
		for (size_t j = 0; j < options->recommended_count; j++)
			mmr_update(&all[i], pool[i].features, options->recommended[j]);
	}
	return all;
}

/* Index of the candidate with the highest final score, of the related ones or of the others;
 * `count`: none is left. */
static size_t find_best(const struct mmr *all, size_t count, bool is_related)
{
	size_t best = count;
	double highest = -1;
	for (size_t i = 0; i < count; i++) {
		if (all[i].is_selected || all[i].similarity >= SIMILARITY_DUPLICATE ||
		    all[i].is_related != is_related)
			continue;
		double score = final_score(all[i].base_score, all[i].similarity);
		if (score > highest) {
			highest = score;
			best = i;
		}
	}
	return best;
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
	struct mmr *all = mmr_init(scratch, pool, pool_count, options);
	struct selected *selected =
		arena_array(arena, MIN_OF(pool_count, options->limit), sizeof(*selected));
	size_t count = 0;
	while (count < options->limit) {
		size_t best = find_best(all, pool_count, true);
		if (best == pool_count && count < SELECTION_LEAST)
			best = find_best(all, pool_count, false);
		if (best == pool_count)
			break;
		selected[count] = (struct selected){
			.candidate = best,
			.relevance = all[best].relevance,
			.final_score = final_score(all[best].base_score, all[best].similarity),
			.base_score = all[best].base_score,
			.similarity = all[best].similarity,
			.most_similar = all[best].most_similar,
		};
		count++;
		all[best].is_selected = true;
		for (size_t i = 0; i < pool_count; i++)
			if (!all[i].is_selected)
				mmr_update(&all[i], pool[i].features, pool[best].features);
	}
	arena_free(scratch);
	rank_by_relevance(selected, count);
	*ret_count = count;
	return selected;
}
