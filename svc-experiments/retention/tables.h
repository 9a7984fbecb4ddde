/** svc-experiments/retention/: the tables of the schema `experiments`. All belong to an experiment,
 * which its account deletes, and none has more rows of an experiment than a bound, the newest. */
#pragma once

#include "service/retained_table.h"

extern const struct retained_table EXPERIMENTS_TABLES[];
