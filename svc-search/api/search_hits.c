#include "api/search_hits.h"

#include "api/explanation_json.h"
#include "api/index_cursor.h"
#include "api/shown_papers.h"
#include "asset.sql.h"
#include "crypto/crypto.h"
#include "embeddings/query_embedding.h"
#include "engine/text/highlight.h"
#include "engine/text/name.h"
#include "engine/text/parsed_query.h"
#include "indexing/indexer.h"
#include "ingest/paper_id.h"
#include "json/json.h"
#include "loop/wait.h"
#include "pg/pg.h"
#include "state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A search of more papers, or for more results, runs on the thread pool: ten results of 50,000 take
 * about 1 ms, which is as long as the loop may be blocked. */
#define OFFLOAD_PAPERS  50000
#define OFFLOAD_RESULTS 300

/* Terms and pairs of an explanation for another service, which keeps many of them. */
#define INTERNAL_TERMS 8

struct search_work {
	const struct engine_view *view;
	const struct engine_query *query;
	struct arena *arena;
	struct engine_result result;
};

static void run_search(void *arg)
{
	struct search_work *work = arg;
	work->result = engine_search(work->view, work->query, work->arena);
}

static void view_put(void *view)
{
	engine_view_put(view);
}

static struct search_hits *hits_new(struct request *rq)
{
	struct search_hits *hits = arena_new_of(rq->arena, struct search_hits);
	hits->view = indexer_view(request_indexer(rq));
	arena_on_free(rq->arena, view_put, hits->view);
	return hits;
}

/* Whether a search takes too long for the loop. */
static bool is_long(const struct search_hits *hits, const struct engine_query *query)
{
	return query->explains || query->limit > OFFLOAD_RESULTS ||
	       engine_view_count(hits->view) > OFFLOAD_PAPERS;
}

static struct search_hits *find(struct request *rq, struct search_hits *hits,
                                const struct engine_query *query, enum lane lane)
{
	struct search_work *work = arena_new_of(rq->arena, struct search_work);
	*work = (struct search_work){.view = hits->view, .query = query, .arena = rq->arena};
	if (lane == LANE_BATCH || is_long(hits, query))
		fiber_offload(rq, lane, run_search, work);
	else
		run_search(work);
	hits->mode = work->result.mode;
	hits->changed_after = hits->mode == ENGINE_REFRESH ? query->changed_after : 0;
	hits->strategy = work->result.strategy;
	hits->hint = work->result.hint;
	hits->parsed = work->result.parsed;
	hits->hits = work->result.hits;
	hits->count = work->result.count;
	hits->feedback = work->result.feedback;
	hits->feedback_count = work->result.feedback_count;
	hits->left_out_count = query->left_out_count;
	return hits;
}

struct search_hits *search_hits_find(struct request *rq, struct engine_query *query)
{
	query_embedding_set(rq, query);
	return find(rq, hits_new(rq), query, LANE_SHORT);
}

struct search_hits *search_hits_find_for_job(struct request *rq, struct engine_query *query,
                                             const char *cursor)
{
	query_embedding_set(rq, query);
	struct search_hits *hits = hits_new(rq);
	if (query->candidates && cursor)
		query->changed_after = index_cursor_read(rq, hits->view, cursor);
	if (query->changed_after)
		query->mode = ENGINE_REFRESH;
	else if (query->candidates && !cursor)
		query->mode = ENGINE_RERANK;
	return find(rq, hits, query, LANE_BATCH);
}

struct search_hits *search_hits_near(struct request *rq, struct engine_query *query, const char *id)
{
	struct search_hits *hits = hits_new(rq);
	uint32_t dimension = engine_dimension(hits->view);
	float *vector = arena_array(rq->arena, dimension + 1, sizeof(*vector));
	if (!dimension || !engine_vector(hits->view, id, vector))
		return search_hits_find(rq, query);
	query->vector = vector;
	query->dimension = dimension;
	return find(rq, hits, query, LANE_SHORT);
}

void search_hits_keep(struct search_hits *hits, const char *const *ids, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < hits->count; i++)
		if (engine_is_listed(hits->hits[i].id, ids, count))
			hits->hits[kept++] = hits->hits[i];
	hits->count = kept;
}

void search_hits_skip(struct search_hits *hits, size_t count)
{
	size_t skipped = MIN_OF(count, hits->count);
	hits->hits += skipped;
	hits->count -= skipped;
}

void search_hits_keep_matching(struct search_hits *hits)
{
	size_t matching = 0;
	while (matching < hits->count &&
	       hits->hits[matching].relevance >= SEARCH_MATCHING * hits->hits[0].relevance)
		matching++;
	hits->count = matching;
}

static int compare_dates(const void *a, const void *b)
{
	const struct engine_hit *left = a, *right = b;
	if (left->published != right->published)
		return left->published > right->published ? -1 : 1;
	if (left->relevance < right->relevance || left->relevance > right->relevance)
		return left->relevance > right->relevance ? -1 : 1;
	return strcmp(left->id, right->id);
}

void search_hits_sort_newest(struct search_hits *hits)
{
	search_hits_keep_matching(hits);
	qsort(hits->hits, hits->count, sizeof(*hits->hits), compare_dates);
}

struct search_hits *search_hits_of_ids(struct request *rq, yyjson_val *ids)
{
	struct search_hits *hits = hits_new(rq);
	hits->hits = arena_array(rq->arena, yyjson_arr_size(ids) + 1, sizeof(*hits->hits));
	size_t index, count;
	yyjson_val *item;
	yyjson_arr_foreach (ids, index, count, item) {
		char id[PAPER_ID_MAX + 1];
		if (!paper_id_parse(yyjson_get_str(item), id))
			continue;
		struct engine_hit *hit = &hits->hits[hits->count++];
		hit->id = arena_strdup(rq->arena, id);
		if (!engine_find(hits->view, id, &hit->seq))
			hit->seq = 0;
	}
	return hits;
}

/* Taking a sample on the thread pool. */
struct sample_work {
	const struct engine_view *view;
	const char **ids;
	size_t limit;
	size_t count; /* of `ids` */
};

static void run_sample(void *arg)
{
	struct sample_work *work = arg;
	work->count = engine_sample_ids(work->view, work->ids, work->limit);
}

const char *search_hits_sample(struct request *rq, size_t limit)
{
	struct search_hits *hits = hits_new(rq);
	struct sample_work *work = arena_new_of(rq->arena, struct sample_work);
	*work = (struct sample_work){.view = hits->view, .limit = limit};
	work->ids = arena_array(rq->arena, limit, sizeof(*work->ids));
	fiber_offload(rq, LANE_SHORT, run_sample, work);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *root = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_uint(doc, root, "documents", engine_view_count(hits->view));
	yyjson_mut_val *ids = yyjson_mut_obj_add_arr(doc, root, "arxiv_ids");
	for (size_t i = 0; i < work->count; i++)
		yyjson_mut_arr_add_str(doc, ids, work->ids[i]);
	return json_write_mut(rq->arena, root, NULL);
}

/* The papers of the hits, without the members `left_out`, a Postgres array, of their JSON. */
static struct pg_rows *query_papers(struct request *rq, const struct search_hits *hits,
                                    const char *left_out)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *ids = yyjson_mut_arr(doc);
	for (size_t i = 0; i < hits->count; i++)
		yyjson_mut_arr_add_str(doc, ids, hits->hits[i].id);
	return pg_query(rq, ASSET_BY_IDS_SQL, pg_text(json_write_mut(rq->arena, ids, NULL)),
	                pg_text(left_out));
}

/* The hit that belongs to `row`; call it for each row in turn, with *at 0 at first. Rows are in the
 * order of the hits; a paper that was withdrawn after the search has no row. */
static const struct engine_hit *hit_of_row(const struct search_hits *hits, size_t *at,
                                           const struct pg_rows *rows, int row)
{
	while (strcmp(hits->hits[*at].id, pg_get(rows, row, "arxiv_id")) != 0)
		(*at)++;
	return &hits->hits[(*at)++];
}

static void add_highlight(struct request *rq, yyjson_mut_doc *doc, yyjson_mut_val *list,
                          const struct parsed_query *parsed, const char *field, const char *text)
{
	const struct search_worker *worker = rq->worker->user;
	char *fragment =
		highlight_fragment(rq->arena, worker->tokenizer, parsed, text, strlen(text));
	if (!fragment)
		return;
	yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, list);
	yyjson_mut_obj_add_str(doc, row, "field", field);
	yyjson_mut_obj_add_str(doc, row, "text", fragment);
}

/* Whether an author's name has a term of the query. */
struct name_match {
	const struct parsed_query *parsed;
	bool is_found;
};

static void match_name_term(const char *term, size_t length attr_unused, void *ctx)
{
	struct name_match *match = ctx;
	match->is_found |= query_find_term(match->parsed, term) != NULL;
}

static bool has_names(const struct parsed_query *parsed)
{
	for (size_t i = 0; i < parsed->term_count; i++)
		if (parsed->terms[i].is_name)
			return true;
	return false;
}

/* Add a row with the authors whom the query names. */
static void add_authors(struct request *rq, yyjson_mut_doc *doc, yyjson_mut_val *list,
                        const struct parsed_query *parsed, yyjson_val *authors)
{
	struct buf text = {.arena = rq->arena};
	size_t index, count;
	yyjson_val *name;
	if (!has_names(parsed))
		return;
	yyjson_arr_foreach (authors, index, count, name) {
		struct name_match match = {.parsed = parsed};
		name_index_terms(yyjson_get_str(name), yyjson_get_len(name), match_name_term,
		                 &match);
		if (!match.is_found)
			continue;
		buf_puts(&text, text.length > 0 ? ", " : "");
		highlight_whole(&text, yyjson_get_str(name), yyjson_get_len(name));
	}
	if (text.length == 0)
		return;
	yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, list);
	yyjson_mut_obj_add_str(doc, row, "field", "authors");
	yyjson_mut_obj_add_str(doc, row, "text", text.data);
}

/* What of the paper matches the query. */
static const char *highlights_json(struct request *rq, const struct parsed_query *parsed,
                                   const char *asset)
{
	static const char *const FIELDS[] = {"title", "abstract"};
	yyjson_val *paper;
	require(json_parse(rq->arena, asset, strlen(asset), &paper, NULL) == ERR_NONE);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *list = yyjson_mut_arr(doc);
	for (size_t i = 0; i < ARRAY_LEN(FIELDS); i++)
		add_highlight(rq, doc, list, parsed, FIELDS[i], json_get_text(paper, FIELDS[i]));
	add_authors(rq, doc, list, parsed, json_get(paper, "authors"));
	if (json_get_text(paper, "comments"))
		add_highlight(rq, doc, list, parsed, "comments", json_get_text(paper, "comments"));
	return json_write_mut(rq->arena, list, NULL);
}

const char *search_hits_public(struct request *rq, const struct search_hits *hits,
                               const struct parsed_query *parsed)
{
	const char **shown = shown_papers_of(rq, hits->hits, hits->count);
	struct buf out = {.arena = rq->arena};
	buf_puts(&out, "[");
	for (size_t i = 0; i < hits->count; i++) {
		const struct engine_hit *hit = &hits->hits[i];
		if (!shown[i])
			continue;
		buf_puts(&out, out.length > 1 ? "," : "");
		buf_add(&out, shown[i], strlen(shown[i]) - 1);
		buf_printf(&out, ", \"relevance_score\": %.4f, \"highlights\": %s", hit->relevance,
		           highlights_json(rq, parsed, shown[i]));
		if (hit->explanation)
			buf_printf(&out, ", \"explanation\": %s",
			           json_write_mut(rq->arena,
			                          explanation_json(json_doc_new(rq->arena),
			                                           hit->explanation,
			                                           QUERY_MAX_TERMS * 2),
			                          NULL));
		buf_puts(&out, "}");
	}
	buf_puts(&out, "]");
	return out.data;
}

/* The paper's vector as base64 of int8 elements, with one scale for all; NULL when it has none.
 * `buffer` has room for one vector. */
static const char *packed_vector(struct request *rq, const struct engine_view *view, const char *id,
                                 float *buffer, double *ret_scale)
{
	uint32_t dimension = engine_dimension(view);
	if (!dimension || !engine_vector(view, id, buffer))
		return NULL;
	float greatest = 0;
	for (uint32_t i = 0; i < dimension; i++)
		greatest = fmaxf(greatest, fabsf(buffer[i]));
	int8_t *packed = arena_alloc(rq->arena, dimension);
	for (uint32_t i = 0; i < dimension && greatest > 0; i++)
		packed[i] = (int8_t)lrintf(buffer[i] / greatest * 127);
	*ret_scale = greatest / 127;
	return base64_encode(rq->arena, packed, dimension);
}

/* What the search found out about a paper. */
static yyjson_mut_val *hit_json(yyjson_mut_doc *doc, const struct engine_hit *hit)
{
	yyjson_mut_val *out = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, out, "arxiv_id", hit->id);
	yyjson_mut_obj_add_uint(doc, out, "version", hit->seq);
	yyjson_mut_obj_add_real(doc, out, "relevance", hit->relevance);
	yyjson_mut_val *matched = yyjson_mut_obj_add_arr(doc, out, "matched");
	for (size_t i = 0; i < hit->matched_count; i++)
		yyjson_mut_arr_add_str(doc, matched, hit->matched[i]);
	if (hit->explanation)
		yyjson_mut_obj_add_val(doc, out, "explanation",
		                       explanation_json(doc, hit->explanation, INTERNAL_TERMS));
	return out;
}

static yyjson_mut_val *paper_json(struct request *rq, yyjson_mut_doc *doc,
                                  const struct search_hits *hits, const struct engine_hit *hit,
                                  const struct pg_rows *rows, int row, float *buffer)
{
	yyjson_mut_val *out = hit_json(doc, hit);
	double scale = 0;
	const char *vector = packed_vector(rq, hits->view, hit->id, buffer, &scale);
	json_add_text(doc, out, "published_at", pg_get(rows, row, "published_at"));
	yyjson_mut_obj_add_bool(doc, out, "has_container", pg_get_bool(rows, row, "has_container"));
	yyjson_mut_obj_add_str(doc, out, "title", pg_get(rows, row, "title"));
	yyjson_mut_obj_add_str(doc, out, "abstract", pg_get(rows, row, "abstract"));
	yyjson_mut_obj_add_val(doc, out, "categories",
	                       yyjson_mut_raw(doc, pg_get(rows, row, "categories")));
	json_add_text(doc, out, "github_url", pg_get(rows, row, "github_url"));
	json_add_text(doc, out, "vector", vector);
	yyjson_mut_obj_add_real(doc, out, "scale", scale);
	yyjson_mut_obj_add_val(doc, out, "asset", yyjson_mut_raw(doc, pg_get(rows, row, "asset")));
	return out;
}

/* The object of the internal routes, with an empty list of rows. */
static yyjson_mut_val *answer_json(yyjson_mut_doc *doc, const struct search_hits *hits,
                                   yyjson_mut_val **ret_results)
{
	yyjson_mut_val *root = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, root, "strategy", engine_strategy_name(hits->strategy));
	const char *version = engine_version(hits->view);
	json_add_text(doc, root, "model", version[0] ? version : NULL);
	yyjson_mut_obj_add_uint(doc, root, "dimension", engine_dimension(hits->view));
	yyjson_mut_obj_add_uint(doc, root, "documents", engine_view_count(hits->view));
	yyjson_mut_val *feedback = yyjson_mut_obj_add_arr(doc, root, "feedback");
	for (size_t i = 0; i < hits->feedback_count; i++)
		yyjson_mut_arr_add_str(doc, feedback, hits->feedback[i]);
	*ret_results = yyjson_mut_obj_add_arr(doc, root, "results");
	return root;
}

const char *search_hits_brief(struct request *rq, const struct search_hits *hits)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *results, *root = answer_json(doc, hits, &results);
	json_add_text(doc, root, "cursor", index_cursor_write(rq, hits->view));
	yyjson_mut_obj_add_bool(doc, root, "is_whole", hits->mode == ENGINE_SEARCH);
	yyjson_mut_obj_add_uint(doc, root, "left_out", hits->left_out_count);
	for (size_t i = 0; i < hits->count; i++) {
		const struct engine_hit *hit = &hits->hits[i];
		yyjson_mut_val *row = hit_json(doc, hit);
		yyjson_mut_obj_add_bool(doc, row, "has_vector", hit->has_vector);
		yyjson_mut_obj_add_bool(doc, row, "has_container", hit->has_container);
		yyjson_mut_obj_add_int(doc, row, "published_day", hit->published);
		yyjson_mut_obj_add_bool(doc, row, "is_changed", hit->seq > hits->changed_after);
		yyjson_mut_arr_append(results, row);
	}
	return json_write_mut(rq->arena, root, NULL);
}

const char *search_hits_internal(struct request *rq, const struct search_hits *hits)
{
	struct pg_rows *rows = query_papers(rq, hits, "{abstract}"); /* paper_json() has it */
	float *buffer = arena_array(rq->arena, engine_dimension(hits->view) + 1, sizeof(*buffer));
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *results, *root = answer_json(doc, hits, &results);
	size_t at = 0;
	for (int row = 0; row < rows->count; row++) {
		const struct engine_hit *hit = hit_of_row(hits, &at, rows, row);
		yyjson_mut_arr_append(results, paper_json(rq, doc, hits, hit, rows, row, buffer));
	}
	return json_write_mut(rq->arena, root, NULL);
}
