/** svc-fleet/retention/: how long is kept what is known of runs.
 *
 * **Runs**, and what is of a run, go when their month (UTC) ended RUN_DAYS ago: in batches, because
 * the sums of days, repositories and agents, and what the run opened follow in the same
 * transaction: totals and reports count the runs that are there. The empty partition of the month
 * is then dropped, so that nothing has to be vacuumed. The periods of budgets stay as they were.
 *
 * With EXPORT_REQUIRED runs wait for their export (export/export.h), and details for that of all
 * runs of their month.
 *
 * **Details** of runs go by whole months: no sum is made of them, so their partitions are dropped
 * as they are.
 *
 * Every step is a transaction of its own, and finds by what is there how far the last came, so a
 * process may end between any two, and replicas may do the same at once.
 */
#pragma once

#include "base/config.h"
#include "loop/request.h"
#include "service/retained_table.h"

/** RUN_DAYS, REJECTION_DAYS, RUN_DETAIL_DAYS. */
extern const struct setting FLEET_RETENTION_SETTINGS[];

/** The tables of the schema `fleet`. */
extern const struct retained_table FLEET_TABLES[];

/** Recurring, each by itself, so that one that fails holds up no other: runs; what they passed
 * over; months of details, and empty ones of runs. */
void fleet_retention_keep(struct request *rq);
void fleet_rejections_keep(struct request *rq);
void fleet_months_keep(struct request *rq);
extern const int64_t FLEET_RETENTION_EVERY_MS;
