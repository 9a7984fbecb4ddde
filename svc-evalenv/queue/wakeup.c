#include "queue/wakeup.h"

#include "base/timefmt.h"
#include "observe/metrics.h"
#include "pg/pg.h"
#include "service/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>

#define CHANNEL   "evalenv_work"
#define TICK_MS   100
#define NOTE_SIZE 64 /* `build 0197a0b1-c2d3-7e4f-8a5b-6c7d8e9f0a1b` */
#define NOTES_MAX 64

static int64_t look_again_ms, waiting_max;

const struct setting WAKEUP_SETTINGS[] = {
	SETTING_MS(&look_again_ms, "WORK_LOOK_AGAIN", "5s", 100, 3600000,
                   "How long a waiting claim waits for a notification before it looks for work by "
                   "itself."),
	SETTING_INT(
		&waiting_max, "CLAIMS_WAITING_MAX", "100", 1, 1000000,
		"Claims of an account that may wait for work at once, in each event loop; those "
		"with service:any_user are not counted."),
	SETTING_END,
};

METRIC_GAUGE(waiting_gauge, "expops_claims_waiting", "Claims of workers that wait for work.");

struct waiter {
	struct request *rq;
	const char *kind, *account;
	const char *repo; /* NULL: all */
	uint64_t until_ms, look_at_ms;
	bool is_woken, is_over;
	char note[NOTE_SIZE]; /* that has woken it; "": none, or it was used */
	TAILQ_ENTRY(waiter) entry;
};

/* The waiting claims of one event loop. The loop's thread alone uses what is not under the lock. */
struct hub {
	struct worker *worker;
	TAILQ_HEAD(, waiter) waiters; /* in the order in which they are woken */
	uv_timer_t tick;              /* runs while somebody waits */
	uv_async_t posted;
	uv_mutex_t lock; /* of the rest */
	bool is_open;    /* `posted` may be sent */
	bool is_overrun; /* more notes than there is room for: everybody looks */
	int note_count;
	char notes[NOTES_MAX][NOTE_SIZE];
};

static bool is_for(const struct waiter *waiter, const char *note)
{
	size_t length = strlen(waiter->kind);
	return strncmp(note, waiter->kind, length) == 0 && note[length] == ' ' &&
	       (!waiter->account || strcmp(note + length + 1, waiter->account) == 0);
}

static void wake(struct waiter *waiter)
{
	waiter->is_woken = true;
	fiber_wake(waiter->rq->fiber);
}

static bool is_of_repo(const struct waiter *waiter, const char *repo)
{
	return waiter->repo && repo && strcasecmp(waiter->repo, repo) == 0;
}

/* Wake the first one from `waiter` on that may take the work; not one that is limited to `repo`, if
 * that is not NULL. One that is limited and has looked with another note in vain, or will, passes
 * that on. Each note goes to later ones only, so that two that are limited do not give it to each
 * other again and again. */
static void wake_from(struct waiter *waiter, const char *note, const char *repo)
{
	char passed[NOTE_SIZE], before[NOTE_SIZE];
	snprintf(passed, NOTE_SIZE, "%s", note);
	for (; waiter; waiter = TAILQ_NEXT(waiter, entry)) {
		if (waiter->is_woken || !is_for(waiter, passed) || is_of_repo(waiter, repo))
			continue;
		memcpy(before, waiter->note, NOTE_SIZE);
		memcpy(waiter->note, passed, NOTE_SIZE);
		wake(waiter);
		if (!waiter->repo || !before[0])
			return;
		memcpy(passed, before, NOTE_SIZE);
		repo = waiter->repo;
	}
}

static void wake_one(struct hub *hub, const char *note)
{
	wake_from(TAILQ_FIRST(&hub->waiters), note, NULL);
}

/* It has looked and found nothing. What it may not take may be there. */
static void pass_on(struct waiter *waiter)
{
	if (waiter->repo && waiter->note[0])
		wake_from(TAILQ_NEXT(waiter, entry), waiter->note, waiter->repo);
	waiter->note[0] = '\0';
}

static void wake_all(struct hub *hub)
{
	struct waiter *waiter;
	TAILQ_FOREACH (waiter, &hub->waiters, entry)
		wake(waiter);
}

/* --- From the listening thread to the others -------------------------------------------------- */

static void on_posted(uv_async_t *posted)
{
	struct hub *hub = posted->data;
	char notes[NOTES_MAX][NOTE_SIZE];
	uv_mutex_lock(&hub->lock);
	bool is_overrun = hub->is_overrun;
	int count = hub->note_count;
	memcpy(notes, hub->notes, sizeof(notes[0]) * (size_t)count);
	hub->is_overrun = false;
	hub->note_count = 0;
	uv_mutex_unlock(&hub->lock);
	if (is_overrun)
		wake_all(hub);
	for (int i = 0; i < count; i++)
		wake_one(hub, notes[i]);
}

static void post(struct hub *hub, const char *note)
{
	uv_mutex_lock(&hub->lock);
	if (!note || hub->note_count == NOTES_MAX)
		hub->is_overrun = true;
	else
		snprintf(hub->notes[hub->note_count++], NOTE_SIZE, "%s", note);
	if (hub->is_open)
		uv_async_send(&hub->posted);
	uv_mutex_unlock(&hub->lock);
}

/* `payload` NULL: connected again, so notifications may have been missed. */
static void on_notification(void *context, const char *payload)
{
	struct process *process = context;
	struct hub *hubs = process->user;
	for (int i = 0; i < process->worker_count; i++)
		post(&hubs[i], payload);
}

void wakeups_listen(struct worker *background)
{
	pg_listen(background->pg, CHANNEL, on_notification, background->process);
}

/* --- Start and stop --------------------------------------------------------------------------- */

void wakeups_start(struct process *process)
{
	struct hub *hubs = calloc((size_t)process->worker_count + 1, sizeof(*hubs));
	require(hubs);
	for (int i = 0; i < process->worker_count; i++) {
		require(uv_mutex_init(&hubs[i].lock) == 0);
		TAILQ_INIT(&hubs[i].waiters);
	}
	process->user = hubs;
}

void wakeups_stop(struct process *process)
{
	struct hub *hubs = process->user;
	for (int i = 0; i < process->worker_count; i++)
		uv_mutex_destroy(&hubs[i].lock);
	free(hubs);
}

void wakeup_worker_start(struct worker *worker)
{
	struct hub *hub = (struct hub *)worker->process->user + worker->index;
	hub->worker = worker;
	worker->user = hub;
	uv_timer_init(&worker->loop, &hub->tick);
	require(uv_async_init(&worker->loop, &hub->posted, on_posted) == 0);
	hub->tick.data = hub->posted.data = hub;
	uv_unref((uv_handle_t *)&hub->posted);
	uv_mutex_lock(&hub->lock);
	hub->is_open = true;
	uv_mutex_unlock(&hub->lock);
}

void wakeup_worker_stop(struct worker *worker)
{
	struct hub *hub = worker->user;
	uv_mutex_lock(&hub->lock);
	hub->is_open = false;
	uv_mutex_unlock(&hub->lock);
	uv_close((uv_handle_t *)&hub->posted, NULL);
	uv_close((uv_handle_t *)&hub->tick, NULL);
}

/* --- Waiting ---------------------------------------------------------------------------------- */

static void on_tick(uv_timer_t *tick)
{
	struct hub *hub = tick->data;
	uint64_t now_ms = time_monotonic_ms();
	struct waiter *waiter;
	TAILQ_FOREACH (waiter, &hub->waiters, entry) {
		if (now_ms >= waiter->until_ms || hub->worker->process->is_stopping) {
			waiter->is_over = true;
			fiber_wake(waiter->rq->fiber);
		} else if (now_ms >= waiter->look_at_ms) {
			wake(waiter);
		}
	}
}

/* Also called when the request ends while it waits: then the work is still there, for somebody
 * else. */
static void leave(struct request *rq, void *held)
{
	struct waiter *waiter = held;
	struct hub *hub = rq->worker->user;
	TAILQ_REMOVE(&hub->waiters, waiter, entry);
	metric_add(&waiting_gauge, NULL, NULL, -1);
	if (TAILQ_EMPTY(&hub->waiters))
		uv_timer_stop(&hub->tick);
	if (waiter->note[0])
		wake_one(hub, waiter->note);
}

struct waiter *waiter_join(struct request *rq, const char *kind, const char *account,
                           const char *repo, uint64_t wait_ms)
{
	struct hub *hub = rq->worker->user;
	struct waiter *waiter = arena_new_of(rq->arena, struct waiter);
	uint64_t now_ms = time_monotonic_ms();
	*waiter = (struct waiter){
		.rq = rq,
		.kind = kind,
		.account = account,
		.repo = repo,
		.until_ms = now_ms + wait_ms,
		.look_at_ms = now_ms + (uint64_t)look_again_ms,
		.is_over = wait_ms == 0,
	};
	if (TAILQ_EMPTY(&hub->waiters))
		uv_timer_start(&hub->tick, on_tick, TICK_MS, TICK_MS);
	TAILQ_INSERT_TAIL(&hub->waiters, waiter, entry);
	metric_add(&waiting_gauge, NULL, NULL, 1);
	request_hold(rq, leave, waiter);
	return waiter;
}

/* Each holds a connection, a fiber's stack and memory, here and in the gateway. Those that have
 * come before count. */
static void require_room(struct request *rq, const struct waiter *waiter)
{
	const struct hub *hub = rq->worker->user;
	int64_t count = 0;
	for (const struct waiter *other = TAILQ_FIRST(&hub->waiters); other != waiter;
	     other = TAILQ_NEXT(other, entry))
		if (!other->is_over && other->account &&
		    strcmp(other->account, waiter->account) == 0)
			count++;
	if (count < waiting_max)
		return;
	raise_retry_later(rq, ERR_RATE_LIMITED, (unsigned)MAX_OF(look_again_ms / 1000, 1),
	                  "there is no work, and too many claims of this account wait for some");
}

bool waiter_wait(struct request *rq, struct waiter *waiter)
{
	if (!waiter->is_woken) {
		pass_on(waiter);
		if (waiter->account && !waiter->is_over)
			require_room(rq, waiter);
	}
	while (!waiter->is_woken && !waiter->is_over)
		request_wait(rq);
	bool is_woken = waiter->is_woken;
	waiter->is_woken = false;
	waiter->look_at_ms = time_monotonic_ms() + (uint64_t)look_again_ms;
	return is_woken;
}

void waiter_leave(struct request *rq, struct waiter *waiter)
{
	if (!waiter->is_woken)
		waiter->note[0] = '\0'; /* used: it has found this work */
	request_unhold(rq, leave);
	leave(rq, waiter);
}
