/** A recommended paper, as lists and the digest show it. Its JSON is made here and not by Postgres,
 * of columns that the two statements read: made there, by functions of jsonb, it was three quarters
 * of the time of a digest. */
#pragma once

#include "pg/pg.h"

#include <yyjson.h>

#include <stddef.h>

/** About the length of the JSON of one, to know whether making some takes long. */
#define RECOMMENDED_PAPER_BYTES ((size_t)4096)

/** Make the object of a row, in `doc`. Borrows from the rows. The columns:
 *
 *     recommendation_id, resource_id, rank
 *     relevance_score       a number as JSON writes it
 *     reasoning, suggested_experiment
 *     interest_id, interest_name
 *     recommended_at        as the API writes times
 *     signals               a JSON array of what readers said, the newest first
 *     asset                 the paper as svc-search lists it, without its abstract
 *     abstract              whole */
yyjson_mut_val *recommended_paper_json(struct arena *arena, yyjson_mut_doc *doc,
                                       const struct pg_rows *rows, int row);
