/** The settings of svc-search, filled at start. */
#pragma once

#include "base/config.h"
#include "embeddings/embeddings.h"
#include "indexing/indexer.h"

#include <stdint.h>

struct search_settings {
	struct indexer_settings indexer;
	struct embeddings_settings embeddings;
	const char *llm_url, *llm_model, *llm_key; /* "": no language model */
	int64_t llm_timeout_ms;
	const char *oai_url;
	int64_t harvest_delay_ms; /* between two requests to oai_url */
};

extern struct search_settings search_settings;
extern const struct setting SEARCH_SETTINGS[];
