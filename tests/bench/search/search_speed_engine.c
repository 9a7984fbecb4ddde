/* This engine's half of search_speed.py: FOLDER words indexes FOLDER/papers.tsv and saves the
 * index there, without an embedder, as words.index; words2 does so with two threads. FOLDER hybrid
 * trains an embedder on the papers of words.index and saves the index with it as hybrid.index.
 * FOLDER serve answers each line of its input, a name of COMMANDS, by a line of JSON. */
#include "cpu_time.h"
#include "engine/engine.h"
#include "engine/text/mem.h"
#include "engine/vector/embedder.h"
#include "engine/vector/sample.h"
#include "engine/vector/training.h"

#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

/* Papers of a page, as the indexer reads them from Postgres when it is behind. */
#define PAGE 4000

#define MAX_CATEGORIES 16
#define QUERIES        1000
#define RESULTS        10

static const char *folder;

static double now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static const char *path_of(char *path, size_t size, const char *name)
{
	snprintf(path, size, "%s/%s", folder, name);
	return path;
}

static FILE *open_file(const char *name)
{
	char path[4096];
	FILE *file = fopen(path_of(path, sizeof(path), name), "r");
	require(file);
	return file;
}

/* --- words ------------------------------------------------------------------------------------ */

/* A page of papers; the lines that they are in belong to the arena. */
struct page {
	struct arena *arena;
	struct engine_change changes[PAGE];
	size_t count;
};

static struct document read_paper(struct arena *arena, char *line, uint64_t number)
{
	struct document document = {.seq = number};
	const char **categories = arena_array(arena, MAX_CATEGORIES, sizeof(*categories));
	document.id = strsep(&line, "\t");
	document.title = strsep(&line, "\t");
	document.abstract = strsep(&line, "\t");
	char *names = strsep(&line, "\t");
	require(line);
	document.published = (int32_t)strtol(line, NULL, 10);
	document.categories = categories;
	for (char *name; document.category_count < MAX_CATEGORIES && (name = strsep(&names, " "));)
		categories[document.category_count++] = name;
	return document;
}

static void read_page(FILE *papers, struct page *page, uint64_t before)
{
	char *line = NULL;
	size_t room = 0;
	page->arena = arena_new();
	for (page->count = 0; page->count < PAGE && getline(&line, &room, papers) > 0;
	     page->count++)
		page->changes[page->count] = (struct engine_change){
			.document = read_paper(page->arena, arena_strdup(page->arena, line),
		                               before + page->count + 1)};
	free(line);
}

static void merge(struct engine *engine, enum engine_merge_kind kind)
{
	struct engine_merge *merge = engine_merge_new(engine, kind);
	engine_merge_run(merge);
	engine_merge_commit(engine, merge);
}

/* Returns the CPU time that the merges took. */
static double add_papers(struct engine *engine)
{
	static struct page page;
	FILE *papers = open_file("papers.tsv");
	double merging = 0;
	for (uint64_t count = 0;; count += page.count) {
		read_page(papers, &page, count);
		engine_apply(engine, page.changes, page.count, count + page.count);
		arena_free(page.arena);
		double began = cpu_seconds();
		while (engine_is_merge_due(engine, ENGINE_MERGE_DUE))
			merge(engine, ENGINE_MERGE_DUE);
		merging += cpu_seconds() - began;
		if (page.count < PAGE)
			break;
	}
	fclose(papers);
	return merging;
}

static void save(struct engine *engine, const char *name)
{
	char path[4096];
	struct engine_view *view = engine_view_get(engine);
	require(engine_save(view, path_of(path, sizeof(path), name)));
	engine_view_put(view);
}

/* CPU time since the last call, of all threads. */
static double phase_s(void)
{
	static double before;
	double now = cpu_seconds();
	double phase = now - before;
	before = now;
	return phase;
}

static double index_mb(struct engine *engine)
{
	struct engine_view *view = engine_view_get(engine);
	double bytes = (double)engine_view_bytes(view);
	engine_view_put(view);
	return bytes / 1e6;
}

static void index_words(int threads)
{
	struct engine *engine = engine_new(NULL);
	engine_set_threads(engine, threads);
	engine_set_folder(engine, folder);
	double merging = add_papers(engine);
	double adding = phase_s() - merging;
	merge(engine, ENGINE_MERGE_ALL);
	double last = phase_s();
	save(engine, "words.index");
	double saving = phase_s();
	printf("{\"index_mb\": %.1f, \"phases\": {\"words\": %.1f, \"merges meanwhile\": %.1f, "
	       "\"last merge\": %.1f, \"saving\": %.1f}}\n",
	       index_mb(engine), adding, merging, last, saving);
	engine_free(engine);
}

/* --- hybrid ----------------------------------------------------------------------------------- */

static struct engine *restore(const char *name)
{
	char path[4096];
	struct engine *engine = engine_new(NULL);
	require(engine_restore(engine, path_of(path, sizeof(path), name)));
	return engine;
}

static void adopt(struct engine *engine, struct embedder *embedder)
{
	struct engine_adoption *adoption = engine_adoption_new(engine, embedder);
	engine_adoption_run(adoption, NULL);
	engine_adoption_commit(engine, adoption);
}

static struct embedder *train(struct engine *engine)
{
	struct engine_view *view = engine_view_get(engine);
	struct sample *sample = engine_sample(view);
	struct embedder *embedder = training_run(sample, NULL);
	sample_free(sample);
	engine_view_put(view);
	require(embedder);
	return embedder;
}

static void index_hybrid(void)
{
	struct engine *engine = restore("words.index");
	double restoring = phase_s();
	struct embedder *embedder = train(engine);
	double training = phase_s();
	adopt(engine, embedder);
	double vectors = phase_s();
	save(engine, "hybrid.index");
	double saving = phase_s();
	printf("{\"index_mb\": %.1f, \"phases\": {\"restoring\": %.1f, \"training\": %.1f, "
	       "\"vectors\": %.1f, \"saving\": %.1f}}\n",
	       index_mb(engine), restoring, training, vectors, saving);
	engine_free(engine);
}

/* --- serve ------------------------------------------------------------------------------------ */

static char *queries[QUERIES];
static struct engine *words; /* without an embedder; restored when it is asked for */
static struct engine *hybrid;
static bool explains; /* the searches */

static void read_queries(void)
{
	FILE *file = open_file("queries.txt");
	for (size_t i = 0; i < QUERIES; i++) {
		size_t room = 0;
		ssize_t length = getline(&queries[i], &room, file);
		require(length > 0);
		queries[i][length - 1] = '\0';
	}
	fclose(file);
}

static struct engine_result search(const struct engine_view *view, size_t query,
                                   struct arena *arena)
{
	struct engine_query input = {.text = queries[query],
	                             .length = strlen(queries[query]),
	                             .limit = RESULTS,
	                             .explains = explains};
	return engine_search(view, &input, arena);
}

static double search_timed(struct engine *engine, size_t query)
{
	double began = now_s();
	struct arena *arena = arena_new();
	struct engine_view *view = engine_view_get(engine);
	search(view, query, arena);
	engine_view_put(view);
	arena_free(arena);
	return now_s() - began;
}

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a;
	double right = *(const double *)b;
	return (left > right) - (left < right);
}

static void show_round(struct engine *engine)
{
	double seconds[QUERIES];
	double cpu = cpu_seconds();
	for (size_t i = 0; i < QUERIES; i++)
		seconds[i] = search_timed(engine, i);
	cpu = cpu_seconds() - cpu;
	qsort(seconds, QUERIES, sizeof(double), compare_doubles);
	printf("{\"p50_ms\": %.4f, \"p99_ms\": %.4f, \"cpu_ms\": %.4f}\n",
	       seconds[QUERIES / 2] * 1e3, seconds[QUERIES * 99 / 100] * 1e3, cpu * 1e3 / QUERIES);
}

static void run_lexical(void)
{
	if (!words)
		words = restore("words.index");
	show_round(words);
}

static void run_hybrid(void)
{
	show_round(hybrid);
}

/* As run_hybrid(), with the explanation of each hit. */
static void run_explained(void)
{
	explains = true;
	show_round(hybrid);
	explains = false;
}

/* One query a line, as a string in JSON: ids and relevances of its best papers, by words and then
 * by both. */
static void run_hits(void)
{
	if (!words)
		words = restore("words.index");
	struct engine *engines[] = {words, hybrid};
	printf("{\"hits\": \"");
	for (size_t i = 0; i < 2 * QUERIES; i++) {
		struct arena *arena = arena_new();
		struct engine_view *view = engine_view_get(engines[i / QUERIES]);
		struct engine_result result = search(view, i % QUERIES, arena);
		for (size_t hit = 0; hit < result.count; hit++)
			printf("%s %.6f ", result.hits[hit].id, (double)result.hits[hit].relevance);
		printf("\\n");
		engine_view_put(view);
		arena_free(arena);
	}
	printf("\"}\n");
}

static atomic_bool is_merged;

/* On the processors that the searches do not use. */
static void *merge_all(void *arg)
{
	double *ret_seconds = arg;
	double began = now_s();
	cpu_set_t own;
	cpu_set_t others;
	CPU_ZERO(&others);
	sched_getaffinity(0, sizeof(own), &own);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (!CPU_ISSET(cpu, &own))
			CPU_SET(cpu, &others);
	sched_setaffinity(0, sizeof(others), &others);
	merge(hybrid, ENGINE_MERGE_ALL);
	*ret_seconds = now_s() - began;
	malloc_trim(0);
	is_merged = true;
	return NULL;
}

/* The 99th percentile of at least QUERIES searches; with `until` until it is true. */
static double measure_p99(const atomic_bool *until)
{
	struct {
		double *items;
		size_t count;
		size_t capacity;
	} seconds = {0};
	while (seconds.count < QUERIES || (until && !*until)) {
		if (seconds.count == seconds.capacity) {
			seconds.capacity = mem_capacity(seconds.capacity, QUERIES);
			seconds.items = mem_resize(seconds.items, seconds.capacity, sizeof(double));
		}
		seconds.items[seconds.count] = search_timed(hybrid, seconds.count % QUERIES);
		seconds.count++;
	}
	qsort(seconds.items, seconds.count, sizeof(double), compare_doubles);
	double p99 = seconds.items[seconds.count * 99 / 100];
	free(seconds.items);
	return p99;
}

static void run_merge(void)
{
	pthread_t thread;
	double merge_s;
	double quiet = measure_p99(NULL);
	is_merged = false;
	require(pthread_create(&thread, NULL, merge_all, &merge_s) == 0);
	double merging = measure_p99(&is_merged);
	pthread_join(thread, NULL);
	printf("{\"quiet_p99_ms\": %.4f, \"merging_p99_ms\": %.4f, \"merge_s\": %.2f}\n",
	       quiet * 1e3, merging * 1e3, merge_s);
}

static const struct {
	const char *name;
	void (*run)(void);
} COMMANDS[] = {
	{"lexical", run_lexical}, {"hybrid", run_hybrid}, {"explained", run_explained},
	{"hits", run_hits},       {"merge", run_merge},
};

static void serve(void)
{
	char line[64];
	read_queries();
	hybrid = restore("hybrid.index");
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		for (size_t i = 0; i < ARRAY_LEN(COMMANDS); i++)
			if (strcmp(line, COMMANDS[i].name) == 0)
				COMMANDS[i].run();
		fflush(stdout);
	}
	engine_free(words);
	engine_free(hybrid);
	for (size_t i = 0; i < QUERIES; i++)
		free(queries[i]);
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: search_speed_engine FOLDER words|words2|hybrid|serve\n");
		return 2;
	}
	folder = argv[1];
	if (strcmp(argv[2], "words") == 0)
		index_words(1);
	else if (strcmp(argv[2], "words2") == 0)
		index_words(2);
	else if (strcmp(argv[2], "hybrid") == 0)
		index_hybrid();
	else
		serve();
	return 0;
}
