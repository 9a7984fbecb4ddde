#include "pool/papers.h"

#include "base/timefmt.h"
#include "json/json.h"
#include "loop/wait.h"
#include "paper/paper_cache.h"
#include "papers.sql.h"
#include "pg/pg.h"

#include <stdlib.h>
#include <string.h>

static int64_t cache_bytes;
int64_t papers_age_ms = INT64_C(10) * 60 * 1000;

const struct setting PAPERS_SETTINGS[] = {
	SETTING_MEMORY(&cache_bytes, "PAPER_CACHE", "256MiB", 1 << 20, INT64_C(1) << 40, 1,
                       "Memory of the papers that refreshes use, about 6 KB each; it is free at "
                       "rest."),
	SETTING_END,
};

/* The frequencies of one background. */
struct frequencies {
	struct arena *arena;
	const char *drawn_at;
	const struct frequency_table *table; /* NULL: damaged */
	unsigned references;                 /* that of the memory and those of the holders */
};

/* What the background worker keeps. */
struct memory {
	struct block_cache *papers;
	struct frequencies *frequencies; /* NULL: not read yet */
};

static struct memory *memory_of(const struct request *rq)
{
	return rq->worker->user;
}

/* --- Document frequencies --------------------------------------------------------------------- */

static void frequencies_release(void *arg)
{
	struct frequencies *frequencies = arg;
	if (!frequencies || --frequencies->references > 0)
		return;
	arena_free(frequencies->arena);
	free(frequencies);
}

static struct frequencies *frequencies_read(struct request *rq)
{
	struct pg_rows *rows = pg_query(rq, PAPERS_FREQUENCIES_SQL);
	if (pg_empty(rows))
		return NULL;
	struct reader in = {0};
	in.data = pg_get_bytes(rq->arena, rows, 0, "frequencies", &in.length);
	struct frequencies *made = calloc(1, sizeof(*made));
	require(made);
	made->arena = arena_new();
	made->drawn_at = arena_strdup(made->arena, pg_get(rows, 0, "drawn_at"));
	made->table = frequency_read(made->arena, &in);
	made->references = 1;
	return made;
}

/* The features of the papers in memory are those of the frequencies before. */
static void frequencies_replace(struct memory *memory, struct frequencies *made)
{
	block_cache_empty(memory->papers);
	frequencies_release(memory->frequencies);
	memory->frequencies = made;
}

const struct frequency_table *papers_frequencies(struct request *rq, const char *drawn_at)
{
	struct memory *memory = memory_of(rq);
	if (!drawn_at)
		return NULL;
	if (!memory->frequencies || strcmp(memory->frequencies->drawn_at, drawn_at) != 0)
		frequencies_replace(memory, frequencies_read(rq));
	if (!memory->frequencies)
		return NULL;
	memory->frequencies->references++;
	arena_on_free(rq->arena, frequencies_release, memory->frequencies);
	return memory->frequencies->table;
}

/* --- Papers ----------------------------------------------------------------------------------- */

/* Reading papers on the thread pool. */
struct reading {
	struct arena *arena;
	const char *json;
	const struct frequency_table *frequencies; /* NULL: no features */
	struct paper_list papers;                  /* with bags */
};

/* Whether the frequencies are those in memory, and so those of the features in memory. */
static bool is_current(const struct memory *memory, const struct frequency_table *frequencies)
{
	return frequencies && memory->frequencies && memory->frequencies->table == frequencies;
}

static void drop_features(struct paper *paper)
{
	paper->features = NULL;
	paper->weighed_by = NULL;
}

static void read_on_thread(void *arg)
{
	struct reading *reading = arg;
	reading->papers = papers_read(reading->arena, reading->json, 0);
	papers_make_bags(reading->arena, word_splitter_new(reading->arena), reading->papers);
	if (reading->frequencies)
		papers_make_features(reading->arena, reading->frequencies, reading->papers);
}

/* Read papers from Postgres, in the order of their ids, and add them to the cache. */
static struct paper_list read_missing(struct request *rq, const struct paper_form *form,
                                      const char *ids)
{
	struct pg_rows *rows = pg_query(rq, PAPERS_LOAD_SQL, pg_text(ids), pg_text(form->embedder));
	struct reading *reading = arena_new_of(rq->arena, struct reading);
	*reading = (struct reading){.arena = offload_arena(rq),
	                            .json = pg_json(rows),
	                            .frequencies = form->frequencies};
	fiber_offload(rq, LANE_LONG, read_on_thread, reading);
	struct memory *memory = memory_of(rq);
	for (size_t i = 0; i < reading->papers.count; i++) {
		struct paper *paper = &reading->papers.papers[i];
		if (!is_current(memory, paper->weighed_by)) /* replaced during the reading */
			drop_features(paper);
		paper_cache_add(memory->papers, paper, form->embedder);
	}
	return reading->papers;
}

/* Put the papers that were read into the places of those that were missing. */
static void fill(struct paper_list list, const struct paper_key *keys, struct paper_list read)
{
	size_t next = 0;
	for (size_t i = 0; i < list.count && next < read.count; i++)
		if (!list.papers[i].arxiv_id &&
		    strcmp(keys[i].arxiv_id, read.papers[next].arxiv_id) == 0)
			list.papers[i] = read.papers[next++];
}

struct paper_list papers_load(struct request *rq, const struct paper_form *form,
                              const struct paper_key *keys, size_t count)
{
	struct paper_list list = {arena_array(rq->arena, count, sizeof(*list.papers)), count};
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *missing = yyjson_mut_arr(doc);
	int64_t now_ms = time_now_ms();
	for (size_t i = 0; i < count; i++) {
		const struct paper *known =
			paper_cache_hold(memory_of(rq)->papers, rq->arena, keys[i].arxiv_id,
		                         form->embedder, keys[i].version);
		if (known)
			list.papers[i] = *known;
		else
			yyjson_mut_arr_add_str(doc, missing, keys[i].arxiv_id);
		if (list.papers[i].weighed_by != form->frequencies)
			drop_features(&list.papers[i]);
	}
	if (yyjson_mut_arr_size(missing) > 0)
		fill(list, keys, read_missing(rq, form, json_write_mut(rq->arena, missing, NULL)));
	for (size_t i = 0; i < count; i++)
		list.papers[i].age_days = paper_age_days(list.papers[i].published_ms, now_ms);
	return list;
}

/* Whether the worker has the paper of a row. */
static bool is_known(struct request *rq, yyjson_val *row, const char *embedder)
{
	const char *id = json_get_text(row, "arxiv_id");
	int64_t version = json_get_int(row, "version", INT64_MAX);
	const struct paper *known =
		id ? paper_cache_hold(memory_of(rq)->papers, rq->arena, id, embedder, version)
		   : NULL;
	return known && (known->bag->dense || !json_get_bool(row, "has_vector", true));
}

/* What pool_missing_papers reads of a row. */
static yyjson_mut_val *state_of(yyjson_mut_doc *doc, yyjson_val *row)
{
	static const char *const MEMBERS[] = {"arxiv_id", "version", "has_vector"};
	yyjson_mut_val *state = yyjson_mut_obj(doc);
	for (size_t i = 0; i < ARRAY_LEN(MEMBERS); i++)
		json_add_member(doc, state, MEMBERS[i], row, MEMBERS[i]);
	return state;
}

const char *papers_unknown(struct request *rq, yyjson_val *rows, const char *embedder)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *unknown = yyjson_mut_arr(doc);
	size_t index, max;
	yyjson_val *row;
	yyjson_arr_foreach (rows, index, max, row)
		if (json_get_bool(row, "is_changed", true) && !is_known(rq, row, embedder))
			yyjson_mut_arr_append(unknown, state_of(doc, row));
	if (yyjson_mut_arr_size(unknown) == 0)
		return NULL;
	return json_write_mut(rq->arena, unknown, NULL);
}

/* --- The worker ------------------------------------------------------------------------------- */

void papers_start(struct worker *worker)
{
	struct memory *memory = calloc(1, sizeof(*memory));
	require(memory);
	memory->papers = block_cache_new((size_t)cache_bytes);
	worker->user = memory;
}

void papers_stop(struct worker *worker)
{
	struct memory *memory = worker->user;
	block_cache_free(memory->papers);
	frequencies_release(memory->frequencies);
	free(memory);
	worker->user = NULL;
}

void papers_age(struct request *rq)
{
	struct memory *memory = memory_of(rq);
	block_cache_age(memory->papers);
	if (block_cache_bytes(memory->papers) > 0)
		return;
	frequencies_release(memory->frequencies);
	memory->frequencies = NULL;
}
