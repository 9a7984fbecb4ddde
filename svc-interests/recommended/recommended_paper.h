/** svc-interests/recommended/: recommended papers, as lists and the digest show them.
 *
 * A statement that finds recommendations says only which paper each is of and when that was last
 * changed; what an answer has of the paper, most of its bytes, is what the worker has in memory
 * (paper_json.h), or a second statement reads. Postgres made the JSON of each answer once: that was
 * three quarters of the time of a digest, and reading and copying papers half of the rest. */
#pragma once

#include "loop/request.h"
#include "pg/pg.h"
#include "recommended/paper_json.h"

#include <stddef.h>

/** The texts of the papers of rows, in their order; NULL where a row has no paper, and so no
 * `resource_id`. They stay until the arena of `rq` is freed. The rows' columns are those of
 * recommended_paper_add(). Suspends; raises as pg_query(). */
const struct paper_json **recommended_papers_load(struct request *rq, const struct pg_rows *rows);

/** About the bytes that recommended_paper_add() adds, and what it costs, in bytes of text that is
 * made (fiber_offload_text()): most of it is copied. */
#define RECOMMENDED_PAPER_BYTES ((size_t)4096)
#define RECOMMENDED_PAPER_COST  ((size_t)512)

/** Append the JSON object of a row to `out`; `paper` is its text. Uses no request, so it can run
 * on the thread pool. The columns:
 *
 *     recommendation_id, resource_id, rank
 *     relevance_score       a number as JSON writes it
 *     reasoning, suggested_experiment
 *     interest_id, interest_name
 *     recommended_at        as the API writes times
 *     signals               a JSON array of what readers said, the newest first
 *     paper_updated_at      when the paper was last changed */
void recommended_paper_add(struct buf *out, const struct pg_rows *rows, int row,
                           const struct paper_json *paper);
