/** svc-interests/pool/: the candidate pool of an interest. A pool holds the papers that svc-search
 * found for the interest's name and context, with the texts that its addresses lead to
 * (source/source.h); recommendations are selected from it. Entry points: pool_build() after a
 * change of the interest, pool_renew() before a refresh. With the pools, the background is kept,
 * which is no interest's own (background.h).
 *
 * On a normal day only what a night has brought can enter a pool. So pool_renew() has svc-search
 * rank the pool again together with the papers that have changed since the last search, as its
 * cursor says (svc-search/api/index_cursor.h); the work does not grow with the index. All papers
 * are searched again when the question was another one, when more than half of POOL_SIZE was
 * recommended since, and once a week, on the day that is the interest's turn (pool_turn()): only
 * then can a paper enter that has not changed, when others have left the pool or the frequencies of
 * words have moved. Where the cursor means nothing to svc-search it searches all papers by
 * itself. */
#pragma once

#include "base/config.h"
#include "loop/request.h"
#include "task/task.h"

#include <yyjson.h>

/** POOL_SIZE. */
extern const struct setting POOL_SETTINGS[];

/** Job `pool_build`, {"interest_id"}: build the pool of an interest that is new, or whose name or
 * context has changed. When the interest is new, or its context has changed, the job also starts
 * the task that makes the first recommendations for it (refresh/refresh.h). The job is retried
 * while svc-search is unavailable; after the last attempt the status of the pool is `failed`. So is
 * that of an interest that is nothing but a repository, which could not be read. */
void pool_build(struct request *rq, struct task *task);

enum pool_renewal {
	POOL_RENEWED,
	POOL_KEPT,             /* svc-search is unavailable, or there is nothing to search with */
	POOL_INTEREST_CHANGED, /* while the candidates were searched: nothing is stored */
	POOL_INTEREST_DELETED,
};

/** A search of the candidates of an interest. */
struct pool_search {
	/* What svc-search was asked. */
	const char *text;
	const char *sources; /* JSON array of those that they may be from; NULL: all */
	/* JSON array of papers that were recommended, the newest first; NULL: none */
	const char *left_out;
	/* `left_out` has all that were recommended until then for the context of this version; 0:
	 * there are more */
	int64_t context_version;
	const char *recommended_at; /* when the newest was; NULL: none was */
	int64_t limit;              /* candidates that were not */
	const char *question;       /* digest of text, sources and POOL_SIZE */
	int64_t version;            /* pool_version of the interest */
	/* What it answered. */
	yyjson_val *results;  /* rows, without the papers */
	yyjson_val *feedback; /* ids of the papers that the search was moved by */
	const char *embedder; /* NULL: it has no vectors */
	const char *cursor;   /* the state of the index; NULL: it named none */
	int64_t documents;    /* papers in the index */
	bool is_whole;        /* all papers were searched */
	bool leaves_out;      /* `left_out` is left out */
	/* What follows: the stored pool has these candidates, the index has not changed since. */
	bool is_stored;
};

/** Search the interest's candidates again, with the sources as they were last read, and store them,
 * with the papers that are new or have changed. `ret_search` is set, in the arena of `rq`, unless
 * the pool was kept or the interest is deleted. Suspends. Raises what service_call() returns, and
 * ERR_UPSTREAM, when svc-search has failed and there is no pool to keep. */
enum pool_renewal pool_renew(struct request *rq, const char *interest,
                             struct pool_search **ret_search);

/** Have the candidates ranked again, for an answer of svc-search that explains those with these
 * ids, a JSON array. NULL: svc-search is unavailable. Suspends. */
const char *pool_explain(struct request *rq, const struct pool_search *search,
                         const char *ids_json);

/** Maximum number of ids that svc-search takes, and their maximum length in characters. */
#define POOL_LOOKUP_MAX    1000
#define POOL_LOOKUP_ID_MAX 64

/** Get papers from svc-search by their ids, a JSON array. Returns the answer: {"model", "results":
 * [...]}. Suspends. Raises what service_call() returns, and ERR_UPSTREAM: the status is not 200. */
const char *pool_lookup(struct request *rq, const char *ids_json);

/** Store the papers of such an answer. */
void pool_keep(struct request *rq, const char *answer);
