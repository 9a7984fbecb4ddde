/** Results of evaluations, a row a result:
 *
 *     {"arm": "control", "example": "q-17", "sample": 1, "group": "text-3", "metrics": {"accuracy": 1}}
 *
 * With `example`, a row is the result of an example. Samples of one example are averaged, or
 * counted for pass_at_k, and then both arms are compared example by example (statistics/paired.h);
 * examples of one `group` vary together. What is in one arm only is dropped and counted; when the
 * arms have no example in common, they are compared as independent ones.
 *
 * Without `example`, a row is a whole run, and `sample` its seed: runs with the same seeds in both
 * arms are paired, others independent. Few values make no bootstrap better than Student's t. */
#pragma once

#include "analysis/analysis.h"

/** Read an array of rows whose members were checked one by one. Adds a fault to `problem` for each
 * row that does not fit the plan or the other rows. */
void rows_read(struct analysis *analysis, yyjson_val *rows, struct problem *problem);
