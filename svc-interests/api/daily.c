#include "api/daily.h"

#include "api/settings.h"
#include "base/log.h"
#include "loop/request.h"
#include "pg/pg.h"
#include "refresh.sql.h"

#include <stdlib.h>

#define FIRST_LOOK_MS   100 /* until the schema has been migrated */
#define LOOK_TIMEOUT_MS 30000

struct daily {
	uv_timer_t timer;
	struct worker *worker;
	bool is_looking;
};

static void look(struct request *rq)
{
	struct pg_rows *rows = pg_query(rq, DAILY_START_SQL, pg_int(interests_settings.daily_hour));
	if (!pg_empty(rows))
		log_info(LOG_GROUP_APP, "daily run started", f_text("day", pg_value(rows, 0, 0)),
		         f_int("tasks", pg_value_int(rows, 0, 1)));
}

static void looked(struct request *rq)
{
	struct daily *daily = rq->user;
	daily->is_looking = false;
	if (rq->problem.code)
		log_warn(LOG_GROUP_APP, "daily run could not be started",
		         f_text("reason", rq->problem.detail));
}

static void on_timer(uv_timer_t *timer)
{
	struct daily *daily = timer->data;
	struct process *process = daily->worker->process;
	if (process->is_draining || daily->is_looking)
		return;
	if (!process->is_migrated) {
		uv_timer_start(timer, on_timer, FIRST_LOOK_MS,
		               (uint64_t)interests_settings.daily_check_ms);
		return;
	}
	daily->is_looking = true;
	request_spawn(daily->worker, "daily", LOOK_TIMEOUT_MS, look, looked, daily);
}

void daily_start(struct worker *worker)
{
	struct daily *daily = calloc(1, sizeof(*daily));
	require(daily);
	daily->worker = worker;
	uv_timer_init(&worker->loop, &daily->timer);
	daily->timer.data = daily;
	worker->user = daily;
	uv_timer_start(&daily->timer, on_timer, FIRST_LOOK_MS,
	               (uint64_t)interests_settings.daily_check_ms);
}

static void on_closed(uv_handle_t *timer)
{
	free(timer->data);
}

void daily_stop(struct worker *worker)
{
	struct daily *daily = worker->user;
	worker->user = NULL;
	uv_close((uv_handle_t *)&daily->timer, on_closed);
}
