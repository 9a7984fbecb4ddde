/** An analysis as JSON and as CSV.
 *
 *     {"analysis_id", "experiment_id", "at", "by", "source": "metrics",
 *      "unit": "unit", "mode": "sequential", "alpha": 0.05, "units": {"control": 10000}, "allocation": {"chi_square", "df", "p", "ok"},
 *      "metrics": [{"key", "kind", "goal", "role",
 *                   "arms": [{"arm", "n", "mean", "low", "high", "spread"}],
 *                   "comparisons": [{"arm", "effect", "low", "high", "p", "p_adjusted", "relative",
 *                                    "relative_low", "relative_high", "adjusted", "minimum_detectable",
 *                                    "needed_n"}], "guardrail"}],
 *      "observed_delta", "delta_relative", "delta_confidence", "verdict", "text", "advice",
 *      "warnings": [{"code", "metric", "text"}], "dropped_examples", "missing_runs",
 *      "left_out_runs", "template_digest"}
 *
 * What is not defined is null; `spread`, {"min", "max"}, is there for runs. The first four members
 * are those of the stored analysis, which the database adds. */
#pragma once

#include "analysis/analysis.h"

/** The JSON text of an analysis after analysis_conclude(), in its arena; `source` is where
 * the results come from: `metrics`, `rows`, `eval_runs` or `telemetry`. */
const char *analysis_json(const struct analysis *analysis, const char *source);

/** CSV of a stored analysis, in the arena (RFC 4180; CRLF, and a header): a line for each arm of
 * each metric, with its comparison where it is no control. */
const char *analysis_csv(struct arena *arena, yyjson_val *analysis, size_t *ret_length);
