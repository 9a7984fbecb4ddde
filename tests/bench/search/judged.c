#include "search/judged.h"

#include "engine/vector/sample.h"
#include "engine/vector/training.h"

#include <yyjson.h>
#include <zlib.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Maximum bytes of a line. */
#define LINE_MAX_BYTES (1 << 20)

/* Ranks that are evaluated. */
#define NDCG_DEPTH   10
#define RECALL_DEPTH 100

typedef void line_cb(struct arena *arena, struct judged *judged, char *line, void *ctx);

static void fail(const char *path, const char *why)
{
	fprintf(stderr, "%s: %s\n", path, why);
	exit(1);
}

const char *judged_folder(struct arena *arena, int argc, char **argv)
{
	const char *root = getenv("SOURCE_ROOT");
	if (argc > 1)
		return argv[1];
	return arena_printf(arena, "%s/../shared/data", root ? root : ".");
}

/* Call `cb` for each line; zlib reads plain files too. */
static void each_line(struct arena *arena, struct judged *judged, const char *path, line_cb *cb,
                      void *ctx)
{
	gzFile file = gzopen(path, "rb");
	char *line = malloc(LINE_MAX_BYTES);
	if (!file || !line)
		fail(path, "cannot be read");
	while (gzgets(file, line, LINE_MAX_BYTES))
		cb(arena, judged, line, ctx);
	gzclose(file);
	free(line);
}

static const char *text_of(struct arena *arena, yyjson_val *object, const char *name)
{
	const char *text = yyjson_get_str(yyjson_obj_get(object, name));
	return arena_strdup(arena, text ? text : "");
}

/* Approximate days since 1970 of a date such as "2026-01-31"; 0 when there is none. */
static int days_of(const char *date)
{
	int year = 0;
	int month = 0;
	int day = 0;
	if (sscanf(date, "%d-%d-%d", &year, &month, &day) < 1)
		return 0;
	return (year - 1970) * 365 + month * 30 + day;
}

/* The texts of an array. */
static const char *const *texts_of(struct arena *arena, yyjson_val *array)
{
	const char **texts = arena_array(arena, yyjson_arr_size(array) + 1, sizeof(char *));
	size_t i;
	size_t max;
	yyjson_val *text;
	yyjson_arr_foreach (array, i, max, text)
		texts[i] = arena_strdup(arena, yyjson_get_str(text));
	return texts;
}

static void *grown(void *items, size_t count, size_t size)
{
	if ((count & (count - 1)) != 0)
		return items;
	items = realloc(items, (count > 0 ? count * 2 : 1) * size);
	require(items);
	return items;
}

static void add_document(struct arena *arena, struct judged *judged, char *line, void *ctx)
{
	yyjson_doc *json = yyjson_read(line, strlen(line), 0);
	yyjson_val *root = yyjson_doc_get_root(json);
	yyjson_val *categories = yyjson_obj_get(root, "categories");
	yyjson_val *authors = yyjson_obj_get(root, "authors");
	const bool *drops_titles = ctx;
	struct document *document;
	judged->documents = grown(judged->documents, judged->document_count, sizeof(*document));
	document = &judged->documents[judged->document_count++];
	*document = (struct document){
		.id = text_of(arena, root, "_id"),
		.title = *drops_titles ? "" : text_of(arena, root, "title"),
		.abstract = text_of(arena, root, "text"),
		.categories = texts_of(arena, categories),
		.category_count = yyjson_arr_size(categories),
		.authors = texts_of(arena, authors),
		.author_count = yyjson_arr_size(authors),
		.published = days_of(text_of(arena, root, "published_at")),
		.seq = judged->document_count,
	};
	yyjson_doc_free(json);
}

static void add_query(struct arena *arena, struct judged *judged, char *line, void *ctx)
{
	yyjson_doc *json = yyjson_read(line, strlen(line), 0);
	yyjson_val *root = yyjson_doc_get_root(json);
	(void)ctx;
	judged->queries = grown(judged->queries, judged->query_count, sizeof(*judged->queries));
	judged->queries[judged->query_count++] =
		(struct judged_query){.id = text_of(arena, root, "_id"),
	                              .text = text_of(arena, root, "text")};
	yyjson_doc_free(json);
}

static void add_judgment(struct arena *arena, struct judged *judged, char *line, void *ctx)
{
	char *rest = line;
	const char *query_id = strsep(&rest, "\t");
	const char *id = rest ? strsep(&rest, "\t") : NULL;
	int gain = rest ? (int)strtol(rest, NULL, 10) : 0;
	(void)ctx;
	for (size_t i = 0; gain > 0 && i < judged->query_count; i++) {
		struct judged_query *query = &judged->queries[i];
		if (strcmp(query->id, query_id) != 0)
			continue;
		query->judgments =
			grown(query->judgments, query->judgment_count, sizeof(struct judgment));
		query->judgments[query->judgment_count++] =
			(struct judgment){arena_strdup(arena, id), gain};
	}
}

/* Let the arena own the realloc()ed arrays, and drop queries without judgments. */
static void finish(struct arena *arena, struct judged *judged)
{
	size_t kept = 0;
	arena_on_free(arena, free, judged->documents);
	arena_on_free(arena, free, judged->queries);
	for (size_t i = 0; i < judged->query_count; i++) {
		arena_on_free(arena, free, judged->queries[i].judgments);
		if (judged->queries[i].judgment_count > 0)
			judged->queries[kept++] = judged->queries[i];
	}
	judged->query_count = kept;
}

struct judged *judged_load(struct arena *arena, const char *path, bool drops_titles)
{
	struct judged *judged = arena_new_of(arena, struct judged);
	if (access(path, R_OK) != 0)
		return NULL;
	each_line(arena, judged, arena_printf(arena, "%s/corpus.jsonl.gz", path), add_document,
	          &drops_titles);
	each_line(arena, judged, arena_printf(arena, "%s/queries.jsonl", path), add_query, NULL);
	each_line(arena, judged, arena_printf(arena, "%s/qrels.tsv", path), add_judgment, NULL);
	finish(arena, judged);
	return judged;
}

struct judged *judged_load_papers(struct arena *arena, const char *path)
{
	struct judged *judged = arena_new_of(arena, struct judged);
	bool drops_titles = false;
	if (access(path, R_OK) != 0)
		return NULL;
	each_line(arena, judged, arena_printf(arena, "%s/corpus.jsonl.gz", path), add_document,
	          &drops_titles);
	finish(arena, judged);
	return judged;
}

static int gain_of(const struct judged_query *query, const char *id)
{
	for (size_t i = 0; i < query->judgment_count; i++)
		if (strcmp(query->judgments[i].id, id) == 0)
			return query->judgments[i].gain;
	return 0;
}

static int compare_gains(const void *a, const void *b)
{
	return *(const int *)b - *(const int *)a;
}

double judged_ndcg10(const struct judged_query *query, const char *const *ids, size_t count)
{
	int *gains = malloc(query->judgment_count * sizeof(int));
	double best = 0;
	double got = 0;
	require(gains);
	for (size_t i = 0; i < query->judgment_count; i++)
		gains[i] = query->judgments[i].gain;
	qsort(gains, query->judgment_count, sizeof(int), compare_gains);
	for (size_t i = 0; i < query->judgment_count && i < NDCG_DEPTH; i++)
		best += gains[i] / log2((double)i + 2);
	for (size_t i = 0; i < count && i < NDCG_DEPTH; i++)
		got += gain_of(query, ids[i]) / log2((double)i + 2);
	free(gains);
	return got / best;
}

double judged_recall100(const struct judged_query *query, const char *const *ids, size_t count)
{
	size_t found = 0;
	for (size_t i = 0; i < count && i < RECALL_DEPTH; i++)
		found += gain_of(query, ids[i]) > 0;
	return (double)found / (double)query->judgment_count;
}

static void train(struct engine *engine)
{
	struct engine_view *view = engine_view_get(engine);
	struct sample *sample = engine_sample(view);
	struct embedder *embedder = training_run(sample, NULL);
	sample_free(sample);
	engine_view_put(view);
	if (!embedder)
		return;
	struct engine_adoption *adoption = engine_adoption_new(engine, embedder);
	engine_adoption_run(adoption, NULL);
	engine_adoption_commit(engine, adoption);
}

/* Changes of one page. */
#define PAGE 1000

struct engine *judged_index(const struct judged *judged)
{
	static struct engine_change changes[PAGE];
	struct engine *engine = engine_new(NULL);
	for (size_t at = 0; at < judged->document_count; at += PAGE) {
		size_t count = MIN_OF(judged->document_count - at, (size_t)PAGE);
		for (size_t i = 0; i < count; i++)
			changes[i] = (struct engine_change){.document = judged->documents[at + i]};
		engine_apply(engine, changes, count, at + count);
	}
	struct engine_merge *merge = engine_merge_new(engine, ENGINE_MERGE_ALL);
	engine_merge_run(merge);
	engine_merge_commit(engine, merge);
	train(engine);
	return engine;
}
