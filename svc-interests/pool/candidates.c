#include "pool/candidates.h"

#include "base/timefmt.h"
#include "candidates.sql.h"
#include "json/json.h"
#include "pg/pg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Recommended papers that candidates are compared with. */
#define RECOMMENDED_MAX 100

#define DAY_MS 86400000.0

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

static struct candidate_row read_row(yyjson_val *row, const char *id)
{
	return (struct candidate_row){
		.key = {id, json_get_int(row, "version", 0)},
		.relevance = fmax(0, fmin(1, json_get_float(row, "relevance", 0))),
		.row = row,
		.preference = NAN,
		.is_described = json_get(row, "published_day"),
		.has_vector = json_get_bool(row, "has_vector", false),
		.has_container = json_get_bool(row, "has_container", false),
		.published_before_ms = (double)(json_get_int(row, "published_day", 0) + 1) * DAY_MS,
	};
}

struct candidate_row *candidates_find(struct request *rq, const struct candidate_source *source,
                                      size_t *ret_count)
{
	size_t index, max, known_count, count = 0;
	yyjson_val *row, *found = rows_of(rq, source);
	const char **known = json_texts(rq->arena, source->recommended, &known_count);
	struct candidate_row *left = arena_array(rq->arena, yyjson_arr_size(found), sizeof(*left));
	qsort(known, known_count, sizeof(*known), compare_texts);
	yyjson_arr_foreach (found, index, max, row) {
		const char *id = json_get_text(row, "arxiv_id");
		if (id && !strstr(source->context, id) &&
		    !bsearch(&id, known, known_count, sizeof(*known), compare_texts))
			left[count++] = read_row(row, id);
	}
	*ret_count = count;
	return left;
}

static void sort(struct paper_list papers)
{
	if (papers.count > 0)
		qsort(papers.papers, papers.count, sizeof(*papers.papers), papers_by_relevance);
}

/* Add what the search says of the paper. */
static void add_search(struct request *rq, struct paper *paper, const struct candidate_row *row)
{
	paper->relevance = row->relevance;
	paper->matched =
		json_texts(rq->arena, json_get(row->row, "matched"), &paper->matched_count);
}

struct paper_list candidates_unread(struct request *rq, const struct candidate_row *rows,
                                    size_t count)
{
	struct paper_list list = {arena_array(rq->arena, count, sizeof(*list.papers)), count};
	int64_t now_ms = time_now_ms();
	for (size_t i = 0; i < count; i++) {
		struct paper *paper = &list.papers[i];
		paper->arxiv_id = rows[i].key.arxiv_id;
		paper->age_days = paper_age_days(rows[i].published_before_ms, now_ms);
		paper->has_container = rows[i].has_container;
		paper->preference = rows[i].preference;
		add_search(rq, paper, &rows[i]);
	}
	sort(list);
	return list;
}

struct paper_list candidates_load(struct request *rq, const struct candidate_source *source,
                                  const struct candidate_row *rows, size_t count)
{
	struct paper_key *keys = arena_array(rq->arena, count, sizeof(*keys));
	for (size_t i = 0; i < count; i++)
		keys[i] = rows[i].key;
	struct paper_list pool = papers_load(rq, &source->form, keys, count);
	size_t kept = 0;
	for (size_t i = 0; i < pool.count; i++) {
		struct paper *paper = &pool.papers[i];
		if (!paper->arxiv_id || paper->is_withdrawn)
			continue;
		add_search(rq, paper, &rows[i]);
		pool.papers[kept++] = *paper;
	}
	pool.count = kept;
	sort(pool);
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

struct paper_list candidates_recommended(struct request *rq, const struct candidate_source *source)
{
	size_t count;
	const char **ids = json_texts(rq->arena, source->recommended, &count);
	count = MIN_OF(count, (size_t)RECOMMENDED_MAX);
	struct paper_key *keys = arena_array(rq->arena, count, sizeof(*keys));
	for (size_t i = 0; i < count; i++)
		keys[i].arxiv_id = ids[i];
	return keep_stored(papers_load(rq, &source->form, keys, count));
}

struct paper_list candidates_examples(struct request *rq, const struct candidate_source *source)
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
