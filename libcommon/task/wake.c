#include "task/wake.h"

#include "base/base.h"
#include "pg/pg.h"
#include "redis/redis.h"
#include "redis/stream.h"
#include "task/tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The field of an entry that has `left_by`; empty: NULL. */
#define LEFT_BY "wake"

#define ENTRIES_MAX \
	"64"            /* of the stream, whether it is read or not: so many can be woken at once */
#define READ_MAX "1000" /* more than that */

/* --- Receive ---------------------------------------------------------------------------------- */

struct job_wake {
	uv_mutex_t mutex; /* of is_idle; and `async` is open while that is true */
	bool is_idle;
	uv_async_t *async; /* freed once libuv has closed it */
	job_wake_look_fn *look;
};

struct job_wake *job_wake_new(void)
{
	struct job_wake *wake = calloc(1, sizeof(*wake));
	require(wake && uv_mutex_init(&wake->mutex) == 0);
	return wake;
}

void job_wake_free(struct job_wake *wake)
{
	if (!wake)
		return;
	uv_mutex_destroy(&wake->mutex);
	free(wake);
}

/* A message has arrived, from Redis or from this process: look for tasks, or pass it on. */
static void deliver(struct tasks *tasks, bool is_for_others)
{
	bool has_looked = tasks->settings.wake->look(tasks);
	if (is_for_others || !has_looked)
		wake_entry_add(tasks->worker->redis, tasks->jobs_stream, NULL);
}

static void on_async(uv_async_t *async)
{
	deliver(async->data, false);
}

void job_wake_open(struct job_wake *wake, struct tasks *tasks, job_wake_look_fn *look)
{
	wake->look = look;
	wake->async = calloc(1, sizeof(*wake->async));
	require(wake->async && uv_async_init(&tasks->worker->loop, wake->async, on_async) == 0);
	wake->async->data = tasks;
}

static void on_closed(uv_handle_t *handle)
{
	free(handle);
}

void job_wake_close(struct job_wake *wake)
{
	job_wake_set_idle(wake, false);
	uv_close((uv_handle_t *)wake->async, on_closed);
}

void job_wake_set_idle(struct job_wake *wake, bool is_idle)
{
	uv_mutex_lock(&wake->mutex);
	wake->is_idle = is_idle;
	uv_mutex_unlock(&wake->mutex);
}

/* The entries that a read has brought. */
struct arrival {
	bool has_any;
	bool has_own; /* one that this process has added for others */
};

static struct arrival arrival_of(struct request *rq, const struct tasks *tasks,
                                 const struct redis_value *reply)
{
	struct stream_entries entries = stream_entries_read(rq, reply);
	struct arrival arrived = {.has_any = entries.count > 0};
	for (size_t i = 0; i < entries.count; i++)
		arrived.has_own |= strcmp(stream_text(&entries.items[i], LEFT_BY),
		                          tasks->settings.instance) == 0;
	return arrived;
}

/* Entries are not acknowledged, because a lost one only delays a task. */
static enum err_code wait_for_entry(struct request *rq, struct tasks *tasks,
                                    struct arrival *ret_arrived)
{
	const char *const argv[] = {
		"XREADGROUP",
		"GROUP",
		tasks->settings.service,
		tasks->settings.instance,
		"COUNT",
		READ_MAX,
		"NOACK",
		"BLOCK",
		arena_printf(rq->arena, "%llu", (unsigned long long)tasks_timing.block),
		"STREAMS",
		tasks->jobs_stream,
		">",
	};
	struct redis_value *reply;
	enum err_code code =
		redis_blocking_try(rq, tasks->listener_connection, &reply, argv, ARRAY_LEN(argv));
	if (code != ERR_NONE)
		return code;
	if (stream_is_group_missing(reply))
		stream_make_group(rq, tasks->jobs_stream, tasks->settings.service);
	else if (reply->type == REDIS_ERROR)
		return ERR_INTERNAL;
	else
		*ret_arrived = arrival_of(rq, tasks, reply);
	return ERR_NONE;
}

void wake_listen_pass(struct request *rq)
{
	struct tasks *tasks = periodic_user(rq);
	struct arrival arrived = {0};
	enum err_code code = wait_for_entry(rq, tasks, &arrived);
	if (arrived.has_any)
		deliver(tasks, arrived.has_own);
	else
		tasks->settings.wake->look(tasks);
	if (code != ERR_NONE)
		raise_error(rq, code, "%s cannot be read", tasks->jobs_stream);
}

/* --- Send ------------------------------------------------------------------------------------- */

struct waker {
	struct redis *redis;
	struct job_wake *wake;
	char *channel, *jobs_stream;
};

void wake_entry_add(struct redis *redis, const char *jobs_stream, const char *left_by)
{
	const char *const argv[] = {"XADD",  jobs_stream,           "MAXLEN", ENTRIES_MAX, "*",
	                            LEFT_BY, left_by ? left_by : ""};
	redis_send(redis, argv, ARRAY_LEN(argv));
}

/* From any thread: wake the process's own reader if it is idle, which then is busy. False: it is
 * not, or `wake` is NULL: the process runs no jobs. */
static bool wake_own(struct job_wake *wake)
{
	if (!wake)
		return false;
	uv_mutex_lock(&wake->mutex);
	bool is_sent = wake->is_idle;
	wake->is_idle = false;
	if (is_sent)
		uv_async_send(wake->async);
	uv_mutex_unlock(&wake->mutex);
	return is_sent;
}

static void on_tasks(void *context)
{
	const struct waker *waker = context;
	if (!wake_own(waker->wake))
		wake_entry_add(waker->redis, waker->jobs_stream, NULL);
}

static void on_outbox(void *context)
{
	const struct waker *waker = context;
	redis_publish(waker->redis, waker->channel, "");
}

/* By the SQLSTATEs of the notices. */
static const struct pg_notice NOTICES[] = {
	{"XO001", on_outbox}, /* the trigger of `outbox` */
	{"XO002", on_tasks},  /* task_notify() */
	{NULL},
};

struct waker *waker_new(const struct worker *worker, const char *service, struct job_wake *wake)
{
	struct waker *waker = calloc(1, sizeof(*waker));
	require(waker);
	waker->redis = worker->redis;
	waker->wake = wake;
	require(asprintf(&waker->channel, OUTBOX_CHANNEL, service) > 0);
	require(asprintf(&waker->jobs_stream, JOBS_STREAM, service) > 0);
	redis_is_ready(worker->redis); /* connects: what is sent without a connection is lost */
	pg_on_notices(worker->pg, NOTICES, waker);
	return waker;
}

void waker_free(struct waker *waker)
{
	if (!waker)
		return;
	free(waker->channel);
	free(waker->jobs_stream);
	free(waker);
}
