#include "api/similar.h"

#include "api/search_filter.h"
#include "api/search_hits.h"
#include "client/service_ask.h"
#include "ingest/paper_id.h"
#include "input/input.h"
#include "input/key_limit.h"
#include "json/json.h"
#include "pg/pg.h"
#include "reply/reply.h"
#include "reply/reply_papers.h"
#include "reply/resource.h"
#include "similar.sql.h"

#include <string.h>

struct similar_input {
	const char *arxiv_id;
	const char *since;
	const char *interest; /* whose recommended papers are left out; NULL: none are */
	int64_t limit;
};

static const struct field FIELDS[] = {
	PATH_TEXT(struct similar_input, arxiv_id, "arxiv_id", 1, 64),
	QUERY_DATE(struct similar_input, since, "since"),
	QUERY_UUID(struct similar_input, interest, "exclude_seen_by"),
	QUERY_LIMIT(struct similar_input, limit, 20, 100),
	FIELD_END,
};

/* Raise ERR_NOT_FOUND unless there is such a paper; its canonical id, and its text. */
static const char *paper_text(struct request *rq, const char *given, const char **ret_id)
{
	char *id = arena_alloc(rq->arena, PAPER_ID_MAX + 1);
	if (!paper_id_parse(given, id))
		raise_error(rq, ERR_NOT_FOUND, "no such asset");
	struct pg_rows *rows = pg_query(rq, SIMILAR_TEXT_SQL, pg_text(id));
	require_row(rq, rows, "no such asset");
	*ret_id = id;
	return pg_value(rows, 0);
}

static const char *seen_question(struct request *rq, const char *interest,
                                 const struct search_hits *hits)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, body, "interest_id", interest);
	yyjson_mut_val *ids = yyjson_mut_obj_add_arr(doc, body, "arxiv_ids");
	for (size_t i = 0; i < hits->count; i++)
		yyjson_mut_arr_add_str(doc, ids, hits->hits[i].id);
	return json_write_mut(rq->arena, body, NULL);
}

static bool is_listed(yyjson_val *ids, const char *id)
{
	size_t index, count;
	yyjson_val *item;
	yyjson_arr_foreach (ids, index, count, item)
		if (yyjson_equals_str(item, id))
			return true;
	return false;
}

/* Drop the papers that were recommended for the interest. */
static void drop_seen(struct request *rq, const char *interest, struct search_hits *hits)
{
	yyjson_val *answer =
		service_ask(rq, INTERNAL_ID_interest_seen_get, seen_question(rq, interest, hits));
	yyjson_val *seen = json_get(answer, "arxiv_ids");
	size_t kept = 0;
	for (size_t i = 0; i < hits->count; i++)
		if (!is_listed(seen, hits->hits[i].id))
			hits->hits[kept++] = hits->hits[i];
	hits->count = kept;
}

/* Only who may list the recommendations for the interest learns which papers they are of. */
static void require_sight_of(struct request *rq, const char *interest)
{
	require_scope(rq, SCOPE_BIT_RECOMMENDATIONS_READ);
	if (api_permit(api_op(API_ID_recommendations_list), &rq->caller))
		raise_error(rq, ERR_FORBIDDEN, "this key is limited to a repository");
	require_interest(rq, interest);
}

void asset_similar_list(struct request *rq)
{
	struct similar_input *in = request_input(rq, struct similar_input, FIELDS);
	if (in->interest)
		require_sight_of(rq, in->interest);
	const char *id;
	const char *text = paper_text(rq, in->arxiv_id, &id);
	struct engine_query query = {
		.text = text,
		.length = strlen(text),
		.limit = in->interest ? ENGINE_MAX_RESULTS : (size_t)in->limit,
		.is_topic = true,
		.filter = {.excluded = &id, .excluded_count = 1},
	};
	search_filter_since(&query.filter, in->since);
	struct search_hits *hits = search_hits_near(rq, &query, id);
	if (in->interest)
		drop_seen(rq, in->interest, hits);
	hits->count = MIN_OF(hits->count, (size_t)in->limit);
	reply_header(rq, "X-Search-Strategy", "%s", engine_strategy_name(hits->strategy));
	reply_papers(rq, search_hits_public(rq, hits, hits->parsed), NULL);
}
