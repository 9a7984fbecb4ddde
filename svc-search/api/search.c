#include "api/search.h"

#include "api/facets.h"
#include "api/query_expansion.h"
#include "api/search_filter.h"
#include "api/search_hits.h"
#include "engine/engine.h"
#include "engine/text/parsed_query.h"
#include "input/input.h"
#include "input/paper_sources.h"
#include "json/json.h"
#include "plain/plain_text.h"
#include "reply/reply.h"
#include "reply/reply_papers.h"

#include <string.h>

#define SAMPLE_LIMIT_MAX 10000
#define OFFSET_NONE      (-1)

struct search_input {
	const char *query;
	const char *text;
	const char *published_since;
	const char *cursor; /* NULL: none */
	const char *sort;   /* NULL: `relevance` */
	int64_t limit;
	int64_t offset; /* OFFSET_NONE: no pages are wanted */
	bool use_llm;
	bool explains;
	bool is_brief;
};

static const char *const SORTS[] = {"relevance", "newest", NULL};

static const struct field SEARCH_FIELDS[] = {
	BODY_TEXT(struct search_input, query, "query", REQUIRED | TRIMMED, 1, 1000),
	{IN_BODY, FIELD_LIMIT, "max_results", FIELD_AT(struct search_input, limit, int64_t), 0, 1,
         100, .fallback = 10},
	BODY_INT(struct search_input, offset, "offset", OPTIONAL, 0, ENGINE_MAX_RESULTS,
                 OFFSET_NONE),
	JSON_BOOL("has_container", NULLABLE),
	JSON_STRINGS("categories", NULLABLE, 0, 100, 64),
	JSON_STRINGS("sources", NULLABLE, 0, 10, 16),
	BODY_ENUM(struct search_input, sort, "sort", OPTIONAL, SORTS),
	BODY_BOOL(struct search_input, use_llm, "use_llm", OPTIONAL, false),
	BODY_BOOL(struct search_input, explains, "explain", OPTIONAL, false),
	FIELD_END,
};

static const struct field SIMILAR_FIELDS[] = {
	BODY_TEXT(struct search_input, text, "text", REQUIRED, 0, 60000),
	{IN_BODY, FIELD_LIMIT, "limit", FIELD_AT(struct search_input, limit, int64_t), 0, 1,
         ENGINE_MAX_RESULTS, .fallback = 100},
	JSON_STRINGS("categories", NULLABLE, 0, 100, 64),
	JSON_STRINGS("sources", NULLABLE, 0, 10, 16),
	{IN_BODY, FIELD_DATE, "published_since",
         FIELD_AT(struct search_input, published_since, const char *), NULLABLE},
	BODY_BOOL(struct search_input, explains, "explain", OPTIONAL, false),
	JSON_STRINGS("only", NULLABLE, 0, 1000, 64),
	JSON_STRINGS("among", NULLABLE, 0, ENGINE_MAX_RESULTS, 64),
	JSON_STRINGS("feedback", NULLABLE, 0, ENGINE_MAX_RESULTS, 64),
	JSON_STRINGS("left_out", NULLABLE, 0, ENGINE_MAX_LEFT_OUT, 64),
	BODY_TEXT(struct search_input, cursor, "cursor", NULLABLE, 0, 500),
	BODY_BOOL(struct search_input, is_brief, "brief", OPTIONAL, false),
	FIELD_END,
};

static const struct field SAMPLE_FIELDS[] = {
	{IN_BODY, FIELD_LIMIT, "limit", FIELD_AT(struct search_input, limit, int64_t), REQUIRED, 1,
         SAMPLE_LIMIT_MAX},
	FIELD_END,
};

static const struct field LOOKUP_FIELDS[] = {
	JSON_STRINGS("arxiv_ids", REQUIRED, 0, 1000, 64),
	FIELD_END,
};

/* A search of the API. */
struct public_search {
	struct search_hits *hits;
	const struct parsed_query *parsed; /* whose words are highlighted */
};

static bool is_newest_first(const struct search_input *in)
{
	return in->sort && strcmp(in->sort, "newest") == 0;
}

/* Search for the best `limit` papers, and say how in the fields of the reply. */
static struct public_search search_public(struct request *rq, const struct search_input *in,
                                          size_t limit)
{
	const char *expanded = in->use_llm ? query_expand(rq, in->query) : NULL;
	const char *asked = plain_text(rq->arena, in->query);
	const char *text = expanded ? plain_text(rq->arena, expanded) : asked;
	struct engine_query query = {
		.text = text,
		.length = strlen(text),
		.limit = limit,
		.explains = in->explains,
		.filter = search_filter_of_body(rq),
	};
	if (!is_newest_first(in) && in->offset != OFFSET_NONE) {
		query.explained_from = (size_t)in->offset;
		query.explained_below = (size_t)(in->offset + in->limit);
	}
	struct search_hits *hits = search_hits_find(rq, &query);
	reply_header(rq, "X-Search-Strategy", "%s",
	             expanded ? "hybrid+llm" : engine_strategy_name(hits->strategy));
	if (hits->hint != ENGINE_HINT_NONE)
		reply_header(rq, "X-Search-Hint", "%s", engine_hint_name(hits->hint));
	return (struct public_search){
		.hits = hits,
		.parsed = expanded ? query_parse(rq->arena, asked, strlen(asked)) : hits->parsed,
	};
}

/* How many papers to search for. All pages of a search are parts of the same ranking, which depends
 * on its depth. */
static size_t depth_of(const struct search_input *in)
{
	return is_newest_first(in) || in->offset != OFFSET_NONE ? ENGINE_MAX_RESULTS
	                                                        : (size_t)in->limit;
}

/* Keep the page that is wanted, and say how many papers its pages have. */
static void keep_page(struct request *rq, const struct search_input *in, struct search_hits *hits)
{
	if (in->offset != OFFSET_NONE) {
		reply_header(rq, "X-Total-Count", "%zu", hits->count);
		search_hits_skip(hits, (size_t)in->offset);
	}
	hits->count = MIN_OF(hits->count, (size_t)in->limit);
}

void asset_search(struct request *rq)
{
	request_check_paper_sources(rq);
	struct search_input *in = request_input(rq, struct search_input, SEARCH_FIELDS);
	struct public_search found = search_public(rq, in, depth_of(in));
	if (is_newest_first(in))
		search_hits_sort_newest(found.hits);
	keep_page(rq, in, found.hits);
	reply_papers(rq, search_hits_public(rq, found.hits, found.parsed), NULL);
}

void asset_facets(struct request *rq)
{
	request_check_paper_sources(rq);
	struct search_input *in = request_input(rq, struct search_input, SEARCH_FIELDS);
	in->explains = false;
	struct public_search found = search_public(rq, in, ENGINE_MAX_RESULTS);
	search_hits_keep_matching(found.hits);
	reply_json(rq, 200, facets_json(rq, found.hits));
}

/* The ids of a member of the body; NULL: there is none. */
static const char *const *ids_of_body(struct request *rq, const char *name, size_t *ret_count)
{
	yyjson_val *ids = json_get(rq->http->json, name);
	return yyjson_is_arr(ids) ? json_texts(rq->arena, ids, ret_count) : NULL;
}

void asset_similar(struct request *rq)
{
	request_check_paper_sources(rq);
	struct search_input *in = request_input(rq, struct search_input, SIMILAR_FIELDS);
	const char *text = plain_text(rq->arena, in->text);
	struct engine_query query = {
		.text = text,
		.length = strlen(text),
		.limit = (size_t)in->limit,
		.is_topic = true,
		.explains = in->explains,
		.filter = search_filter_of_body(rq),
	};
	search_filter_since(&query.filter, in->published_since);
	query.explained = ids_of_body(rq, "only", &query.explained_count);
	query.candidates = ids_of_body(rq, "among", &query.candidate_count);
	query.feedback = ids_of_body(rq, "feedback", &query.feedback_count);
	query.left_out = ids_of_body(rq, "left_out", &query.left_out_count);
	struct search_hits *hits = search_hits_find_for_job(rq, &query, in->cursor);
	if (query.explained)
		search_hits_keep(hits, query.explained, query.explained_count);
	reply_json(rq, 200,
	           in->is_brief ? search_hits_brief(rq, hits) : search_hits_internal(rq, hits));
}

void asset_sample(struct request *rq)
{
	struct search_input *in = request_input(rq, struct search_input, SAMPLE_FIELDS);
	reply_json(rq, 200, search_hits_sample(rq, (size_t)in->limit));
}

void asset_lookup(struct request *rq)
{
	request_input(rq, struct search_input, LOOKUP_FIELDS);
	reply_json(rq, 200,
	           search_hits_internal(rq, search_hits_of_ids(rq, json_get(rq->http->json,
	                                                                    "arxiv_ids"))));
}
