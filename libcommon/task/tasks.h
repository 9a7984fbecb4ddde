/** The asynchronous work of a process: the state that the parts of this folder share. Internal to
 * this folder.
 *
 * tasks.c makes the struct tasks and starts the parts, each a periodic (loop/periodic.h) of one
 * worker. The parts do not call tasks.c. From the bottom up, on
 * pg/lease.h (what one process at a time does), redis/stream.h (Redis Streams) and
 * product/event_streams.h (which services write and read each stream):
 *
 *     wake.c            wakes processes for new tasks and rows of the outbox
 *     job_run.c         runs the job of a claimed task in a fiber, completes the task
 *     job_claim.c       claims tasks from Postgres, renews their leases
 *     reconcile.c       queues tasks again that are due, or whose worker has stopped
 *     stream_trim.c     how long entries of streams stay; sends those again that a reader misses
 *     outbox.c          the relay: rows of `outbox` -> streams
 *     event_delivery.c  runs the handlers of an event
 *     event_parking.c   events that wait apart from their stream
 *     events.c          the consumers: `events.*` -> event handlers
 *     dead.c            tasks and events that were given up
 *     tasks.c           starts and ends all of these
 */
#pragma once

#include "loop/periodic.h"
#include "loop/worker.h"
#include "pg/lease.h"
#include "product/event_streams.h"
#include "redis/redis.h"
#include "task/task.h"

#include <uv.h>

#include <sys/queue.h>

/** Pauses and time limits, in milliseconds; tests make them shorter. */
struct tasks_timing {
	uint64_t lease;     /* how long a job's lease lasts without renewal */
	uint64_t sweep;     /* between two passes of the relay without a notification */
	uint64_t reconcile; /* between two passes of the reconciler */
	uint64_t trim;      /* between two passes of the trimmer */
	uint64_t block;     /* how long a blocking read waits; jobs look into Postgres after it */
	uint64_t retry, retry_max; /* backoff of failed attempts and deliveries */
	uint64_t interrupted_max;  /* a task whose attempts are interrupted fails after this time */
	uint64_t quick;      /* a kind of job that takes up to this time on average shares slots */
	uint64_t keep;       /* younger entries of event streams are not trimmed */
	uint64_t stream_max; /* entries that an event stream keeps for a reader that is away */
	uint64_t late;       /* how far a reader may be behind before lanes have shares */
};
extern struct tasks_timing tasks_timing;

#define TASKS_RECURRING_MAX 16

struct job_run;
struct event_consumer;

struct tasks {
	struct worker *worker;
	struct tasks_settings settings;
	/* Redis keys */
	char *jobs_stream; /* `jobs.<service>`; its group has the service's name */
	char *batch_key;   /* number of the newest batch that the relay has sent */
	char *fence_key;   /* fence of the relay that sent last */
	struct lease relay_lease, reconciler_lease;
	/* Monotonic times: when the relay's lag is next logged, and requests for replays are next
	 * answered. */
	uint64_t lag_log_ms, replay_due_ms;
	struct periodic *relay, *reader, *listener, *lease_renewer, *reconciler, *trimmer;
	struct periodic *meter;                          /* of what waits and what was given up */
	struct periodic *recurring[TASKS_RECURRING_MAX]; /* the service's own; the rest NULL */
	struct redis_blocking *listener_connection;
	uint64_t claimed_ms; /* when tasks were last claimed, on the monotonic clock */
	/* `announced` counts the messages that tasks wait. `looked` is what it was when the last
	 * claim began after which none waited that this process could run. Equal: there is
	 * nothing to claim. */
	unsigned announced, looked;
	LIST_HEAD(, job_run) runs; /* running jobs */
	int runs_count;
	uint64_t *usual_us; /* moving average of how long the attempts of each job took */
	void (*run_ended)(struct tasks *tasks); /* called when a run has left `runs` */
	SLIST_HEAD(, event_consumer) consumers;
	const struct event_stream *streams; /* of the product */
	const char *own_stream;             /* the one that the service writes; NULL: none */
	/* Start and drain. */
	uv_timer_t timer; /* waits for the migrations, then for the end of a drain */
	bool is_started, is_draining;
	uint64_t drain_until_ms;
	void (*drained)(void *);
	void *drained_context;
};
