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
	while (has_alerts && pg_value_bool(pg_query(rq, COST_LOOK_NEXT_SQL), 0))
		;
}
