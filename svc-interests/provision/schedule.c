#include "provision/schedule.h"

#include "input/key_limit.h"
#include "json/json.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "provision/setup.h"
#include "reply/resource.h"
#include "request/audited.h"
#include "schedule.sql.h"
#include "steps.sql.h"

/* Agents that one transaction starts. */
#define BATCH 100

int64_t schedule_check_ms;

const struct setting SCHEDULE_SETTINGS[] = {
	SETTING_MS(&schedule_check_ms, "SCHEDULE_CHECK", "30s", 50, 3600000,
                   "Interval of looking for agents that their interest's schedule starts."),
	SETTING_END,
};

static const char *const EVERY[] = {"off", "daily", "weekly", NULL};

const struct field SCHEDULE_FIELDS[] = {
	JSON_ENUM("every", OPTIONAL, EVERY),     JSON_INT("weekday", OPTIONAL, 1, 7),
	JSON_INT("hour", OPTIONAL, 0, 23),       JSON_INT("minute", OPTIONAL, 0, 59),
	JSON_TEXT("time_zone", OPTIONAL, 1, 64), FIELD_END,
};

void schedules_run(struct request *rq)
{
	int64_t count;
	do {
		count = pg_value_int(pg_query(rq, SCHEDULES_RUN_SQL, pg_int(BATCH)), 0);
		if (count > 0)
			log_info("schedules of agents have come", f_int("agents", count));
	} while (count == BATCH);
}

void scheduled_run_run(struct request *rq, struct task *task)
{
	const char *interest = json_get_text(task->input, "interest_id");
	struct pg_rows *rows = pg_query(rq, SCHEDULED_RUN_LOAD_SQL, pg_text(interest));
	const char *obstacle =
		pg_empty(rows) ? "The interest was deleted." : pg_get(rows, 0, "obstacle");
	if (!pg_empty(rows) && pg_get_bool(rows, 0, "is_provisioned"))
		raise_error(rq, ERR_UNAVAILABLE, "the agent is being provisioned");
	if (!obstacle) {
		yyjson_val *row = json_parse_own(rq->arena, pg_get(rows, 0, "provisioning"));
		const char *date = json_get_text(task->input, "local_date");
		obstacle = setup_dispatch(rq, row, arena_printf(rq->arena, "schedule %s", date));
	}
	task_complete(rq, task, "{}", obstacle ? obstacle : "The run was started.");
}

struct pause_input {
	const char *interest;
};

static const struct field PAUSE_FIELDS[] = {
	PATH_INTEREST(struct pause_input, interest),
	FIELD_END,
};

static void set_pause(struct request *rq, bool is_paused)
{
	struct pause_input *in = request_input(rq, struct pause_input, PAUSE_FIELDS);
	audited_begin(rq); /* committed together with the answer */
	struct pg_rows *rows = pg_query(rq, AGENT_PAUSE_SQL, pg_uuid(rq->caller.account),
	                                pg_text(in->interest), pg_bool(is_paused));
	if (!is_paused && !pg_empty(rows))
		pg_query(rq, FIRST_RUN_QUEUE_SQL, pg_text(in->interest));
	reply_one(rq, 200, rows, "no such interest");
}

void agent_pause(struct request *rq)
{
	set_pause(rq, true);
}

void agent_resume(struct request *rq)
{
	set_pause(rq, false);
}
