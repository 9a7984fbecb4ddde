#include "api/shown_papers.h"

#include "asset.sql.h"
#include "base/base.h"
#include "cache/block_cache.h"
#include "indexing/indexer.h"
#include "json/json.h"
#include "loop/periodic.h"
#include "observe/metrics.h"
#include "pg/pg.h"
#include "state.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BATCH           100
#define PAUSE_MS        100 /* between two batches, so that others have Postgres meanwhile */
#define POLL_MS         2000
#define PASS_TIMEOUT_MS 60000
#define LEAST_BYTES     1500 /* of a paper: so many of the newest are read as fit at most */

static int64_t memory_bytes;

const struct setting SHOWN_PAPERS_SETTINGS[] = {
	SETTING_MEMORY(&memory_bytes, "SHOWN_PAPER_CACHE", "128MiB", 1 << 20, INT64_C(1) << 40, 1,
                       "Memory for papers as searches show them, some 2 KiB each; a search that "
                       "shows others reads them from Postgres."),
	SETTING_END,
};

METRIC_COUNTER(shown_total, "expops_search_papers_shown_total",
               "Papers that searches have shown, by where they were: memory or postgres.",
               "source");

METRIC_GAUGE(kept_bytes, "expops_search_papers_kept_bytes",
             "Memory of the papers that are kept as searches show them.");

/* A block of the cache. */
struct kept_paper {
	uint64_t
		seq; /* of the state that the index had before the paper was read, or a later one */
	size_t length;
	char json[];
};

struct shown_papers {
	const struct indexer *indexer;
	pthread_mutex_t lock; /* of the cache */
	struct block_cache *cache;
	/* Of the background: */
	struct periodic *periodic;
	int64_t change; /* papers that changed up to this one are kept, or are too many */
};

struct shown_papers *shown_papers_new(const struct indexer *indexer)
{
	struct shown_papers *papers = calloc(1, sizeof(*papers));
	require(papers);
	papers->indexer = indexer;
	papers->cache = block_cache_new((size_t)memory_bytes);
	pthread_mutex_init(&papers->lock, NULL);
	return papers;
}

void shown_papers_free(struct shown_papers *papers)
{
	block_cache_free(papers->cache);
	pthread_mutex_destroy(&papers->lock);
	free(papers);
}

/* --- The cache -------------------------------------------------------------------------------- */

/* Keep a paper, unless it is there as it was later. */
static void keep(struct shown_papers *papers, const char *id, uint64_t seq, const char *json)
{
	size_t length = strlen(json);
	pthread_mutex_lock(&papers->lock);
	const struct kept_paper *former = block_cache_find(papers->cache, id);
	if (!former || former->seq <= seq) {
		struct kept_paper *kept =
			block_cache_add(papers->cache, id, sizeof(*kept) + length + 1);
		*kept = (struct kept_paper){.seq = seq, .length = length};
		memcpy(kept->json, json, length + 1);
	}
	pthread_mutex_unlock(&papers->lock);
}

/* Copy what is there of the hits' papers to `shown`, and return how many that are. */
static size_t take(struct shown_papers *papers, struct arena *arena, const struct engine_hit *hits,
                   size_t count, const char **shown)
{
	size_t taken = 0;
	pthread_mutex_lock(&papers->lock);
	for (size_t i = 0; i < count; i++) {
		const struct kept_paper *kept = block_cache_find(papers->cache, hits[i].id);
		if (!kept || kept->seq != hits[i].seq)
			continue;
		block_cache_use(papers->cache, kept);
		shown[i] = arena_strndup(arena, kept->json, kept->length);
		taken++;
	}
	pthread_mutex_unlock(&papers->lock);
	return taken;
}

static size_t bytes_kept(struct shown_papers *papers)
{
	pthread_mutex_lock(&papers->lock);
	size_t bytes = block_cache_bytes(papers->cache);
	pthread_mutex_unlock(&papers->lock);
	return bytes;
}

/* --- For searches ----------------------------------------------------------------------------- */

/* Read the papers that `shown` lacks. */
static void read_others(struct request *rq, struct shown_papers *papers,
                        const struct engine_hit *hits, size_t count, const char **shown)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *ids = yyjson_mut_arr(doc);
	for (size_t i = 0; i < count; i++) {
		if (!shown[i])
			yyjson_mut_arr_add_str(doc, ids, hits[i].id);
	}
	const struct pg_rows *rows =
		pg_query(rq, ASSET_SHOWN_SQL, pg_text(json_write_mut(rq->arena, ids, NULL)));
	size_t at = 0;
	for (int row = 0; row < rows->count; row++) {
		while (strcmp(hits[at].id, pg_get(rows, row, "arxiv_id")) != 0)
			at++;
		shown[at] = pg_get(rows, row, "asset");
		keep(papers, hits[at].id, hits[at].seq, shown[at]);
	}
	metric_add(&shown_total, "postgres", NULL, (uint64_t)rows->count);
}

const char **shown_papers_of(struct request *rq, const struct engine_hit *hits, size_t count)
{
	struct shown_papers *papers = request_shown_papers(rq);
	const char **shown = arena_array(rq->arena, count + 1, sizeof(*shown));
	size_t taken = take(papers, rq->arena, hits, count, shown);
	metric_add(&shown_total, "memory", NULL, taken);
	if (taken < count)
		read_others(rq, papers, hits, count, shown);
	return shown;
}

/* --- In the background ------------------------------------------------------------------------ */

static void view_put(void *view)
{
	engine_view_put(view);
}

/* The change after which the papers that changed last up to `newest` fit into memory. */
static int64_t fitting_after(struct request *rq, int64_t newest)
{
	return pg_value_int(pg_query(rq, ASSET_SHOWN_BEGIN_SQL, pg_int(newest),
	                             pg_int(memory_bytes / LEAST_BYTES)),
	                    0);
}

/* Read the next papers that have changed, and that the index knows; whether there may be more. */
static bool read_changed(struct request *rq, struct shown_papers *papers)
{
	struct engine_view *view = indexer_view(papers->indexer);
	arena_on_free(rq->arena, view_put, view);
	int64_t newest = (int64_t)engine_view_seq(view);
	if (newest == papers->change || !indexer_state(papers->indexer).is_caught_up)
		return false;
	if (newest - papers->change > memory_bytes / LEAST_BYTES)
		papers->change = MAX_OF(papers->change, fitting_after(rq, newest));
	const struct pg_rows *rows = pg_query(rq, ASSET_SHOWN_CHANGED_SQL, pg_int(papers->change),
	                                      pg_int(newest), pg_int(BATCH));
	for (int row = 0; row < rows->count; row++) {
		const char *id = pg_get(rows, row, "arxiv_id");
		uint64_t seq;
		if (engine_find(view, id, &seq))
			keep(papers, id, seq, pg_get(rows, row, "asset"));
	}
	bool is_more = rows->count == BATCH;
	papers->change = is_more ? pg_get_int(rows, BATCH - 1, "change") : newest;
	return is_more;
}

static void pass(struct request *rq)
{
	struct shown_papers *papers = periodic_user(rq);
	const struct process *process = rq->worker->process;
	metric_set(&kept_bytes, NULL, NULL, (double)bytes_kept(papers));
	if (process->is_migrated && !process->is_draining && read_changed(rq, papers))
		periodic_wake_in(papers->periodic, PAUSE_MS);
}

void shown_papers_start(struct shown_papers *papers, struct worker *worker)
{
	papers->periodic =
		periodic_new(worker, "keep-papers", pass, papers, POLL_MS, PASS_TIMEOUT_MS);
	periodic_wake(papers->periodic);
}

void shown_papers_stop(struct shown_papers *papers)
{
	periodic_stop(papers->periodic);
	periodic_free(papers->periodic);
	papers->periodic = NULL;
}
