/** Experiments beside each other. Nothing is tested across them: they ran at different times and
 * with different users, so only their own intervals are shown.
 *
 *     {"experiments": [{"id", "name", "status"}],
 *      "fields": [{"field": "outcome", "values": ["ship", null], "differs": true}],
 *      "metrics": [{"key", "kind", "values": [{"id", "n", "mean", "low", "high", "relative",
 *                   "relative_low", "relative_high", "p_adjusted", "delta_confidence"}],
 *                   "comparable": true, "why_not": null}]}
 *
 * Fields that differ come first, else in the order of a table. Values are in the order of the
 * experiments; n, mean, low and high are of the arm that speaks, or of the first treatment. */
#pragma once

#include "json/json.h"

/** JSON text in the arena. `experiments`: an array of experiments with their members and
 * `analysis`, the newest one (output.h) or null. */
const char *side_by_side_json(struct arena *arena, yyjson_val *experiments);
