/** When an agent looks for something to do: the `schedule` of its interest,
 *
 *     {"every": "weekly", "weekday": 1, "hour": 8, "minute": 0, "time_zone": "Europe/Berlin"}
 *
 * `every` is off, daily or weekly; weekday 1 is Monday. Postgres computes the times
 * (product/local_time.fn.sql). A pass of one process at a time finds the agents whose time has
 * come, and in one transaction starts a task for each and plans its next time. So a date starts an
 * agent at most once, whoever is killed: the task starts the workflow under a key of the date. A
 * time that comes while the agent is provisioned, and a task, wait for the end of that. The
 * workflow has no schedule of its own, so a pause is obeyed at once, also by tasks that wait. */
#pragma once

#include "base/config.h"
#include "input/input.h"
#include "task/task.h"

/** SCHEDULE_CHECK. */
extern const struct setting SCHEDULE_SETTINGS[];
extern int64_t schedule_check_ms;

/** The members of `schedule` in the body of an interest. */
extern const struct field SCHEDULE_FIELDS[];

/** The violation of an unknown time zone, for the constraints of a statement that writes it. */
#define CONSTRAINT_SCHEDULE                                                \
	{                                                                  \
		"interest_time_zone", ERR_INVALID, "schedule.time_zone",   \
			"must be a time zone such as Europe/Berlin or UTC" \
	}

/** Start the agents whose time has come; for service.recurring. */
void schedules_run(struct request *rq);

/** The job `scheduled_run`: {"interest_id", "repo", "local_date"}. What the code host refuses fails
 * the task, which the account is told of with the repository (`task.failed`). */
void scheduled_run_run(struct request *rq, struct task *task);

/** The operations agent_pause and agent_resume. */
void agent_pause(struct request *rq);
void agent_resume(struct request *rq);
