/** Papers and document frequencies for refreshes. Both are in Postgres; the background worker, on
 * which jobs run, keeps those in use in memory (paper/paper_cache.h). */
#pragma once

#include "base/config.h"
#include "loop/request.h"
#include "loop/worker.h"
#include "paper/frequency.h"
#include "paper/paper.h"

#include <yyjson.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** PAPER_CACHE. */
extern const struct setting PAPERS_SETTINGS[];
extern int64_t papers_age_ms; /* interval of papers_age() */

/** For the background worker. */
void papers_start(struct worker *worker);
void papers_stop(struct worker *worker);

/** Recurring: forget papers that are no longer used. */
void papers_age(struct request *rq);

struct paper_key {
	const char *arxiv_id;
	int64_t version; /* at least; 0: any */
};

/** What of papers is asked for, besides their bags and ages. */
struct paper_form {
	const char *embedder; /* that made the vectors; NULL: none */
	/* From papers_frequencies(): with features, where they are in memory. NULL: without. */
	const struct frequency_table *frequencies;
};

/** The papers in the order of the keys. One that is not stored has no `arxiv_id`. The list is in
 * the arena of `rq`, and its papers stay until that is freed. For jobs. Suspends; raises as
 * pg_query(). */
struct paper_list papers_load(struct request *rq, const struct paper_form *form,
                              const struct paper_key *keys, size_t count);

/** Id, version and `has_vector` of the rows of an answer of svc-search whose papers may not be
 * stored in their version and with a vector of the `embedder`, as JSON in the arena of `rq`; NULL:
 * all are. They are stored if the worker has them, or if the answer renews one whose papers were
 * stored, and they have not changed since. For jobs. */
const char *papers_unknown(struct request *rq, yyjson_val *rows, const char *embedder);

/** The document frequencies of the background that was drawn at this time; NULL if `drawn_at` is.
 * They stay until the arena of `rq` is freed. For jobs. Suspends; raises as pg_query(). */
const struct frequency_table *papers_frequencies(struct request *rq, const char *drawn_at);
