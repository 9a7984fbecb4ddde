/** Query expansion: the language model (llm/chat.h) adds related words to a query. */
#pragma once

#include "base/config.h"
#include "loop/request.h"

/** LLM_TIMEOUT. */
extern const struct setting QUERY_EXPANSION_SETTINGS[];

/** Return `query` followed by words that relevant papers use, in the arena of `rq`. Returns NULL
 * when no model is configured, or when it gave no usable answer in time; the caller then searches
 * with the original query. Suspends. */
const char *query_expand(struct request *rq, const char *query);
