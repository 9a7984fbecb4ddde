/** The versions of the built-in embedder in Postgres (migrations/0001_schema.sql). Internal to this
 * folder. */
#pragma once

#include "engine/vector/training.h"
#include "loop/request.h"
#include "pg/lease.h"

#include <stdbool.h>
#include <stdint.h>

/** The corpus, and the current version. */
struct embedder_state {
	uint64_t change; /* newest change of a paper */
	uint32_t papers;
	char version[EMBEDDER_VERSION_BYTES]; /* "": none yet */
	/* Of the version: */
	uint32_t checked_papers; /* size of the corpus that it was last found right for */
	uint64_t checked_change; /* and that corpus's newest change */
	uint64_t age_ms;         /* since then */
	uint32_t recipe;         /* that it was trained by, at most TRAINING_RECIPE */
	uint8_t fingerprint[SAMPLE_FINGERPRINT_BYTES];
};

/** A version to be stored, and the corpus that it was trained on. */
struct embedder_row {
	const struct embedder *embedder;
	uint8_t fingerprint[SAMPLE_FINGERPRINT_BYTES];
	uint32_t papers;
	uint64_t change;
};

/** Suspends. */
struct embedder_state embedder_store_state(struct request *rq);

/** Load a version. The caller frees it. NULL: it was removed, or its bytes are not those that its
 * name was made from. Suspends; raises as pg_query(), freeing what it had read. */
struct embedder *embedder_store_load(struct request *rq, const char *version);

/** Store a version and make it the current one; remove old ones. False: the lease was lost, nothing
 * is stored. Suspends; raises as pg_query(). */
bool embedder_store_save(struct request *rq, const struct embedder_row *row,
                         const struct lease *lease, const char *owner);

/** Record that training on the present corpus would give `version` again. Suspends. */
void embedder_store_confirm(struct request *rq, const char *version, uint32_t papers,
                            uint64_t change);
