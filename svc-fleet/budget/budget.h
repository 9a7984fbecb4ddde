/** svc-fleet/budget/: what runs cost, and what they may cost.
 *
 *     budget.c   making, listing and deleting budgets; the daily check of their figures
 *     price.c    the list of the prices of models: reading the file, and GET /fleet/prices
 *     reservation.c  what starts and runs reserve (reservation.h)
 *     unusual.c  costs that stand out
 *     row_work.c  recurring work on rows of many accounts
 *     reprice.c  `svc-fleet reprice`: estimates made anew after a correction of the list
 *
 * Words used here:
 *   spend     what a run cost, in USD, the sum over its attempts; unknown is never 0
 *   basis     how it is known: `reported`, the run told cost_usd; `estimated`, it told tokens, and
 *             the list has a price; `assumed`, neither, so what was reserved counts. A run's basis
 *             is the least certain one of its attempts
 *   attempt   an execution of a run; the code host can run it again under the same run_id
 *   budget    a bound of what the runs of the account, a repository or an interest may cost in each
 *             day, week or month of a time zone's calendar. The account is told when a share of it
 *             is spent. With the action `stop`, no run starts for which too little is left
 *   price     USD for a million tokens of a model, by kind of token, from a day on
 *
 * What a run told as cost_usd stays what it told, and sums of cost of the fleet report are sums of
 * that. The rules are in SQL: spend.fn.sql, price.fn.sql, budget.fn.sql, reservation.fn.sql,
 * admission.fn.sql and unusual.fn.sql. */
#pragma once

#include "base/config.h"
#include "loop/request.h"

#include <stdint.h>

struct process;

/** PUT /fleet/budgets: make the budget of a scope, target and period, or replace it. */
void budget_put(struct request *rq);

/** GET /fleet/budgets. A key that is limited sees those of its repository and interest, and of the
 * account's only whether they are reached. */
void budget_list(struct request *rq);

/** GET /fleet/budgets/{budget_id}/history: periods that have ended, newest first. */
void budget_history_list(struct request *rq);

/** DELETE /fleet/budgets/{budget_id} */
void budget_delete(struct request *rq);

/** Recurring work: compare the figures of each budget with the runs once a day, and mend them. */
void budgets_check(struct request *rq);
extern const int64_t BUDGETS_CHECK_EVERY_MS;

/** Recurring work: find costs of runs and days that stand out, unless COST_ALERTS is false. */
void costs_compare(struct request *rq);
extern const int64_t COSTS_COMPARE_EVERY_MS;

/** COST_ALERTS. */
extern const struct setting COST_SETTINGS[];

/** PRICES_FILE. */
extern const struct setting PRICE_SETTINGS[];

/** Read and check the list of prices; faults go to standard error. For the start: `settings_check`
 * (service/service.h). ERR_INVALID: the process must not start. */
enum err_code prices_init(void);

/** Recurring work, also at SIGHUP: read the list again and store it if it has changed. One that has
 * a fault is logged and leaves the prices as they are. */
void prices_refresh(struct request *rq);
extern const int64_t PRICES_EVERY_MS;

/** GET /fleet/prices */
void fleet_prices_get(struct request *rq);

/** `svc-fleet reprice --since DATE`. Returns the exit status. */
int reprice_command(struct process *process, int argc, char **argv);
