#include "retention/retention.h"

#include "export/export.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "retention.sql.h"

#include <stdio.h>

#define BATCH       10000 /* retention_forget in retention.sql */
#define BATCHES_MAX 100   /* of a pass: the rest waits for the next */
#define RUN_BATCH   500   /* runs; their accounts are locked meanwhile */
#define FIRST_ID    "00000000-0000-0000-0000-000000000000"

static int64_t run_days, rejection_days, run_detail_days;

const int64_t FLEET_RETENTION_EVERY_MS = (int64_t)3600 * 1000;

const struct setting FLEET_RETENTION_SETTINGS[] = {
	SETTING_INT(&run_days, "RUN_DAYS", "1100", 400, 36500,
                    "Days for which runs are kept, with all that is known of them, to the end of "
                    "the month."),
	SETTING_INT(&rejection_days, "REJECTION_DAYS", "800", 400, 36500,
                    "Days for which the papers that runs passed over are kept."),
	SETTING_INT(
		&run_detail_days, "RUN_DETAIL_DAYS", "400", 90, 36500,
		"Days for which the details of runs, such as their queries, are kept, to the end "
		"of the month."),
	SETTING_END,
};

static int64_t delete_runs(struct request *rq)
{
	char after[sizeof(FIRST_ID)] = FIRST_ID;
	int64_t deleted = 0;
	for (int i = 0; i < BATCHES_MAX; i++) {
		struct pg_rows *rows =
			pg_query(rq, RETENTION_DELETE_RUNS_SQL, pg_int(run_days), pg_text(after),
		                 pg_int(RUN_BATCH), pg_bool(export_is_required));
		const char *last = pg_get(rows, 0, "last_id");
		if (!last)
			break;
		snprintf(after, sizeof(after), "%s", last);
		deleted += pg_get_int(rows, 0, "deleted");
	}
	return deleted;
}

void fleet_retention_keep(struct request *rq)
{
	int64_t runs = delete_runs(rq);
	if (runs > 0)
		log_info("old runs removed", f_int("count", runs));
}

void fleet_rejections_keep(struct request *rq)
{
	int64_t deleted = 0, batch = BATCH;
	for (int i = 0; i < BATCHES_MAX && batch == BATCH; i++) {
		batch = pg_value_int(pg_query(rq, RETENTION_FORGET_SQL, pg_int(rejection_days)), 0);
		deleted += batch;
	}
	if (deleted > 0)
		log_info("old rejections removed", f_int("count", deleted));
}

/* A month is a transaction, so that the lock of one does not last while another is looked at. */
void fleet_months_keep(struct request *rq)
{
	int64_t details = 0, months = 0;
	while (pg_value_bool(pg_query(rq, RETENTION_DROP_DETAILS_SQL, pg_int(run_detail_days),
	                              pg_bool(export_is_required)),
	                     0))
		details++;
	while (pg_value_bool(pg_query(rq, RETENTION_DROP_RUNS_SQL, pg_int(run_days)), 0))
		months++;
	if (details || months)
		log_info("old months of runs and of their details dropped", f_int("runs", months),
		         f_int("details", details));
}
