/** The figures of an experiment, and what follows from them. sums_read() or rows_read() fills in
 * the figures of arms and comparisons; analysis_conclude() adds what concerns all of them.
 *
 * Which test: the plan's mode, else `sequential` for sums, which live traffic gives and people look
 * at again and again, and `fixed` for rows, which are complete. Rows are always tested once; where
 * they are looked at as each run ends, there is no word before `planned_n` of them, if the plan has
 * that, and a warning otherwise. */
#pragma once

#include "analysis/plan.h"
#include "base/arena.h"
#include "statistics/allocation.h"
#include "statistics/comparison.h"
#include "statistics/verdict.h"

/** Of an arm in a metric. NaN: not known. */
struct arm_figures {
	double n, mean, low, high;
	double smallest, largest; /* of runs: their spread; the best of several is never a result */
	double events, non_events; /* proportions: successes and failures */
};

/** Of a treatment beside the control. */
struct pair_figures {
	struct comparison plain, adjusted; /* adjusted: with the pre-period */
	bool has_adjusted;
	double p_adjusted;         /* for several tests; what decides */
	double minimum_detectable; /* with the plan's power; absolute */
	double needed_n;           /* units of both arms to find min_effect */
	const char *invalid;       /* why there is no test, for a sentence; NULL: there is one */
	bool is_early;
	double missing_units; /* how many more there must be before a word; is_early */
	double improvement;   /* of a suite: the probability that a run gets better; NaN */
};

struct metric_figures {
	bool is_present; /* the results have it */
	struct arm_figures arms[PLAN_ARMS_MAX];
	struct pair_figures pairs[PLAN_ARMS_MAX]; /* that of the control is unused */
};

struct warning {
	const char *code, *metric; /* metric NULL: of the whole experiment */
	const char *text;
	struct warning *next;
};

enum analysis_source { SOURCE_SUMS, SOURCE_ROWS };

/** What `n` counts. */
enum analysis_unit { UNIT_UNIT, UNIT_EXAMPLE, UNIT_RUN };

/** What the results say besides their figures. Zero: nothing. */
struct result_facts {
	const char *template_digest; /* of the evaluation that all runs are of; NULL: none */
	double missing_runs;     /* that failed by themselves, or were cancelled: no valid test */
	double left_out_runs;    /* runs that say nothing, such as those of a lost worker */
	double older_runs;       /* of these, the oldest, whose rows were too many */
	double repeated_runs;    /* of these, those that failed, whose seed was run again */
	bool is_repeated;        /* looked at as each run ended, not once */
	double kept_runs;        /* of all arms together, the newest; 0: all */
	bool has_estimated_cost; /* `cost_usd` was not told but estimated */
};

struct analysis {
	struct arena *arena;
	struct arena *scratch; /* of the metric that is read, freed after it; of rows only */
	const struct plan *plan;
	enum analysis_source source;
	enum analysis_unit unit;
	struct result_facts facts;
	struct testing testing;
	double units[PLAN_ARMS_MAX]; /* NaN: unknown */
	struct allocation allocation;
	struct metric_figures *metrics; /* plan->metric_count */
	double dropped_examples, examples;
	double replicates; /* of the bootstrap of a suite; NaN: there was none */
	uint64_t seed;     /* of the bootstrap: a digest of the results */
	struct warning *warnings, **warnings_tail;
	/* of the conclusion */
	int metric, arm; /* which comparison speaks; -1: none */
	enum verdict verdict;
	enum guardrail worst; /* of the guardrails of this arm */
	const char *text;
};

/** An analysis without figures, in the arena. Borrows the plan and the texts of `facts`. */
struct analysis *analysis_new(struct arena *arena, const struct plan *plan,
                              enum analysis_source source, const struct result_facts *facts);

/** Figures of which only `n` and `mean` are known so far. */
struct arm_figures arm_figures_of(double n, double mean);

/** A pair of which nothing is known; `invalid` says why, NULL: it will be. */
struct pair_figures pair_untested(const char *invalid);

/** Adjust p, decide, warn. `previous`: the output of the newest results before, NULL for none. */
void analysis_conclude(struct analysis *analysis, yyjson_val *previous);

/** In place of analysis_conclude(), for results that do not fit the plan: there is no valid test,
 * for the reason `why`, the rest of a sentence. */
void analysis_refuse(struct analysis *analysis, const char *why);

/** What a guardrail says of an arm; -1: the metric is none, or there is no valid test of it. */
int analysis_guardrail(const struct analysis *analysis, size_t metric, size_t arm);

/** Whether the metric is a guardrail that says nothing of the arm that speaks, which may be harmed
 * for all that is known. */
bool analysis_lacks_guardrail(const struct analysis *analysis, size_t metric);

/** Set what follows from a comparison alone: the detectable effect, the units needed and, when it
 * has no variance, why there is no test. `units` of both arms. */
void analysis_complete_pair(const struct analysis *analysis, const struct planned_metric *metric,
                            struct pair_figures *pair, double baseline, double units);
