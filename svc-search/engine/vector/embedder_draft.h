/** An embedder that is being written; used by the training methods. */
#pragma once

#include "engine/vector/embedder.h"
#include "engine/vector/sample.h"

struct embedder_draft {
	char *blob;
	uint32_t stride; /* elements of a row, all zero at first */
	/* By term of the sample; to be filled in: */
	int8_t *rows;
	float *scales;
	float *weights;
};

/** Begin an embedder for the terms of `sample`. `method` has at most 7 bytes. */
void embedder_draft_begin(struct embedder_draft *draft, const struct sample *sample,
                          const char *method, uint32_t dimension);

/** The embedder, without centroids. The caller frees it. */
struct embedder *embedder_draft_end(struct embedder_draft *draft);
