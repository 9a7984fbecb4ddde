/** svc-search/embeddings/: vectors by an external embedder, any OpenAI-compatible `/v1/embeddings`
 * endpoint. Entry points: embeddings.h (configuration and one call of the endpoint),
 * paper_embedding.h (all papers, in the background, once for all replicas), query_embedding.h (a
 * query, while the search waits). The engine compares the vectors (engine.h).
 *
 * An external embedder is used when both EMBEDDINGS_URL and EMBEDDINGS_MODEL are set. Otherwise the
 * engine's built-in embedder is used, and the functions of this folder do nothing.
 */
#pragma once

#include "base/config.h"
#include "loop/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** EMBEDDINGS_*. */
extern const struct setting EMBEDDINGS_SETTINGS[];

/** Set up from the settings; once, before threads start. */
void embeddings_init(void);

/** EMBEDDINGS_BATCH: maximum texts of one call. */
size_t embeddings_batch(void);

/** Name of the vector space: the model, and the dimension if one is requested, such as `large-3`
 * and `large-3/256`. Only vectors of one space are comparable. NULL: there is no external embedder.
 * Any thread. */
const char *embeddings_space(void);

enum embeddings_outcome {
	EMBEDDINGS_MADE,
	EMBEDDINGS_REFUSED, /* the endpoint does not accept these texts (400, 413, 422) */
	EMBEDDINGS_FAILED,  /* no answer in time, another status, or an unusable answer */
};

struct embeddings {
	enum embeddings_outcome outcome;
	const float *vectors;    /* as in embedding_response.h; NULL unless EMBEDDINGS_MADE */
	uint32_t dimension;      /* as in embedding_response.h; 0 unless EMBEDDINGS_MADE */
	const char *reason;      /* of a refusal or failure, a few words for the log */
	uint64_t retry_after_ms; /* the answer's Retry-After; 0: none */
	bool is_limited;         /* it says that there are too many calls (429) */
};

/** What the call is for; a label of the metrics. */
enum embeddings_purpose { FOR_PAPERS, FOR_QUERY };

/** Embed `count` (> 0) texts in one call. In the arena of the request. Never raises for a failed
 * call. Suspends. */
struct embeddings *embeddings_create(struct request *rq, enum embeddings_purpose purpose,
                                     const char *const *texts, size_t count);

/** Longest duration of embeddings_create(). */
uint64_t embeddings_timeout_ms(enum embeddings_purpose purpose);
