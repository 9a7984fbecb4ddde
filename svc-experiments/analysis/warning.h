/** Warnings of an analysis: `{"code", "metric", "text"}`. Thresholds are those of GrowthBook where
 * it has one. */
#pragma once

#include "analysis/analysis.h"

/** Add the warnings that the figures give. `previous`: the output of the results before; NULL:
 * there are none. */
void warnings_add(struct analysis *analysis, yyjson_val *previous);

/** Add a warning; its texts are static. `metric` NULL: it concerns the whole experiment. */
void warning_add(struct analysis *analysis, const char *code, const char *metric, const char *text);
