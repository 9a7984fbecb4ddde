#include "pool/pool.h"

#include "crypto/crypto.h"
#include "interest/interest_name.h"
#include "interest/interest_text.h"
#include "json/json.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "pg/pg.h"
#include "pool.sql.h"
#include "pool/asset_query.h"
#include "pool/background.h"
#include "pool/papers.h"
#include "pool/pool_change.h"
#include "source/arxiv_links.h"
#include "source/source.h"

#include <string.h>

static int64_t pool_size;

const struct setting POOL_SETTINGS[] = {
	SETTING_INT(&pool_size, "POOL_SIZE", "300", 10, 900,
                    "Candidates of an interest's pool, in addition to those already recommended."),
	SETTING_END,
};

METRIC_COUNTER(searches_counter, "expops_pool_searches_total",
               "Searches of interests' candidates, by what was searched: all papers (whole), or "
               "those that have changed since the last search (changes).",
               "searched");

/* Maximum `limit`, which is that of `among`, and `left_out` of svc-search. */
#define SEARCH_LIMIT_MAX    1000
#define SEARCH_LEFT_OUT_MAX 20000

/* Maximum length of the search text in bytes; svc-search takes this many characters. */
#define SEARCH_TEXT_MAX 60000

/* An interest and its pool: the row of pool_source. */
struct interest {
	const char *name, *context; /* with the texts that its addresses lead to */
	int64_t version;            /* pool_version, rises when name or context change */
	bool has_pool;              /* whose status is ready */
	int64_t context_version;
	const char *recommended;    /* papers, a JSON array of the newest; NULL: there are none */
	const char *recommended_at; /* when the newest was, for any context; NULL: none was */
	int64_t recommended_count;
	int64_t recommended_since; /* the last search of all papers */
	bool is_unread;            /* it is nothing but a repository that could not be read */
	const char *sources;       /* JSON array of those that its papers may be from; NULL: all */
	/* The last search, and what it has stored. */
	const char *question; /* NULL: there was none */
	bool is_outdated;     /* it is the interest's turn to have all papers searched */
	struct stored_pool stored;
};

static bool interest_load(struct request *rq, const char *interest, struct interest *row)
{
	struct pg_rows *rows =
		pg_query(rq, POOL_SOURCE_SQL, pg_text(interest), pg_int(SEARCH_LEFT_OUT_MAX));
	if (pg_empty(rows))
		return false;
	const char *relevances = pg_get(rows, 0, "relevances");
	*row = (struct interest){
		.name = pg_get(rows, 0, "name"),
		.context = pg_get(rows, 0, "context"),
		.version = pg_get_int(rows, 0, "pool_version"),
		.has_pool = strcmp(pg_get(rows, 0, "pool_status"), "ready") == 0,
		.context_version = pg_get_int(rows, 0, "context_version"),
		.recommended_at = pg_get(rows, 0, "last_recommendation_at"),
		.recommended = pg_get(rows, 0, "recommended"),
		.recommended_count = pg_get_int(rows, 0, "recommended_count"),
		.recommended_since = pg_get_int(rows, 0, "recommended_since"),
		.is_unread = pg_get_bool(rows, 0, "is_unread"),
		.sources = pg_get(rows, 0, "sources"),
		.question = pg_get(rows, 0, "question"),
		.is_outdated = pg_get_bool(rows, 0, "is_outdated"),
		.stored = {.relevances = relevances ? json_parse_own(rq->arena, relevances) : NULL,
	                   .cursor = pg_get(rows, 0, "cursor")},
	};
	return true;
}

/* Append the titles and abstracts of the papers that `words` links to, as far as they fit. */
static enum err_code append_linked(struct request *rq, const char *words, struct buf *text)
{
	const char *ids = arxiv_links_find(rq->arena, words), *answer;
	if (!ids)
		return ERR_NONE;
	enum err_code code = asset_lookup(rq, ids, &answer);
	if (code)
		return code;
	yyjson_val *root, *row;
	if (json_parse(rq->arena, answer, strlen(answer), &root, NULL))
		return ERR_UPSTREAM;
	size_t index, max;
	yyjson_arr_foreach (json_get(root, "results"), index, max, row) {
		const char *title = json_get_text(row, "title");
		const char *abstract = json_get_text(row, "abstract");
		const char *more = arena_printf(rq->arena, "\n%s\n%s", title ? title : "",
		                                abstract ? abstract : "");
		if (text->length + strlen(more) <= SEARCH_TEXT_MAX)
			buf_puts(text, more);
	}
	return ERR_NONE;
}

/* The interest's name and context. The name counts twice: of weights from 0 to 3 for the title of a
 * paper that is searched with, 2 found most of the rest of its readers' libraries on CiteULike
 * (recall in 50 of .230; .223 for 1, .227 for 3). Labels and identifiers do not count: one rare
 * word of them would outweigh the context. */
static const char *search_words(struct arena *arena, const struct interest *row)
{
	const char *topic = interest_name_topic(arena, row->name);
	if (!topic[0])
		return row->context[0] ? row->context : row->name;
	return arena_printf(arena, "%s\n%s\n%s", topic, topic, row->context);
}

/* A digest of all that decides what is found. */
static const char *question_of(struct request *rq, const struct pool_search *search)
{
	const char *sources = search->sources ? search->sources : "";
	const char *question = arena_printf(rq->arena, "%lld\n%s\n%s", (long long)pool_size,
	                                    sources, search->text);
	char *digest = arena_alloc(rq->arena, SHA256_HEX_LEN + 1);
	sha256_hex(question, strlen(question), digest);
	return digest;
}

/* What to search the interest's candidates with, in the arena of `rq`. */
static enum err_code search_new(struct request *rq, const struct interest *row,
                                struct pool_search **ret_search)
{
	const char *words = search_words(rq->arena, row);
	struct buf text = {.arena = rq->arena};
	buf_puts(&text, interest_text_clean(rq->arena, words));
	enum err_code code = append_linked(rq, words, &text);
	if (code)
		return code;
	*ret_search = arena_new_of(rq->arena, struct pool_search);
	**ret_search = (struct pool_search){
		.text = text.data,
		.sources = row->sources,
		.version = row->version,
		.left_out = row->recommended,
		.recommended_at = row->recommended_at,
		.limit = pool_size,
	};
	if (row->recommended_count < SEARCH_LEFT_OUT_MAX)
		(*ret_search)->context_version = row->context_version;
	(*ret_search)->question = question_of(rq, *ret_search);
	return ERR_NONE;
}

/* Ask for those of the candidates that were found which have the ids `only`, with explanations. */
static void add_explained(yyjson_mut_doc *doc, yyjson_mut_val *body,
                          const struct pool_search *search, const char *only)
{
	size_t index, max;
	yyjson_val *row;
	yyjson_mut_obj_add_val(doc, body, "only", yyjson_mut_raw(doc, only));
	if (!search->feedback) /* of the previous release of svc-search */
		return;
	yyjson_mut_obj_add_val(doc, body, "feedback", yyjson_val_mut_copy(doc, search->feedback));
	yyjson_mut_val *among = yyjson_mut_obj_add_arr(doc, body, "among");
	yyjson_arr_foreach (search->results, index, max, row)
		yyjson_mut_arr_append(among, yyjson_val_mut_copy(doc, json_get(row, "arxiv_id")));
}

/* Ask for the candidates of the last search, renewed. */
static void add_known(yyjson_mut_doc *doc, yyjson_mut_val *body, const struct stored_pool *stored)
{
	size_t index, max;
	yyjson_val *name, *value;
	yyjson_mut_obj_add_str(doc, body, "cursor", stored->cursor);
	yyjson_mut_val *among = yyjson_mut_obj_add_arr(doc, body, "among");
	json_obj_foreach (stored->relevances, index, max, name, value)
		yyjson_mut_arr_add_str(doc, among, yyjson_get_str(name));
}

/* Ask for the candidates without their papers: those of the `last` search, renewed, or those with
 * the ids `only`, with explanations. NULL: neither. */
static enum err_code search_run(struct request *rq, const struct pool_search *search,
                                const struct interest *last, const char *only,
                                const char **ret_json)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, body, "text", search->text);
	int64_t limit = only ? (int64_t)yyjson_arr_size(search->results) : search->limit;
	yyjson_mut_obj_add_int(doc, body, "limit", MAX_OF(limit, 1));
	if (search->sources)
		yyjson_mut_obj_add_val(doc, body, "sources", yyjson_mut_raw(doc, search->sources));
	if (search->left_out && !only)
		yyjson_mut_obj_add_val(doc, body, "left_out",
		                       yyjson_mut_raw(doc, search->left_out));
	yyjson_mut_obj_add_bool(doc, body, "brief", true);
	yyjson_mut_obj_add_bool(doc, body, "explain", only != NULL);
	if (last)
		add_known(doc, body, &last->stored);
	if (only)
		add_explained(doc, body, search, only);
	return asset_query(rq, "/internal/assets/similar", json_write_mut(rq->arena, body, NULL),
	                   ret_json);
}

/* Search, or renew the candidates of the `last` search, and read the answer. */
static enum err_code search_answer(struct request *rq, struct pool_search *search,
                                   const struct interest *last)
{
	const char *answer;
	yyjson_val *root;
	enum err_code code = search_run(rq, search, last, NULL, &answer);
	if (code)
		return code;
	if (json_parse(rq->arena, answer, strlen(answer), &root, NULL))
		return ERR_UPSTREAM;
	search->results = json_get(root, "results");
	search->feedback = json_get(root, "feedback");
	search->embedder = json_get_text(root, "model");
	search->cursor = json_get_text(root, "cursor");
	search->documents = json_get_int(root, "documents", 0);
	search->is_whole = json_get_bool(root, "is_whole", true);
	search->leaves_out = json_get(root, "left_out") != NULL;
	return ERR_NONE;
}

/* Store the papers of the answer that are new or have changed. */
static enum err_code keep_papers(struct request *rq, const struct pool_search *search)
{
	const char *unknown = papers_unknown(rq, search->results, search->embedder);
	if (!unknown)
		return ERR_NONE;
	struct pg_rows *rows =
		pg_query(rq, POOL_MISSING_PAPERS_SQL, pg_text(unknown), pg_text(search->embedder));
	const char *papers, *missing = pg_json(rows);
	if (!missing)
		return ERR_NONE;
	enum err_code code = asset_lookup(rq, missing, &papers);
	if (!code)
		pool_keep(rq, papers);
	return code;
}

/* Whether the candidates of the last search can be renewed. Where more than half of a full pool was
 * recommended since, another search of all papers is worth its time. */
static bool is_renewable(const struct interest *last, const struct pool_search *search)
{
	return last->stored.relevances &&
	       yyjson_obj_size(last->stored.relevances) <= SEARCH_LIMIT_MAX && !last->is_outdated &&
	       strcmp(last->question, search->question) == 0 &&
	       last->recommended_since <= pool_size / 2;
}

/* Whether the candidates are those of the `last` search, which are stored: the index is as it was,
 * and none was recommended since. Those of the best that were stay candidates. */
static bool is_stored(const struct pool_search *search, const struct interest *last)
{
	return last->has_pool && search->cursor &&
	       strcmp(search->cursor, last->stored.cursor) == 0 &&
	       yyjson_arr_size(search->results) == yyjson_obj_size(last->stored.relevances);
}

/* Search, and store the papers that are not stored yet. The previous release of svc-search leaves
 * nothing out. */
static enum err_code search_candidates(struct request *rq, const struct interest *row,
                                       struct pool_search **ret_search)
{
	enum err_code code = search_new(rq, row, ret_search);
	if (code)
		return code;
	struct pool_search *search = *ret_search;
	bool is_known = is_renewable(row, search);
	code = search_answer(rq, search, is_known ? row : NULL);
	if (!code && search->left_out && !search->leaves_out) {
		search->limit = MIN_OF(pool_size + row->recommended_count, SEARCH_LIMIT_MAX);
		code = search_answer(rq, search, NULL);
	}
	if (code)
		return code;
	search->is_stored = is_known && !search->is_whole && is_stored(search, row);
	metric_add(&searches_counter, search->is_whole ? "whole" : "changes", NULL, 1);
	return keep_papers(rq, search);
}

/* Store the candidates. No row: the interest was changed or deleted, or its candidates were stored
 * by another, meanwhile. */
static struct pg_rows *save(struct request *rq, const char *interest, const struct interest *row,
                            const struct pool_search *search)
{
	return pg_query(rq, POOL_SAVE_SQL, pg_text(interest), pg_int(row->version),
	                pg_text(pool_change_write(rq->arena, &row->stored, search)));
}

static attr_noreturn void search_raise(struct request *rq, enum err_code code)
{
	raise_error(rq, code, "svc-search: %s", err_info(code)->detail);
}

/* Draw the background if `saved` says so. */
static void follow_index(struct request *rq, const struct pg_rows *saved)
{
	int64_t documents = pg_empty(saved) ? 0 : pg_get_int(saved, 0, "documents");
	if (documents > 0)
		background_follow(rq, documents);
}

void pool_build(struct request *rq, struct task *task)
{
	const char *interest = json_get_text(task->input, "interest_id");
	struct interest row;
	struct pool_search *search;
	sources_read(rq, interest);
	if (!interest_load(rq, interest, &row)) {
		task_complete(rq, task, "{}", "the interest was deleted");
		return;
	}
	if (row.is_unread) {
		pg_query(rq, POOL_FAIL_SQL, pg_text(interest), pg_int(row.version));
		task_complete(rq, task, "{}", "the repository could not be read");
		return;
	}
	enum err_code code = search_candidates(rq, &row, &search);
	if (code)
		search_raise(rq, code);
	pg_begin(rq);
	struct pg_rows *saved = save(rq, interest, &row, search);
	if (pg_empty(saved)) {
		task_complete(rq, task, "{}",
		              "the interest was changed or deleted during the search");
	} else {
		pg_query(rq, POOL_START_REFRESH_SQL, pg_text(interest), pg_text(rq->id));
		task_complete(rq, task,
		              arena_printf(rq->arena,
		                           "{\"interest_id\": \"%s\", \"pool_size\": %s}", interest,
		                           pg_get(saved, 0, "size")),
		              NULL);
	}
	pg_commit(rq);
	follow_index(rq, saved);
}

enum pool_renewal pool_renew(struct request *rq, const char *interest,
                             struct pool_search **ret_search)
{
	struct interest row;
	struct pool_search *search;
	if (!interest_load(rq, interest, &row))
		return POOL_INTEREST_DELETED;
	if (row.is_unread)
		return POOL_KEPT;
	enum err_code code = search_candidates(rq, &row, &search);
	if (code && !row.has_pool)
		search_raise(rq, code);
	if (code) {
		log_warn("svc-search is unavailable, using the stored pool",
		         f_text("interest", interest));
		return POOL_KEPT;
	}
	*ret_search = search;
	if (search->is_stored)
		return POOL_RENEWED;
	struct pg_rows *saved = save(rq, interest, &row, search);
	if (pg_empty(saved))
		return POOL_INTEREST_CHANGED;
	follow_index(rq, saved);
	return POOL_RENEWED;
}

const char *pool_explain(struct request *rq, const struct pool_search *search, const char *ids_json)
{
	const char *answer = NULL;
	enum err_code code = search_run(rq, search, NULL, ids_json, &answer);
	if (code)
		log_warn("svc-search is unavailable, explaining without it");
	return answer;
}

const char *pool_lookup(struct request *rq, const char *ids_json)
{
	const char *answer = NULL;
	enum err_code code = asset_lookup(rq, ids_json, &answer);
	if (code)
		search_raise(rq, code);
	return answer;
}

void pool_keep(struct request *rq, const char *answer)
{
	pg_query(rq, POOL_KEEP_PAPERS_SQL, pg_text(answer));
}
