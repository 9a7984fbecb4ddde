#include "refresh/daily.h"

#include "base/timefmt.h"
#include "daily.sql.h"
#include "json/json.h"
#include "observe/log.h"
#include "pg/pg.h"

#include <stdio.h>
#include <string.h>

/* Accounts that one statement gives their tasks. */
#define BATCH 500

static const char *latest;
int64_t daily_check_ms;

const struct setting DAILY_SETTINGS[] = {
	SETTING_TEXT(&latest, "REFRESH_LATEST", "06:00",
                     "When the day's recommendations are made if the papers of the night have not "
                     "come, HH:MM and a time zone (default UTC)."),
	SETTING_MS(&daily_check_ms, "DAILY_CHECK", "1m", 50, 3600000,
                   "Interval of checking whether the daily recommendations are due."),
	SETTING_END,
};

enum err_code daily_settings_check(void)
{
	struct time_of_day at = time_of_day_split(latest);
	if (time_of_day_is_valid(&at))
		return ERR_NONE;
	fprintf(stderr, "REFRESH_LATEST: must be HH:MM and a time zone, such as 06:00 UTC\n");
	return ERR_INVALID;
}

static void start_if_late(struct request *rq)
{
	struct time_of_day at = time_of_day_split(latest);
	struct pg_rows *rows;
	enum err_code code =
		pg_try(rq, &rows, NULL, DAILY_START_LATE_SQL, pg_text(at.time), pg_text(at.zone));
	if (code == ERR_INVALID)
		log_error("REFRESH_LATEST has an unknown time zone", f_text("value", latest));
	else if (code)
		pg_raise(rq, code);
	else if (!pg_empty(rows))
		log_info("daily run started", f_text("day", pg_value(rows, 0)));
}

void daily_run(struct request *rq)
{
	bool is_over = false;
	start_if_late(rq);
	while (!is_over) {
		struct pg_rows *rows = pg_query(rq, DAILY_QUEUE_SQL, pg_int(BATCH));
		if (pg_empty(rows))
			return;
		is_over = pg_get_bool(rows, 0, "is_over");
		log_info(is_over ? "daily run queued" : "daily run goes on",
		         f_text("day", pg_get(rows, 0, "day")),
		         f_int("tasks", pg_get_int(rows, 0, "tasks")));
	}
}

void daily_harvest_finished(struct request *rq, const struct event *event)
{
	const char *source = event_require_text(rq, event, "source");
	if (strcmp(source, "arxiv") != 0 || !json_get_bool(event->data, "is_day_complete", false))
		return;
	struct pg_rows *rows = pg_query(rq, DAILY_START_COMPLETE_SQL,
	                                pg_text(event_require_text(rq, event, "day")));
	if (!pg_empty(rows))
		log_info("daily run started", f_text("day", pg_value(rows, 0)));
}
