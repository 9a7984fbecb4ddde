/** Decides when a new version of the built-in embedder is trained. Pure: it knows neither Postgres
 * nor the clock.
 *
 * A version is due
 *   - when there is none, or only one by an older recipe (engine/vector/training.h), and the corpus
 *     has TRAINING_MIN_DOCS papers;
 *   - when the corpus has grown or shrunk by the factor TRAINING_GROWTH since the version was last
 *     found right for it;
 *   - when papers have changed since then, and that was longer ago than EMBEDDER_MAX_AGE.
 * So there are few versions, and a corpus that no longer changes gets the version that is made from
 * it, whatever its history.
 *
 * Training waits until the corpus is at rest: no paper has changed for TRAINING_REST_MS, and the
 * index has all changes, so that the version is of a whole import and not of a part of it. While
 * papers change all the time it waits no longer than TRAINING_PATIENCE_MS; while the corpus also
 * grows by the factor TRAINING_IMPORT_GROWTH within each such time, as in a large import, no longer
 * than TRAINING_IMPORT_PATIENCE_MS. But it always waits until the index has the changes that there
 * were when the version became due: an index that is still being built has a part of the corpus,
 * and the version that is trained on it would be due again at once. */
#pragma once

#include "indexing/embedder_store.h"

#define TRAINING_GROWTH             1.5
#define TRAINING_REST_MS            1000
#define TRAINING_PATIENCE_MS        60000
#define TRAINING_IMPORT_GROWTH      1.02
#define TRAINING_IMPORT_PATIENCE_MS 1800000

enum training_step {
	TRAINING_NOT_DUE,
	TRAINING_WAIT, /* until the corpus is at rest */
	TRAINING_NOW,
};

/** Zero at first. */
struct training_plan {
	uint64_t change;        /* newest one that was seen */
	uint64_t changed_at_ms; /* when it was first seen */
	bool is_due;
	/* When a version became due, or was found right for the corpus and is due again: */
	uint64_t due_since_ms;
	uint64_t due_change;     /* the newest change */
	uint64_t checked_change; /* that of the corpus of the version */
	uint32_t papers; /* in the corpus when a version became due or an import was last seen */
	uint64_t grown_at_ms;  /* when that was */
	uint64_t tried_change; /* newest change of the corpus that gave no embedder */
};

/** What is to be done now. `index_change` is the change up to which the index has all, `now_ms`
 * monotonic. */
enum training_step training_plan_step(struct training_plan *plan,
                                      const struct embedder_state *state, uint64_t index_change,
                                      uint64_t max_age_ms, uint64_t now_ms);
