#include "task/job_claim.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "job.sql.h"
#include "pg/pg.h"
#include "task/job_run.h"
#include "task/wake.h"

#include <string.h>

#define SHORT_SHARE 4 /* one slot of so many is kept for short jobs */
#define GATHER_MS   5

enum kinds { KINDS_ALL, KINDS_NOT_LONG, KINDS_QUICK };

static bool is_among(const struct tasks *tasks, const struct job *job, enum kinds kinds)
{
	return kinds == KINDS_ALL ||
	       (!job->is_long && (kinds != KINDS_QUICK || job_is_quick(tasks, job)));
}

static int kinds_count(const struct tasks *tasks, enum kinds among)
{
	int count = 0;
	for (const struct job *job = tasks->settings.jobs; job->kind; job++)
		count += is_among(tasks, job, among);
	return count;
}

/* Claim up to `count` tasks of these kinds and start their runs. False: no more of them wait, or
 * others are claiming them. */
static bool claim(struct request *rq, struct tasks *tasks, enum kinds among, int count)
{
	struct buf kinds = {.arena = rq->arena}, attempts = {.arena = rq->arena};
	for (const struct job *job = tasks->settings.jobs; job->kind; job++) {
		if (!is_among(tasks, job, among))
			continue;
		buf_printf(&kinds, "%c%s", kinds.length ? ',' : '{', job->kind);
		buf_printf(&attempts, "%c%d", attempts.length ? ',' : '{', job_attempts_max(job));
	}
	if (count <= 0 || !kinds.length)
		return true;
	buf_puts(&kinds, "}");
	buf_puts(&attempts, "}");
	const struct pg_rows *rows =
		pg_query(rq, JOB_CLAIM_SQL, pg_text(kinds.data), pg_text(attempts.data),
	                 pg_text(tasks->settings.instance), pg_int((int64_t)tasks_timing.lease),
	                 pg_int(count));
	for (int row = 0; row < rows->count; row++)
		job_run_start(tasks,
		              &(struct job_claimed){
				      .id = pg_get(rows, row, "id"),
				      .kind = pg_get(rows, row, "kind"),
				      .account = pg_get(rows, row, "account_id"),
				      .input = pg_get(rows, row, "input"),
				      .request_id = pg_get(rows, row, "request_id"),
				      .attempt = (int)pg_get_int(rows, row, "attempts"),
				      .interruptions = (int)pg_get_int(rows, row, "interruptions"),
			      });
	return rows->count == count;
}

/* How many more long jobs may run. */
static int long_slots_free(const struct tasks *tasks)
{
	int slots = tasks->settings.job_slots, running = 0;
	bool has_long = kinds_count(tasks, KINDS_NOT_LONG) < kinds_count(tasks, KINDS_ALL);
	int kept = slots > 1 && has_long ? MAX_OF(slots / SHORT_SHARE, 1) : 0;
	const struct job_run *run;
	LIST_FOREACH (run, &tasks->runs, entry)
		running += run->job->is_long;
	return MAX_OF(slots - kept - running, 0);
}

static int shares_free(const struct tasks *tasks)
{
	int used = 0;
	const struct job_run *run;
	LIST_FOREACH (run, &tasks->runs, entry)
		used += run->shares;
	return tasks->is_draining ? 0 : tasks->settings.job_slots * SLOT_SHARES - used;
}

static int slots_free(const struct tasks *tasks)
{
	return shares_free(tasks) / SLOT_SHARES;
}

static bool is_each_quick(const struct tasks *tasks)
{
	return kinds_count(tasks, KINDS_QUICK) == kinds_count(tasks, KINDS_ALL);
}

static int room_for_any(const struct tasks *tasks)
{
	return MIN_OF(slots_free(tasks), long_slots_free(tasks));
}

static int room_for_quick(const struct tasks *tasks)
{
	return shares_free(tasks) - SLOT_SHARES;
}

static int room_where_all_are_quick(const struct tasks *tasks)
{
	return MAX_OF(slots_free(tasks), room_for_quick(tasks));
}

/* What to claim next: the kinds, and for how many there is room. A step follows when the one before
 * it has found as many as it had room for. */
struct claim_step {
	enum kinds kinds;
	int (*room)(const struct tasks *tasks); /* NULL ends a table */
	bool is_extra; /* that it finds less does not say that no task waits for a slot */
};

static const struct claim_step STEPS[] = {
	{KINDS_ALL, room_for_any},                       /* slots that long jobs may have */
	{KINDS_NOT_LONG, slots_free},                    /* those that are kept from them */
	{KINDS_QUICK, room_for_quick, .is_extra = true}, /* shares, but of one slot */
	{0},
};

static const struct claim_step STEPS_WHERE_ALL_ARE_QUICK[] = {
	{KINDS_ALL, room_where_all_are_quick},
	{0},
};

/* False: no task waits that this process could run now. Whether others could run some is set,
 * too; a step without room has learnt nothing of that. */
static bool fill_slots(struct request *rq, struct tasks *tasks, bool *ret_is_left)
{
	const struct claim_step *step = is_each_quick(tasks) ? STEPS_WHERE_ALL_ARE_QUICK : STEPS;
	bool has_more = true;
	tasks->claimed_ms = time_monotonic_ms();
	*ret_is_left = false;
	for (; step->room && has_more; step++) {
		int room = step->room(tasks);
		bool is_full = claim(rq, tasks, step->kinds, room);
		has_more = is_full || step->is_extra;
		*ret_is_left |= is_full && room > 0;
	}
	return has_more;
}

/* Quick tasks end by the dozen, and one claim of many costs little more than one of a few: how long
 * to wait for more free slots. */
static uint64_t gathering_ms(const struct tasks *tasks)
{
	uint64_t waited_ms = time_monotonic_ms() - tasks->claimed_ms;
	bool is_half_free = shares_free(tasks) * 2 >= tasks->settings.job_slots * SLOT_SHARES;
	if (is_half_free || !is_each_quick(tasks))
		return 0;
	return GATHER_MS - MIN_OF(waited_ms, GATHER_MS);
}

/* Whether this process may have tasks to claim: it heard of some, or has left some. */
static bool may_find(const struct tasks *tasks)
{
	return tasks->announced != tasks->looked;
}

static void look(struct request *rq, struct tasks *tasks)
{
	unsigned announced = tasks->announced;
	bool is_left;
	job_wake_set_idle(tasks->settings.wake, false);
	if (!fill_slots(rq, tasks, &is_left))
		tasks->looked = announced;
	if (is_left) /* also for a process that found only tasks which others were claiming */
		wake_entry_add(rq->worker->redis, tasks->jobs_stream, tasks->settings.instance);
}

void job_claim_pass(struct request *rq)
{
	struct tasks *tasks = periodic_user(rq);
	if (slots_free(tasks) <= 0)
		return;
	if (may_find(tasks) && gathering_ms(tasks) > 0) {
		periodic_wake_in(tasks->reader, gathering_ms(tasks));
		return;
	}
	if (may_find(tasks))
		look(rq, tasks);
	if (may_find(tasks)) {
		periodic_wake(tasks->reader);
		return;
	}
	job_wake_set_idle(tasks->settings.wake, tasks->runs_count == 0 && !tasks->is_draining);
	if (periodic_is_idle(tasks->listener))
		periodic_wake(tasks->listener);
}

bool job_claim_look(struct tasks *tasks)
{
	tasks->announced++;
	bool has_slot = slots_free(tasks) > 0;
	if (has_slot)
		periodic_run(tasks->reader);
	return has_slot;
}

void job_claim_stop(struct tasks *tasks)
{
	job_wake_set_idle(tasks->settings.wake, false);
	periodic_stop(tasks->listener);
	if (periodic_is_idle(tasks->reader))
		periodic_stop(tasks->reader);
}

/* --- Leases ----------------------------------------------------------------------------------- */

/* The ids and attempts of the runs, as arrays for JOB_RENEW_SQL. One that has ended and is not
 * recorded yet still has its task. */
static void running_arrays(struct tasks *tasks, struct buf *ids, struct buf *attempts)
{
	struct job_run *run;
	LIST_FOREACH (run, &tasks->runs, entry) {
		run->is_in_renewal = true;
		buf_printf(ids, "%c%s", ids->length ? ',' : '{', run->task.id);
		buf_printf(attempts, "%c%d", attempts->length ? ',' : '{', run->task.attempt);
	}
	buf_puts(ids, "}");
	buf_puts(attempts, "}");
}

static bool has_row(const struct pg_rows *rows, const char *id)
{
	for (int row = 0; row < rows->count; row++) {
		if (strcmp(pg_get(rows, row, "id"), id) == 0)
			return true;
	}
	return false;
}

/* A run without a row in the answer has lost its task: another worker has claimed it, or it was
 * cancelled. */
static void cancel_lost(struct tasks *tasks, const struct pg_rows *rows)
{
	struct job_run *run;
	LIST_FOREACH (run, &tasks->runs, entry) {
		if (run->is_in_renewal && run->request && run->request->fiber &&
		    !run->is_complete && !has_row(rows, run->task.id))
			fiber_cancel(run->request->fiber, ERR_CONFLICT);
	}
}

void job_claim_renew_pass(struct request *rq)
{
	struct tasks *tasks = periodic_user(rq);
	struct buf ids = {.arena = rq->arena}, attempts = {.arena = rq->arena};
	if (LIST_EMPTY(&tasks->runs))
		return;
	running_arrays(tasks, &ids, &attempts);
	if (ids.length > 1) {
		const struct pg_rows *rows =
			pg_query(rq, JOB_RENEW_SQL, pg_text(ids.data), pg_text(attempts.data),
		                 pg_text(tasks->settings.instance),
		                 pg_int((int64_t)tasks_timing.lease));
		cancel_lost(tasks, rows);
	}
	periodic_wake_in(tasks->lease_renewer, tasks_timing.lease / 3);
}
