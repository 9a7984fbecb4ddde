#include "candidate/retention.h"

#include "observe/log.h"
#include "pg/pg.h"
#include "retention.sql.h"

#define BATCH       10000 /* retention_forget in retention.sql */
#define BATCHES_MAX 100   /* of a pass: the rest waits for the next */

static int64_t rejection_days, run_detail_days;

const int64_t FLEET_RETENTION_EVERY_MS = (int64_t)3600 * 1000;

const struct setting FLEET_RETENTION_SETTINGS[] = {
	SETTING_INT(&rejection_days, "REJECTION_DAYS", "800", 400, 36500,
                    "Days for which the papers that runs passed over are kept."),
	SETTING_INT(
		&run_detail_days, "RUN_DETAIL_DAYS", "400", 90, 36500,
		"Days for which the details of runs, such as their queries, are kept, to the end "
		"of the month."),
	SETTING_END,
};

void fleet_retention_keep(struct request *rq)
{
	int64_t forgotten = 0, batch = BATCH;
	for (int i = 0; i < BATCHES_MAX && batch == BATCH; i++) {
		batch = pg_value_int(pg_query(rq, RETENTION_FORGET_SQL, pg_int(rejection_days)), 0);
		forgotten += batch;
	}
	int64_t months = pg_value_int(pg_query(rq, RETENTION_DROP_SQL, pg_int(run_detail_days)), 0);
	if (forgotten || months)
		log_info(LOG_GROUP_APP, "old rejections and details of runs removed",
		         f_int("rejections", forgotten), f_int("months", months));
}
