/** svc-evalenv/retention/: how long builds and runs are kept after their end, with their logs and
 * results. A build stays as long as a run that used it. Experiments keep the results that they
 * compare (svc-experiments). */
#pragma once

#include "base/config.h"
#include "loop/request.h"
#include "service/retained_table.h"

/** EVALUATION_DAYS. */
extern const struct setting EVALENV_RETENTION_SETTINGS[];

/** The tables of the schema `evalenv`. */
extern const struct retained_table EVALENV_TABLES[];

/** Recurring. */
void evalenv_retention_keep(struct request *rq);
extern const int64_t EVALENV_RETENTION_EVERY_MS;
