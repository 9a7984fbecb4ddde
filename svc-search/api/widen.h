/** Widening a query with the words of a language model, any with an OpenAI-compatible interface. */
#pragma once

#include "base/config.h"
#include "loop/request.h"

/** LLM_*. */
extern const struct setting WIDEN_SETTINGS[];

/** `query` followed by words that papers about it use, in the arena; NULL when no model is
 * configured or it did not answer well in time: the search is then made without it. Suspends. */
const char *widen_query(struct request *rq, const char *query);
