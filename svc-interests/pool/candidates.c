#include "pool/candidates.h"

#include "candidates.sql.h"
#include "json/json.h"
#include "pg/pg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Recommended papers that candidates are compared with. */
#define RECOMMENDED_MAX 100

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The rows of the search or, without one, of the stored pool. */
static yyjson_val *rows_of(struct request *rq, const struct candidate_source *source)
{
	if (source->search)
		return source->search->results;
	struct pg_rows *rows = pg_query(rq, CANDIDATES_STORED_SQL, pg_text(source->interest));
	return json_parse_own(rq->arena, pg_json(rows));
}

/* What is left of the pool, as rows and as keys. */
struct left {
	yyjson_val **rows;
	struct paper_key *keys;
	size_t count;
};

/* The rows of papers that were not recommended and that the context does not name: its user knows
 * those. */
static struct left rows_left(struct arena *arena, yyjson_val *rows,
                             const struct candidate_source *source)
{
	size_t index, max, known_count;
	yyjson_val *row;
	const char **known = json_texts(arena, source->recommended, &known_count);
	struct left left = {.rows = arena_array(arena, yyjson_arr_size(rows), sizeof(*left.rows)),
	                    .keys = arena_array(arena, yyjson_arr_size(rows), sizeof(*left.keys))};
	qsort(known, known_count, sizeof(*known), compare_texts);
	yyjson_arr_foreach (rows, index, max, row) {
		const char *id = json_get_text(row, "arxiv_id");
		if (!id || strstr(source->context, id) ||
		    bsearch(&id, known, known_count, sizeof(*known), compare_texts))
			continue;
		left.rows[left.count] = row;
		left.keys[left.count++] = (struct paper_key){id, json_get_int(row, "version", 0)};
	}
	return left;
}

static int most_relevant_first(const void *a, const void *b)
{
	const struct paper *left = a, *right = b;
	if (left->relevance != right->relevance)
		return left->relevance < right->relevance ? 1 : -1;
	return strcmp(left->arxiv_id, right->arxiv_id);
}

static struct paper_list load_pool(struct request *rq, const struct candidate_source *source)
{
	struct left left = rows_left(rq->arena, rows_of(rq, source), source);
	struct paper_list pool = papers_load(rq, &source->form, left.keys, left.count);
	size_t kept = 0;
	for (size_t i = 0; i < pool.count; i++) {
		struct paper *paper = &pool.papers[i];
		double relevance = json_get_float(left.rows[i], "relevance", 0);
		if (!paper->arxiv_id || paper->is_withdrawn)
			continue;
		paper->relevance = fmax(0, fmin(1, relevance));
		paper->matched = json_texts(rq->arena, json_get(left.rows[i], "matched"),
		                            &paper->matched_count);
		pool.papers[kept++] = *paper;
	}
	pool.count = kept;
	if (kept > 0)
		qsort(pool.papers, kept, sizeof(*pool.papers), most_relevant_first);
	return pool;
}

/* Leave out papers that are not stored. */
static struct paper_list keep_stored(struct paper_list list)
{
	size_t kept = 0;
	for (size_t i = 0; i < list.count; i++)
		if (list.papers[i].arxiv_id)
			list.papers[kept++] = list.papers[i];
	list.count = kept;
	return list;
}

static struct paper_list load_recommended(struct request *rq, const struct candidate_source *source)
{
	size_t count;
	const char **ids = json_texts(rq->arena, source->recommended, &count);
	count = MIN_OF(count, (size_t)RECOMMENDED_MAX);
	struct paper_key *keys = arena_array(rq->arena, count, sizeof(*keys));
	for (size_t i = 0; i < count; i++)
		keys[i].arxiv_id = ids[i];
	return keep_stored(papers_load(rq, &source->form, keys, count));
}

static struct paper_list load_examples(struct request *rq, const struct candidate_source *source)
{
	size_t index, max, count = yyjson_arr_size(source->examples);
	yyjson_val *row;
	struct paper_key *keys = arena_array(rq->arena, count, sizeof(*keys));
	yyjson_arr_foreach (source->examples, index, max, row)
		keys[index].arxiv_id = json_get_text(row, "arxiv_id");
	struct paper_list list = papers_load(rq, &source->form, keys, count);
	yyjson_arr_foreach (source->examples, index, max, row) {
		list.papers[index].signal = json_get_text(row, "signal");
		list.papers[index].coefficient = json_get_float(row, "coefficient", 0);
	}
	return keep_stored(list);
}

struct candidates candidates_load(struct request *rq, const struct candidate_source *source)
{
	return (struct candidates){
		.pool = load_pool(rq, source),
		.recommended = load_recommended(rq, source),
		.examples = load_examples(rq, source),
	};
}
