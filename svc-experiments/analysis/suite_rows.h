/** Runs of a benchmark suite (statistics/suite.h): each metric of the plan's suite is a task, each
 * row without an example a run, and its values are scaled so that tasks can be averaged. */
#pragma once

#include "analysis/analysis.h"

/** Compare the suite, which is the metric `number` of the plan, in rows that are runs of arms of
 * the plan. Without a task with values in both arms it has no figures. Adds a fault to `problem`
 * for a value that is far outside of its scale. */
void suite_read(struct analysis *analysis, yyjson_val *rows, size_t number,
                struct problem *problem);
