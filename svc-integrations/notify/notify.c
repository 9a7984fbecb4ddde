#include "notify/notify.h"

#include "message.sql.h"
#include "observe/log.h"
#include "pg/pg.h"

int64_t notify_days;

const struct setting NOTIFY_SETTINGS[] = {
	SETTING_INT(&notify_days, "NOTIFY_DAYS", "30", 1, 365,
                    "Days for which messages, their deliveries and attempts are kept."),
	SETTING_END,
};

const int64_t NOTIFY_DAYS_KEEP_EVERY_MS = 3600000;

void notify_days_keep(struct request *rq)
{
	struct pg_rows *rows = pg_query(rq, MESSAGE_DAYS_KEEP_SQL, pg_int(notify_days));
	if (pg_value_int(rows, 0) > 0)
		log_info("old messages dropped", f_int("days", pg_value_int(rows, 0)));
}
