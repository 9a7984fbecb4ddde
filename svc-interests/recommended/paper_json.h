/** What an answer has of a paper, as text. It is the same for every reader, so each worker of
 * requests keeps the papers that it has shown last, as far as they fit into its memory. */
#pragma once

#include "base/config.h"
#include "loop/request.h"
#include "loop/worker.h"

#include <stddef.h>

/** RECOMMENDED_PAPER_CACHE. */
extern const struct setting PAPER_JSON_SETTINGS[];

/** For each worker of requests; they set and reset `worker->user`. */
void paper_json_start(struct worker *worker);
void paper_json_stop(struct worker *worker);

#define PAPER_UPDATED_AT_MAX 40 /* bytes of a timestamptz as text, with the NUL */

/** Members of a JSON object:
 *
 *     "title":"…","url":"…","abstract":"…","resource":{…} */
struct paper_json {
	char updated_at[PAPER_UPDATED_AT_MAX]; /* as Postgres writes it */
	size_t length;                         /* of `members`, which no NUL ends */
	char members[];
};

/** About the length of one. */
#define PAPER_JSON_BYTES ((size_t)4096)

/** A paper, which is stored, and when it was last changed, as Postgres writes it. */
struct paper_state {
	const char *arxiv_id; /* NULL: none */
	const char *updated_at;
};

/** The texts of papers in these states or, where a worker has to read them, later ones; NULL for
 * none. They stay until the arena of `rq` is freed. Suspends; raises as pg_query(). */
const struct paper_json **paper_json_load(struct request *rq, const struct paper_state *states,
                                          size_t count);
