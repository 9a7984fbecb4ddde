#include "budget/budget.h"
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

/* Some runs of an account in a transaction. */
void costs_compare(struct request *rq)
{
	if (!has_alerts)
		pg_query(rq, COST_LOOKS_DROP_SQL);
	while (has_alerts) {
		struct pg_rows *rows = pg_query(rq, COST_LOOK_ONE_SQL);
		const char *account = pg_get(rows, 0, "account_id");
		if (!account)
			break;
		budget_row_fault(pg_get(rows, 0, "fault"), "costs", account);
	}
}
