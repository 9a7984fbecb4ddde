#include "retention/retention.h"

#include "observe/log.h"
#include "pg/pg.h"
#include "retention.sql.h"

#define BATCH       500 /* runs, and builds; a run may have some MiB of results */
#define BATCHES_MAX 100 /* of a pass: the rest waits for the next */

static int64_t evaluation_days;

const int64_t EVALENV_RETENTION_EVERY_MS = (int64_t)3600 * 1000;

const struct setting EVALENV_RETENTION_SETTINGS[] = {
	SETTING_INT(&evaluation_days, "EVALUATION_DAYS", "1100", 30, 36500,
                    "Days for which builds and evaluation runs are kept after their end."),
	SETTING_END,
};

const struct retained_table EVALENV_TABLES[] = {
	TABLE_AGES("work", "finished_at", "EVALUATION_DAYS", "after its end"),
	TABLE_AGES("run", "id", "EVALUATION_DAYS", "with its work"),
	TABLE_AGES("build", "id", "EVALUATION_DAYS", "with its work, when no run used it"),
	TABLE_AGES("run_large", "run_id", "EVALUATION_DAYS", "with the run"),
	TABLE_AGES("work_log", "work_id", "EVALUATION_DAYS", "with the work"),
	TABLE_AGES("delivery", "received_at", "DELIVERY_RETENTION", "when the run has ended"),
	TABLE_BOUND("work_watch", "one row"),
	TABLE_BOUND("template", "as many as the account makes"),
	TABLE_BOUND("template_version", "with the template; of the versions, those that runs used"),
	TABLES_END,
};

void evalenv_retention_keep(struct request *rq)
{
	int64_t deleted = 0, batch = 1;
	for (int i = 0; batch > 0 && i < BATCHES_MAX; i++) {
		batch = pg_value_int(pg_query(rq, RETENTION_DELETE_SQL, pg_int(evaluation_days),
		                              pg_int(BATCH)),
		                     0);
		deleted += batch;
	}
	if (deleted > 0)
		log_info("old builds and evaluation runs deleted", f_int("count", deleted));
}
