/** `results` and `results add`: the analysis of an experiment's results, and results from a file of
 * CSV.
 *
 *     arm,example,sample,group,accuracy,latency_ms
 *     control,q-17,1,,1,230
 *
 * A line is the result of an example, or of a whole run. Columns named `arm`, which must be there,
 * `example`, `sample` and `group` are those of the API's rows, and a column with the key of a
 * metric of the experiment's plan has its values, numbers; an empty cell is none. Other columns are
 * left out, and named. */
#pragma once

#include "command/command.h"

void results_add_run(struct cli *cli, const struct arguments *arguments);
