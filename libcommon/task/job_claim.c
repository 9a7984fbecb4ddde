#include "task/job_claim.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "job.sql.h"
#include "pg/pg.h"
#include "task/announce.h"
#include "task/job_run.h"

#define SHORT_SHARE 4 /* one slot of so many is kept for short jobs */
#define GATHER_MS   5

/* Columns of JOB_CLAIM_SQL. */
enum { ROW_ID, ROW_KIND, ROW_ATTEMPTS, ROW_INTERRUPTIONS, ROW_ACCOUNT, ROW_INPUT, ROW_REQUEST };

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
		job_run_start(tasks, &(struct job_claimed){
					     .id = pg_value(rows, row, ROW_ID),
					     .kind = pg_value(rows, row, ROW_KIND),
					     .account = pg_value(rows, row, ROW_ACCOUNT),
					     .input = pg_value(rows, row, ROW_INPUT),
					     .request_id = pg_value(rows, row, ROW_REQUEST),
					     .attempt = (int)pg_value_int(rows, row, ROW_ATTEMPTS),
					     .interruptions = (int)pg_value_int(rows, row,
		                                                                ROW_INTERRUPTIONS),
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

/* Claim tasks for the free slots, then quick ones for what is free beyond one slot. False: no task
 * waits that this process could run now. Whether others could run some is set, too. */
static bool fill_slots(struct request *rq, struct tasks *tasks, bool *ret_is_left)
{
	int slots = slots_free(tasks), any = MIN_OF(slots, long_slots_free(tasks));
	tasks->claimed_ms = time_monotonic_ms();
	if (is_each_quick(tasks)) {
		*ret_is_left = claim(rq, tasks, KINDS_ALL,
		                     MAX_OF(slots, shares_free(tasks) - SLOT_SHARES));
		return *ret_is_left;
	}
	bool has_more = claim(rq, tasks, KINDS_ALL, any);
	bool is_full = has_more && claim(rq, tasks, KINDS_NOT_LONG, slots - any);
	if (is_full)
		claim(rq, tasks, KINDS_QUICK, shares_free(tasks) - SLOT_SHARES);
	/* Without a slot for long tasks, nothing was learnt of those. */
	*ret_is_left = is_full || (has_more && any > 0);
	return is_full;
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

/* Whether this process may have tasks to claim: it was told of some, or has left some. */
static bool may_find(const struct tasks *tasks)
{
	return tasks->told != tasks->looked;
}

static void look(struct request *rq, struct tasks *tasks)
{
	unsigned told = tasks->told;
	bool is_left;
	job_wake_set_idle(tasks->settings.wake, false);
	if (!fill_slots(rq, tasks, &is_left))
		tasks->looked = told;
	if (is_left) /* also for a process that found only tasks which others were claiming */
		announce_tasks(rq->worker->redis, tasks->jobs_stream, tasks->settings.instance);
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
	tasks->told++;
	bool has_slot = slots_free(tasks) > 0;
	if (has_slot)
		periodic_run(tasks->reader);
	return has_slot;
}

void job_claim_on_wake(void *context)
{
	struct tasks *tasks = context;
	if (!job_claim_look(tasks))
		announce_tasks(tasks->worker->redis, tasks->jobs_stream, NULL);
}

void job_claim_stop(struct tasks *tasks)
{
	job_wake_set_idle(tasks->settings.wake, false);
	periodic_stop(tasks->listener);
	if (periodic_is_idle(tasks->reader))
		periodic_stop(tasks->reader);
}
