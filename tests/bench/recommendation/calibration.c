/* How reliable the relevance of recommendations is (svc-interests/ranking/calibration.h, which says
 * what it is the probability of), on the judged collections in `../shared/data` or the given
 * folder:
 *
 *     build/tests/bench/calibration [data folder]
 *
 * The queries of a collection are the interests. For each collection, the constants are fitted to
 * the other three and tried on this one: a line for each tenth of the scores with the mean score,
 * the fraction of relevant pairs and a bar of it, and the expected calibration error, which is the
 * mean difference of the two, weighted by the pairs (Naeini, Cooper and Hauskrecht, 2015). "own" is
 * that error with the constants fitted to the same collection: what no straight line through the
 * log-odds can remove. Last, the constants fitted to all four, which calibration.h has. */
#include "ranking/calibration.h"

#include "engine/engine.h"
#include "interest/interest_text.h"
#include "search/judged.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Papers of an interest. */
#define DEPTH 30

#define BINS       10
#define BAR_WIDTH  40
#define ITERATIONS 50

/* Total weights of the three kinds of pairs in a collection. */
static const double WEIGHTS[] = {.5, .35, .15};
enum kind { JUDGED, UNJUDGED, FOREIGN, KINDS };

/* Collections of different subjects: none has what an interest of another subject asks for. */
static const struct {
	const char *name;
	const char *subject;
} collections[] = {
	{"cranfield", "aerodynamics"},
	{"cisi", "information"},
	{"cacm", "information"},
	{"lisa", "information"},
};

/* An interest and a paper. */
struct pair {
	double retrieval;
	double weight;
	enum kind kind;
};

struct pairs {
	struct pair *items;
	size_t count;
	size_t interests;
};

struct line {
	double intercept;
	double slope;
};

static double probability(struct line line, double retrieval)
{
	return 1 / (1 + exp(-(line.intercept + line.slope * retrieval)));
}

static bool is_judged(const struct judged_query *query, const char *id)
{
	for (size_t i = 0; i < query->judgment_count; i++)
		if (strcmp(query->judgments[i].id, id) == 0)
			return true;
	return false;
}

static struct engine_result find(struct arena *arena, const struct engine_view *view,
                                 const char *text, size_t limit)
{
	const char *cleaned = interest_text_clean(arena, text);
	struct engine_query query = {
		.text = cleaned,
		.length = strlen(cleaned),
		.limit = limit,
		.is_topic = true,
	};
	return engine_search(view, &query, arena);
}

static void add_pair(struct pairs *pairs, struct pair pair)
{
	if ((pairs->count & (pairs->count - 1)) == 0) {
		pairs->items = realloc(pairs->items,
		                       MAX_OF(pairs->count * 2, (size_t)1) * sizeof(*pairs->items));
		require(pairs->items);
	}
	pairs->items[pairs->count++] = pair;
}

/* Add what is found for an interest, of its own collection or not. The pairs of a kind have the
 * total weight 1. */
static void add_interest(struct pairs *pairs, const struct engine_view *view,
                         const struct judged_query *query, bool is_foreign)
{
	struct arena *arena = arena_new();
	struct engine_result found = find(arena, view, query->text, DEPTH);
	size_t counts[KINDS] = {0};
	size_t first = pairs->count;
	for (size_t i = 0; i < found.count; i++) {
		enum kind kind = is_foreign                           ? FOREIGN
		                 : is_judged(query, found.hits[i].id) ? JUDGED
		                                                      : UNJUDGED;
		add_pair(pairs, (struct pair){(double)found.hits[i].relevance, 0, kind});
		counts[kind]++;
	}
	for (size_t i = first; i < pairs->count; i++)
		pairs->items[i].weight = 1 / (double)counts[pairs->items[i].kind];
	pairs->interests += !is_foreign;
	arena_free(arena);
}

/* Give each kind of pair its part of the total weight 1. */
static void balance(struct pairs *pairs)
{
	double sums[KINDS] = {0};
	for (size_t i = 0; i < pairs->count; i++)
		sums[pairs->items[i].kind] += pairs->items[i].weight;
	for (size_t i = 0; i < pairs->count; i++) {
		struct pair *pair = &pairs->items[i];
		pair->weight *= WEIGHTS[pair->kind] / sums[pair->kind];
	}
}

static struct pairs make_pairs(struct judged *const *all, size_t number)
{
	struct pairs pairs = {0};
	struct engine *engine = judged_index(all[number]);
	struct engine_view *view = engine_view_get(engine);
	for (size_t other = 0; other < ARRAY_LEN(collections); other++) {
		bool is_foreign =
			strcmp(collections[other].subject, collections[number].subject) != 0;
		if (other != number && !is_foreign)
			continue;
		for (size_t i = 0; i < all[other]->query_count; i++)
			add_interest(&pairs, view, &all[other]->queries[i], is_foreign);
	}
	balance(&pairs);
	engine_view_put(view);
	engine_free(engine);
	return pairs;
}

/* Gradient and Hessian of the log-likelihood. */
struct sums {
	double gradient[2];
	double hessian[3];
};

static void add_to_sums(struct sums *sums, const struct pairs *pairs, struct line line)
{
	for (size_t i = 0; i < pairs->count; i++) {
		const struct pair *pair = &pairs->items[i];
		double p = probability(line, pair->retrieval);
		double residual = pair->weight * ((pair->kind == JUDGED) - p);
		double variance = pair->weight * p * (1 - p);
		sums->gradient[0] += residual;
		sums->gradient[1] += residual * pair->retrieval;
		sums->hessian[0] += variance;
		sums->hessian[1] += variance * pair->retrieval;
		sums->hessian[2] += variance * pair->retrieval * pair->retrieval;
	}
}

/* Logistic regression by Newton's method. `is_used` says which collections to fit to. */
static struct line fit(const struct pairs *all, const bool *is_used)
{
	struct line line = {0, 0};
	for (int step = 0; step < ITERATIONS; step++) {
		struct sums sums = {0};
		for (size_t c = 0; c < ARRAY_LEN(collections); c++)
			if (is_used[c])
				add_to_sums(&sums, &all[c], line);
		const double *g = sums.gradient, *h = sums.hessian;
		double determinant = h[0] * h[2] - h[1] * h[1];
		line.intercept += (h[2] * g[0] - h[1] * g[1]) / determinant;
		line.slope += (h[0] * g[1] - h[1] * g[0]) / determinant;
	}
	return line;
}

struct bin {
	double weight;
	double predicted;
	double relevant;
};

static void add_to_bin(struct bin *bins, double score, double weight, bool is_relevant)
{
	struct bin *bin = &bins[MIN_OF((size_t)(score * BINS), (size_t)BINS - 1)];
	bin->weight += weight;
	bin->predicted += weight * score;
	bin->relevant += is_relevant ? weight : 0;
}

static double calibration_error(const struct bin *bins)
{
	double error = 0;
	double weight = 0;
	for (int i = 0; i < BINS; i++) {
		error += fabs(bins[i].predicted - bins[i].relevant);
		weight += bins[i].weight;
	}
	return error / weight;
}

static void print_bins(const struct bin *bins)
{
	for (int i = 0; i < BINS; i++) {
		double weight = bins[i].weight;
		if (weight <= 0)
			continue;
		double relevant = bins[i].relevant / weight;
		printf("  %.1f  weight %.3f  score %.2f  relevant %.2f  %.*s\n", i / (double)BINS,
		       weight, bins[i].predicted / weight, relevant, (int)(relevant * BAR_WIDTH),
		       "****************************************");
	}
}

static void fill_bins(struct bin *bins, const struct pairs *pairs, struct line line)
{
	for (size_t i = 0; i < pairs->count; i++)
		add_to_bin(bins, probability(line, pairs->items[i].retrieval),
		           pairs->items[i].weight, pairs->items[i].kind == JUDGED);
}

static double own_error(const struct pairs *all, size_t number)
{
	bool is_used[ARRAY_LEN(collections)] = {false};
	struct bin bins[BINS] = {0};
	is_used[number] = true;
	fill_bins(bins, &all[number], fit(all, is_used));
	return calibration_error(bins);
}

static void print_left_out(const struct pairs *all, size_t number)
{
	bool is_used[ARRAY_LEN(collections)];
	struct bin bins[BINS] = {0};
	for (size_t c = 0; c < ARRAY_LEN(collections); c++)
		is_used[c] = c != number;
	struct line line = fit(all, is_used);
	fill_bins(bins, &all[number], line);
	printf("%s, %zu interests, %zu pairs; intercept %.2f and slope %.2f by the others\n",
	       collections[number].name, all[number].interests, all[number].count, line.intercept,
	       line.slope);
	print_bins(bins);
	printf("  expected calibration error %.3f, own %.3f\n", calibration_error(bins),
	       own_error(all, number));
}

int main(int argc, char **argv)
{
	struct arena *arena = arena_new();
	const char *folder = judged_folder(arena, argc, argv);
	struct judged *judged[ARRAY_LEN(collections)];
	struct pairs pairs[ARRAY_LEN(collections)];
	bool is_used[ARRAY_LEN(collections)];
	for (size_t c = 0; c < ARRAY_LEN(collections); c++) {
		const char *path = arena_printf(arena, "%s/%s", folder, collections[c].name);
		judged[c] = judged_load(arena, path, false);
		is_used[c] = true;
		if (!judged[c]) {
			printf("%s is missing: all four collections are needed\n", path);
			arena_free(arena);
			return 0;
		}
	}
	for (size_t c = 0; c < ARRAY_LEN(collections); c++)
		pairs[c] = make_pairs(judged, c);
	for (size_t c = 0; c < ARRAY_LEN(collections); c++)
		print_left_out(pairs, c);
	struct line line = fit(pairs, is_used);
	printf("all four: intercept %.2f, slope %.2f\n", line.intercept, line.slope);
	for (size_t c = 0; c < ARRAY_LEN(collections); c++)
		free(pairs[c].items);
	arena_free(arena);
	return 0;
}
