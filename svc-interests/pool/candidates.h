/** The candidates of an interest as papers, for the choice of those to recommend, with the papers
 * that they are compared with. */
#pragma once

#include "paper/paper.h"
#include "pool/papers.h"
#include "pool/pool.h"

/** What candidates depend on. */
struct candidate_source {
	const char *interest;    /* its id */
	const char *context;     /* as its user wrote it */
	struct paper_form form;  /* that the interest uses */
	yyjson_val *recommended; /* ids of the papers recommended already, newest first */
	/* Those that the model learned from, [{"arxiv_id", "signal", "coefficient"}]; NULL:
	 * unknown. */
	yyjson_val *examples;
	struct pool_search *search; /* NULL: svc-search is unavailable */
};

struct candidates {
	struct paper_list pool;        /* by relevance; neither recommended nor withdrawn */
	struct paper_list recommended; /* the newest */
	struct paper_list examples;    /* with `signal` and `coefficient` */
};

/** Those that the search found or, without one, those that are stored. The papers stay until the
 * arena of `rq` is freed. For jobs. Suspends; raises as pg_query(). */
struct candidates candidates_load(struct request *rq, const struct candidate_source *source);
