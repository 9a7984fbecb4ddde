/** What a search changes of the pool that is stored: on a normal day a few of its rows. */
#pragma once

#include "pool/pool.h"

#include <yyjson.h>

/** A pool as it was read. */
struct stored_pool {
	/* The candidates with their relevance, {"2401.00001": 0.73}; NULL: there are none. */
	yyjson_val *relevances;
	const char *cursor; /* of the search that has stored them; NULL: of none */
};

/** Write what storing the candidates of the search changes, for pool_save, in the arena:
 *
 *     {"rows": [{"arxiv_id", "relevance", "matched"}], "kept": 297, "gone": ["2401.00002"],
 *      "last_cursor": "...", "question": "...", "cursor": "...", "model": "...",
 *      "documents": 40000, "is_whole": false}
 *
 * `rows` are new, or their relevance has changed by more than .01: each new paper changes all of
 * them a little, and what is stored serves only while svc-search is unavailable. `kept` counts the
 * others. Where `last_cursor` is null, `rows` are all. */
const char *pool_change_write(struct arena *arena, const struct stored_pool *stored,
                              const struct pool_search *search);
