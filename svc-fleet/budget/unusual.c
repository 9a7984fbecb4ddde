#include "budget/budget.h"
#include "budget/row_work.h"
#include "pg/pg.h"
#include "unusual.sql.h"

const int64_t COSTS_COMPARE_EVERY_MS = 30 * 1000;

static bool has_alerts;

const struct setting COST_SETTINGS[] = {
	SETTING_BOOL(&has_alerts, "COST_ALERTS", "true",
                     "Look for runs and days that cost much more than those before them, and tell "
                     "their accounts."),
	SETTING_END,
};

/* Some runs of each account, and then again, so that those of one do not wait for all of another.
 */
void costs_compare(struct request *rq)
{
	static struct row_work work = {
		.row = "costs",
		.next_sql = COST_LOOK_NEXT_SQL,
		.run_sql = COST_LOOK_ACCOUNT_SQL,
		.leave_out_sql = COST_LOOK_LEAVE_OUT_SQL,
	};
	if (has_alerts)
		rows_work(rq, &work, NULL);
	else
		pg_query(rq, COST_LOOKS_DROP_SQL);
}
