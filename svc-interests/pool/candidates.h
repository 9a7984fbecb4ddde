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

/** A candidate without its paper. */
struct candidate_row {
	struct paper_key key;
	double relevance;  /* 0..1 */
	yyjson_val *row;   /* of svc-search or of the stored pool */
	bool is_described; /* the three below are known */
	bool has_vector;
	bool has_container;
	double published_before_ms;
	double preference;         /* for the caller; NaN until it is set */
	double base_score_at_most; /* for the caller */
};

/** Those that the search found or, without one, those that are stored, but for papers that were
 * recommended or that the context names. In the arena of `rq`. Suspends; raises as pg_query(). */
struct candidate_row *candidates_find(struct request *rq, const struct candidate_source *source,
                                      size_t *ret_count);

/** Read the papers of candidates, by relevance. The papers of this and the next lists stay until
 * the arena of `rq` is freed. For jobs. Suspends; raises as pg_query(). */
struct paper_list candidates_load(struct request *rq, const struct candidate_source *source,
                                  const struct candidate_row *rows, size_t count);

/** What is known of candidates without their papers, by relevance: `preference`, and an age that
 * may be less than theirs. In the arena of `rq`. */
struct paper_list candidates_unread(struct request *rq, const struct candidate_row *rows,
                                    size_t count);

/** The newest of the papers that were recommended. For jobs. The same. */
struct paper_list candidates_recommended(struct request *rq, const struct candidate_source *source);

/** The examples, with `signal` and `coefficient`. For jobs. The same. */
struct paper_list candidates_examples(struct request *rq, const struct candidate_source *source);
