/** An analysis of results, made on a thread of the pool, and stored. Of results that are posted,
 * and of those that arrive by themselves (linked_run.h). */
#pragma once

#include "analysis/analysis.h"
#include "crypto/crypto.h"
#include "loop/request.h"

struct pg_rows;

struct result_analysis {
	const char *source; /* `metrics`, `rows`, `eval_runs` or `telemetry` */
	yyjson_val *sums;   /* of `metrics`: the body with them, else NULL */
	yyjson_val *rows;   /* else: an array of rows (analysis/rows.h) */
	struct result_facts facts;
	uint8_t digest[SHA256_LEN]; /* of the input: the same one gives the same digits */
	/* set by result_analysis_load() */
	yyjson_val *experiment; /* {"ab_test_config", "previous", "eval_runs_max"} */
	const char *config;     /* JSON of the plan; NULL: there is none */
	/* set by result_analysis_run() */
	const char *output; /* JSON of the analysis (analysis/output.h); NULL: there are faults */
	struct problem problem;
	struct arena *arena;
};

/** Read the plan of the experiment and the analysis before this one. False: there is no such
 * experiment. Suspends. */
bool result_analysis_load(struct request *rq, struct result_analysis *analysis,
                          const char *experiment);

/** Analyse, if there are no faults yet. What does not fit the plan is in `problem`. Suspends. */
void result_analysis_run(struct request *rq, struct result_analysis *analysis);

/** After faults, for results that nobody has posted: let the analysis be one without a valid test
 * that names the first fault. No output: the plan itself is invalid, so there is no analysis by
 * it; that is logged. */
void result_analysis_refuse(struct request *rq, struct result_analysis *analysis);

/** The SHA-256 of the input as JSON `{"MEMBER":COUNT,"sha256":"…"}`, which is stored in place of an
 * input that is too large to keep. */
const char *result_analysis_digest_json(struct request *rq, const struct result_analysis *analysis,
                                        const char *member, size_t count);

/** Store the analysis with `input` (JSON), and let the experiment say what was computed. Returns a
 * row with the analysis; none: the experiment does not exist any more. Suspends. Raises
 * ERR_CONTENTION: the plan has changed since result_analysis_load(). */
struct pg_rows *result_analysis_store(struct request *rq, const struct result_analysis *analysis,
                                      const char *experiment, const char *input);
