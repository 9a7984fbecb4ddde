/* Quality and speed of the search engine on the collections in `../shared/data` (or the given
 * folder), compared with other engines, which were measured on a machine with 2 cores:
 *
 *     build/tests/bench/search_quality [data folder]
 *
 * arxiv-cs is indexed without titles, because its queries are titles. */
#include "engine/engine.h"
#include "search/judged.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* Results that are evaluated. */
#define DEPTH 100

/* Words of the shortest and longest query of the latency measurement. */
#define MIN_WORDS 2
#define MAX_WORDS 6

struct anchor {
	const char *collection;
	double lucene;        /* Lucene 8.7, BM25, k1 1.2, b 0.75: nDCG@10 */
	double lucene_recall; /* Recall@100 */
	double best;          /* the best known without a neural model */
};

static const struct anchor anchors[] = {
	{"cranfield", .359, .731, .401}, {"cisi", .384, .447, .410},     {"cacm", .487, .656, .494},
	{"lisa", .451, .691, .471},      {"arxiv-cs", .939, .994, .939},
};

static double now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static struct engine *make_engine(const struct judged *judged, double *ret_seconds)
{
	double start = now_s();
	struct engine *engine = judged_index(judged);
	*ret_seconds = now_s() - start;
	return engine;
}

static size_t search(const struct engine_view *view, const char *text, size_t length, size_t limit,
                     struct arena *arena, const char **ids)
{
	struct engine_query query = {.text = text, .length = length, .limit = limit};
	struct engine_result result = engine_search(view, &query, arena);
	for (size_t i = 0; i < result.count; i++)
		ids[i] = result.hits[i].id;
	return result.count;
}

static void print_quality(const struct judged *judged, const struct engine_view *view,
                          const struct anchor *anchor)
{
	double ndcg = 0;
	double recall = 0;
	for (size_t i = 0; i < judged->query_count; i++) {
		const struct judged_query *query = &judged->queries[i];
		struct arena *arena = arena_new();
		const char *ids[DEPTH];
		size_t count = search(view, query->text, strlen(query->text), DEPTH, arena, ids);
		ndcg += judged_ndcg10(query, ids, count);
		recall += judged_recall100(query, ids, count);
		arena_free(arena);
	}
	printf("%-10s %7zu %8.3f %8.3f %10.3f %8.3f %12.3f\n", anchor->collection,
	       judged->document_count, ndcg / (double)judged->query_count,
	       recall / (double)judged->query_count, anchor->lucene, anchor->lucene_recall,
	       anchor->best);
}

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a;
	double right = *(const double *)b;
	return (left > right) - (left < right);
}

/* Bytes of the first MIN_WORDS to MAX_WORDS words of a text; `number` chooses how many words. */
static size_t short_query(const char *text, size_t number)
{
	size_t words = MIN_WORDS + number % (MAX_WORDS - MIN_WORDS + 1);
	size_t at = 0;
	while (text[at] != '\0' && words > 0) {
		at += strcspn(text + at, " ");
		words--;
		if (words > 0)
			at += strspn(text + at, " ");
	}
	return at;
}

static void print_latency(const struct judged *judged, const struct engine_view *view)
{
	double *seconds = malloc(judged->query_count * sizeof(double));
	require(seconds);
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < judged->query_count; i++) {
			const char *text = judged->queries[i].text;
			struct arena *arena = arena_new();
			double start = now_s();
			const char *ids[10];
			search(view, text, short_query(text, i), 10, arena, ids);
			seconds[i] = now_s() - start;
			arena_free(arena);
		}
	}
	qsort(seconds, judged->query_count, sizeof(double), compare_doubles);
	printf("%-10s latency of %d to %d words, top 10: p50 %.2f ms, p99 %.2f ms\n", "", MIN_WORDS,
	       MAX_WORDS, seconds[judged->query_count / 2] * 1e3,
	       seconds[judged->query_count * 99 / 100] * 1e3);
	free(seconds);
}

static void measure(const char *folder, const struct anchor *anchor)
{
	struct arena *arena = arena_new();
	bool drops_titles = strcmp(anchor->collection, "arxiv-cs") == 0;
	struct judged *judged =
		judged_load(arena, arena_printf(arena, "%s/%s", folder, anchor->collection),
	                    drops_titles);
	if (!judged) {
		printf("%-10s missing in %s\n", anchor->collection, folder);
		arena_free(arena);
		return;
	}
	double seconds;
	struct engine *engine = make_engine(judged, &seconds);
	struct engine_view *view = engine_view_get(engine);
	print_quality(judged, view, anchor);
	struct rusage usage;
	if (drops_titles) {
		print_latency(judged, view);
		getrusage(RUSAGE_SELF, &usage);
		printf("%-10s built in %.1f s, %.0f MB; peak memory of the process %.0f MB\n", "",
		       seconds, (double)engine_view_bytes(view) / 1e6,
		       (double)usage.ru_maxrss / 1e3);
	}
	engine_view_put(view);
	engine_free(engine);
	arena_free(arena);
}

int main(int argc, char **argv)
{
	struct arena *arena = arena_new();
	const char *folder = judged_folder(arena, argc, argv);
	printf("%-10s %7s %8s %8s %10s %8s %12s\n", "", "papers", "nDCG@10", "Rec@100", "Lucene",
	       "Rec@100", "best known");
	for (size_t i = 0; i < ARRAY_LEN(anchors); i++)
		measure(folder, &anchors[i]);
	arena_free(arena);
	return 0;
}
