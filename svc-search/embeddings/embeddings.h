/** Texts to vectors by an outside embedder: any OpenAI-compatible `/v1/embeddings` endpoint.
 *
 * Papers are embedded once for all replicas (paper_vectors.h), a query when it is asked
 * (query_vector.h); the engine (engine.h) works with the vectors. Without EMBEDDINGS_URL and
 * EMBEDDINGS_MODEL there is none, and the embedder is the one built into the engine.
 */
#pragma once

#include "base/config.h"
#include "loop/request.h"

#include <stddef.h>
#include <stdint.h>

/** EMBEDDINGS_*. */
extern const struct setting EMBEDDINGS_SETTINGS[];

/** Make the outside embedder known: once, before threads. */
void embeddings_init(void);

/** EMBEDDINGS_BATCH: texts of one call, at most. */
size_t embeddings_batch(void);

/** Names what makes vectors compare, the model and the dimension that is asked of it, as in
 * `large-3` and `large-3/256`; NULL where there is no outside embedder. Any thread. */
const char *embeddings_space(void);

enum embeddings_outcome {
	EMBEDDINGS_MADE,
	EMBEDDINGS_REFUSED, /* there is something about these texts (400, 413, 422) */
	EMBEDDINGS_FAILED,  /* the endpoint is away, slow, busy or talks nonsense */
};

struct embeddings {
	enum embeddings_outcome outcome;
	const float *vectors;    /* as in embedding_answer.h; where they were made */
	uint32_t dimension;      /* the same */
	const char *why;         /* else a few words for the log */
	uint64_t retry_after_ms; /* what the endpoint asked for; 0: nothing */
};

/** Who is asked for; a label of the metrics. */
enum embeddings_purpose { FOR_PAPERS, FOR_QUERY };

/** Embed `count` (> 0) texts in one call and wait for it. In the arena of the request. Suspends. */
struct embeddings *embeddings_make(struct request *rq, enum embeddings_purpose purpose,
                                   const char *const *texts, size_t count);

/** How long embeddings_make() takes at most. */
uint64_t embeddings_timeout_ms(enum embeddings_purpose purpose);
