/** svc-experiments/analysis/: from the plan and the results of an experiment to its analysis. It
 * reads and writes JSON and knows no database; what it computes is in statistics/.
 *
 *     plan.c      the plan: what `ab_test_config` says of arms, metrics and the test
 *     analysis.c  the figures, and what follows from them: adjusted p, the word, advice
 *     members.c   what a body of results may have
 *     sums.c      results as sums, of an experiment platform
 *     rows.c      results as rows, a row an example of an evaluation or a whole run
 *     suite_rows.c  runs of a suite of tasks
 *     warning.c   what a reader of the figures should know
 *     output.c    the analysis as JSON and as CSV
 *     side_by_side.c  several experiments beside each other
 *
 * This header: the plan.
 *
 *     {"arms": [{"key": "control", "control": true}, {"key": "treatment"}],
 *      "metrics": [{"key": "conversion", "kind": "proportion"}], "mode": "sequential"}
 *
 * A `suite` names metrics that form one benchmark. It becomes a primary metric of its own, and its
 * metrics, unless they have a role, secondary ones. */
#pragma once

#include "json/json.h"
#include "json/problem.h"

#define PLAN_ARMS_MAX    10
#define PLAN_METRICS_MAX 50
#define PLAN_KEY_MAX     100 /* code points */

enum metric_kind {
	KIND_PROPORTION,
	KIND_MEAN,
	KIND_RATIO,
	KIND_QUANTILE,
	KIND_PASS_AT_K,
	KIND_SUITE, /* of several metrics, together; made by plan_read() */
};

enum metric_role { ROLE_PRIMARY, ROLE_SECONDARY, ROLE_GUARDRAIL };

struct planned_arm {
	const char *key;
	double weight; /* share of the units that it gets, not scaled; 0: it gets none */
};

struct planned_metric {
	const char *key;
	enum metric_kind kind;
	enum metric_role role;
	bool is_lower_better;
	double min_effect, max_harm; /* relative */
	double quantile;             /* of KIND_QUANTILE: its level */
	int64_t k;                   /* of KIND_PASS_AT_K */
	bool is_in_suite;
	double scale_low, scale_high; /* in a suite: what becomes 0 and 1 */
};

struct plan {
	struct planned_arm arms[PLAN_ARMS_MAX];
	size_t arm_count, control;                           /* its number among them */
	struct planned_metric metrics[PLAN_METRICS_MAX + 1]; /* with the suite */
	size_t metric_count;
	const char *mode; /* `sequential` or `fixed`; NULL: by the source of the results */
	double alpha, power;
	double planned_n; /* units in each arm; 0: not planned */
};

/** Values of the members `kind`, `goal`, `role` and `mode`, NULL at the end, in the order of the
 * enumerations. */
extern const char *const METRIC_KINDS[], *const METRIC_GOALS[], *const METRIC_ROLES[],
									*const PLAN_MODES[];

/** Read the plan in the member `ab_test_config` of an object; without one, or where that is no
 * object, the plan has two arms and no metrics. Checks every member, also of plans that were
 * stored before there was a check, and adds every fault to `problem`; `ret` is then unset. The
 * texts borrow from `holder`. */
void plan_read(struct arena *arena, yyjson_val *holder, struct problem *problem, struct plan *ret);

/** The number of the arm or metric with that key; -1: there is none. `key` may be NULL. */
int plan_arm(const struct plan *plan, const char *key);
int plan_metric(const struct plan *plan, const char *key);
