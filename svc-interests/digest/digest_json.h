/** The JSON of a digest, made of the rows of digest_get. */
#pragma once

#include "base/arena.h"
#include "pg/pg.h"

/** `period` and `source_type` (NULL: all) are those that were asked for. There is a row for each
 * paper, and one for each interest without papers, those of an interest together; if there is no
 * interest, one without. Uses no request, so it can run on the thread pool. In the arena. */
const char *digest_json(struct arena *arena, const struct pg_rows *rows, const char *period,
                        const char *source_type);
