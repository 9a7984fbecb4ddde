/** Results as sums over units, which are those of the whole experiment so far and never an
 * increment.
 *
 *     {"units": {"control": 10000, "treatment": 10450}, "multiple_exposures": 12,
 *      "metrics": [{"key": "conversion", "arms": [{"arm": "control", "n": 10000, "successes": 1200},
 *                                                 {"arm": "treatment", "n": 10450, "successes": 1345}]}]}
 *
 * An arm has, by the kind of its metric: `successes`; `sum` and `sum_squares`, or `mean` and
 * `variance`; for a ratio also `denominator_sum`, `denominator_sum_squares` and `sum_products`; for
 * a quantile `value`, `lower` and `upper`. Means and proportions may have `pre_sum`,
 * `pre_sum_squares` and `pre_sum_products` of a value from before the experiment. */
#pragma once

#include "analysis/analysis.h"

/** Read a body whose members were checked one by one. Adds a fault to `problem` for each arm whose
 * numbers do not fit together, and for what the plan does not have. */
void sums_read(struct analysis *analysis, yyjson_val *body, struct problem *problem);
