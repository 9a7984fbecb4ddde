/* Leave-one-out evaluation of the engine's constants. For each of the judged collections in
 * `../shared/data` (or the given folder), a grid search chooses the constants with the best mean
 * nDCG@10 on the other collections and measures them on this one. The output compares them with the
 * shipped constants and with the best ones for the collection itself.
 *
 *     build/tests/bench/search_left_out [data folder]
 *
 * Takes some minutes of one core. */
#include "engine/engine.h"
#include "engine/fusion.h"
#include "engine/lexical/bm25.h"
#include "engine/lexical/proximity.h"
#include "search/judged.h"
#include "search/tuned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 10

/* Values of each constant in the grid. */
#define STEPS    ((size_t)3)
#define SETTINGS (STEPS * STEPS * STEPS * STEPS * STEPS)

static const char *const names[] = {"cranfield", "cisi", "cacm", "lisa"};

static const float k1_steps[STEPS] = {0.9f, 1.2f, 1.5f};
static const float b_steps[STEPS] = {0.5f, 0.65f, 0.8f};
static const float pair_steps[STEPS] = {0.1f, 0.2f, 0.4f};
static const float dense_steps[STEPS] = {0.4f, 0.8f, 1.2f};
static const float feedback_steps[STEPS] = {0.3f, 0.6f, 0.9f};

/* In all settings: queries that a document covers wholly are rare in these collections. */
#define DENSE_COVERED 0.2f

struct tuned tuned;

/* The constants that the engine is built with. */
static const struct tuned shipped = {
	.k1 = BM25_K1,
	.b = BM25_B,
	.pair_weight = PROXIMITY_PAIR_WEIGHT,
	.dense_weight = FUSION_DENSE_WEIGHT,
	.dense_weight_covered = FUSION_DENSE_WEIGHT_COVERED,
	.feedback = FUSION_FEEDBACK,
};

/* nDCG@10 of each setting on each collection. */
static double scores[ARRAY_LEN(names)][SETTINGS];

/* Setting number `i` of the grid. k1 and b change last, because they need a new index. */
static struct tuned setting(size_t i)
{
	return (struct tuned){
		.feedback = feedback_steps[i % STEPS],
		.dense_weight = dense_steps[i / STEPS % STEPS],
		.dense_weight_covered = DENSE_COVERED,
		.pair_weight = pair_steps[i / (STEPS * STEPS) % STEPS],
		.b = b_steps[i / (STEPS * STEPS * STEPS) % STEPS],
		.k1 = k1_steps[i / (STEPS * STEPS * STEPS * STEPS)],
	};
}

/* Mean nDCG@10 with the current constants. */
static double evaluate(const struct judged *judged, struct engine *engine)
{
	struct engine_view *view = engine_view_get(engine);
	double sum = 0;
	for (size_t i = 0; i < judged->query_count; i++) {
		const struct judged_query *judged_query = &judged->queries[i];
		struct arena *arena = arena_new();
		struct engine_query query = {.text = judged_query->text,
		                             .length = strlen(judged_query->text),
		                             .limit = DEPTH};
		struct engine_result result = engine_search(view, &query, arena);
		const char *ids[DEPTH];
		for (size_t hit = 0; hit < result.count; hit++)
			ids[hit] = result.hits[hit].id;
		sum += judged_ndcg10(judged_query, ids, result.count);
		arena_free(arena);
	}
	engine_view_put(view);
	return sum / (double)judged->query_count;
}

/* Evaluate every setting on one collection. Returns the score of the shipped constants. */
static double evaluate_all(const struct judged *judged, double *ret_scores)
{
	struct engine *engine = NULL;
	for (size_t i = 0; i < SETTINGS; i++) {
		tuned = setting(i);
		if (i % (STEPS * STEPS * STEPS) == 0) {
			engine_free(engine);
			engine = judged_index(judged);
		}
		ret_scores[i] = evaluate(judged, engine);
	}
	engine_free(engine);
	tuned = shipped;
	engine = judged_index(judged);
	double score = evaluate(judged, engine);
	engine_free(engine);
	return score;
}

/* The best setting for all collections except number `left_out`; for all when there is no such
 * number. */
static size_t best_without(size_t left_out)
{
	double best = -1;
	size_t found = 0;
	for (size_t i = 0; i < SETTINGS; i++) {
		double sum = 0;
		for (size_t c = 0; c < ARRAY_LEN(names); c++)
			sum += c != left_out ? scores[c][i] : 0;
		if (sum > best) {
			best = sum;
			found = i;
		}
	}
	return found;
}

static double best_of(const double *all)
{
	double best = 0;
	for (size_t i = 0; i < SETTINGS; i++)
		best = MAX_OF(best, all[i]);
	return best;
}

static void print_constants(const struct tuned *constants)
{
	printf("k1 %.1f, b %.2f, pairs %.1f, dense %.1f, feedback %.1f\n", (double)constants->k1,
	       (double)constants->b, (double)constants->pair_weight,
	       (double)constants->dense_weight, (double)constants->feedback);
}

static void print_outcome(const double *shipped_scores)
{
	const size_t count = ARRAY_LEN(names);
	double left_out_sum = 0;
	double shipped_sum = 0;
	struct tuned best;
	printf("%-10s %9s %8s %8s\n", "nDCG@10", "left out", "shipped", "its best");
	for (size_t c = 0; c < count; c++) {
		size_t chosen = best_without(c);
		best = setting(chosen);
		printf("%-10s %9.3f %8.3f %8.3f   chosen by the others: ", names[c],
		       scores[c][chosen], shipped_scores[c], best_of(scores[c]));
		print_constants(&best);
		left_out_sum += scores[c][chosen];
		shipped_sum += shipped_scores[c];
	}
	printf("%-10s %9.3f %8.3f\n", "mean", left_out_sum / (double)count,
	       shipped_sum / (double)count);
	best = setting(best_without(count));
	printf("best for all four: ");
	print_constants(&best);
	printf("shipped:           ");
	print_constants(&shipped);
}

int main(int argc, char **argv)
{
	struct arena *arena = arena_new();
	const char *folder = judged_folder(arena, argc, argv);
	double shipped_scores[ARRAY_LEN(names)];
	for (size_t c = 0; c < ARRAY_LEN(names); c++) {
		struct judged *judged =
			judged_load(arena, arena_printf(arena, "%s/%s", folder, names[c]), false);
		if (!judged) {
			printf("%s is not in %s: all four are needed\n", names[c], folder);
			arena_free(arena);
			return 0;
		}
		fprintf(stderr, "%s: %zu settings\n", names[c], SETTINGS);
		shipped_scores[c] = evaluate_all(judged, scores[c]);
	}
	print_outcome(shipped_scores);
	arena_free(arena);
	return 0;
}
