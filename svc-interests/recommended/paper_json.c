#include "recommended/paper_json.h"

#include "cache/block_cache.h"
#include "json/json.h"
#include "loop/wait.h"
#include "paper_json.sql.h"
#include "pg/pg.h"

#include <string.h>

static int64_t cache_bytes;

const struct setting PAPER_JSON_SETTINGS[] = {
	SETTING_MEMORY(&cache_bytes, "RECOMMENDED_PAPER_CACHE", "16MiB", 4096, INT64_C(1) << 40,
                       MEMORY_EACH_WORKER,
                       "Memory of each worker for papers of digests and lists, about 4 KB each."),
	SETTING_END,
};

void paper_json_start(struct worker *worker)
{
	worker->user = block_cache_new((size_t)cache_bytes);
}

void paper_json_stop(struct worker *worker)
{
	block_cache_free(worker->user);
	worker->user = NULL;
}

/* --- Papers that the worker does not have ----------------------------------------------------- */

/* The asset as svc-search lists it, with its abstract. One that version 0.1.0 has stored, which had
 * papers of arXiv alone, lacks two members. */
static const char *paper_object(struct arena *arena, const struct pg_rows *rows, int row)
{
	yyjson_mut_doc *doc = json_doc_new(arena);
	yyjson_mut_val *out = yyjson_mut_obj(doc);
	yyjson_val *asset = json_parse_own(arena, pg_get(rows, row, "asset"));
	yyjson_mut_val *resource = yyjson_val_mut_copy(doc, asset);
	const char *abstract = pg_get(rows, row, "abstract");
	if (!json_get(asset, "source")) {
		yyjson_mut_obj_add_str(doc, resource, "source", "arxiv");
		yyjson_mut_obj_add_null(doc, resource, "doi");
	}
	yyjson_mut_obj_add_str(doc, resource, "abstract", abstract);
	json_add_member(doc, out, "title", asset, "title");
	json_add_member(doc, out, "url", asset, "url");
	yyjson_mut_obj_add_str(doc, out, "abstract", abstract);
	yyjson_mut_obj_add_val(doc, out, "resource", resource);
	return json_write_mut(arena, out, NULL);
}

/* Making objects on the thread pool. */
struct making {
	struct arena *arena;
	const struct pg_rows *rows; /* of paper_json_load */
	const char **objects;
};

static void make_objects(void *arg)
{
	struct making *making = arg;
	making->objects = arena_array(making->arena, (size_t)making->rows->count, sizeof(char *));
	for (int row = 0; row < making->rows->count; row++)
		making->objects[row] = paper_object(making->arena, making->rows, row);
}

static const struct paper_json *keep(struct request *rq, const char *id, const char *updated_at,
                                     const char *object)
{
	size_t length = strlen(object) - strlen("{}");
	struct block_cache *cache = rq->worker->user;
	struct paper_json *text = block_cache_add(cache, id, sizeof(*text) + length);
	size_t time_length = strlen(updated_at);
	require(time_length < PAPER_UPDATED_AT_MAX);
	memcpy(text->updated_at, updated_at, time_length + 1);
	text->length = length;
	memcpy(text->members, object + 1, length);
	block_cache_hold(cache, rq->arena, text);
	return text;
}

/* Read the papers that have no text yet, whose ids are `missing`. */
static void read_missing(struct request *rq, const struct paper_state *states, size_t count,
                         const char *missing, const struct paper_json **texts)
{
	struct pg_rows *papers = pg_query(rq, PAPER_JSON_LOAD_SQL, pg_text(missing));
	struct making making = {offload_arena(rq), papers, NULL};
	fiber_offload_text(rq, (size_t)papers->count * PAPER_JSON_BYTES, make_objects, &making);
	int next = 0;
	for (size_t i = 0; i < count; i++) {
		if (texts[i] || !states[i].arxiv_id)
			continue;
		require(next < papers->count); /* a recommendation references its paper */
		texts[i] = keep(rq, states[i].arxiv_id, pg_get(papers, next, "updated_at"),
		                making.objects[next]);
		next++;
	}
}

/* --- Papers that it has ----------------------------------------------------------------------- */

/* The text of this state of the paper, held; NULL: the worker does not have it. */
static const struct paper_json *hold(struct request *rq, const struct paper_state *state)
{
	struct block_cache *cache = rq->worker->user;
	const struct paper_json *text = block_cache_find(cache, state->arxiv_id);
	if (!text || strcmp(text->updated_at, state->updated_at) != 0)
		return NULL;
	block_cache_hold(cache, rq->arena, text);
	return text;
}

const struct paper_json **paper_json_load(struct request *rq, const struct paper_state *states,
                                          size_t count)
{
	const struct paper_json **texts =
		arena_array(rq->arena, count, sizeof(struct paper_json *));
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *missing = yyjson_mut_arr(doc);
	for (size_t i = 0; i < count; i++) {
		if (!states[i].arxiv_id)
			continue;
		texts[i] = hold(rq, &states[i]);
		if (!texts[i])
			yyjson_mut_arr_add_str(doc, missing, states[i].arxiv_id);
	}
	if (yyjson_mut_arr_size(missing) > 0)
		read_missing(rq, states, count, json_write_mut(rq->arena, missing, NULL), texts);
	return texts;
}
