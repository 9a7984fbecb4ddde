/** What the parts of a process's asynchronous work share; nobody else includes it.
 *
 *     tasks.c            starts and ends the parts
 *     outbox.c           the relay: outbox -> streams
 *     jobs.c, job_run.c  the runner: jobs.<service> -> fibers, leases
 *     reconcile.c        what no stream holds is published again
 *     events.c           the consumers: events.* -> handlers
 *     stream_trim.c      what every group has read is dropped; consumers that are gone, too
 *     stream.c, stream_publish.c   Redis Streams in our words
 */
#pragma once

#include "base/metrics.h"
#include "loop/periodic.h"
#include "loop/worker.h"
#include "redis/redis.h"
#include "task/task.h"

#include <uv.h>

/** Pauses and spans, in milliseconds; tests make them shorter. */
struct tasks_timing {
	uint64_t lease;     /* how long a job's claim lasts without renewal */
	uint64_t sweep;     /* between two looks at the outbox without a notification */
	uint64_t reconcile; /* between two passes of the reconciler */
	uint64_t trim;      /* between two passes of the trimmer */
	uint64_t stale;     /* an entry without a sign of its consumer for so long is taken over */
	uint64_t block;     /* how long a blocking read waits */
	uint64_t retry, retry_max; /* backoff of failed attempts and deliveries */
	uint64_t keep;             /* entries of events younger than that are not trimmed */
};
extern struct tasks_timing tasks_timing;

#define TASKS_RECURRING_MAX 8
#define TASKS_STREAMS_MAX   32 /* that one process publishes to or consumes */

struct job_run;
struct consumer;

struct tasks {
	struct worker *worker;
	struct tasks_settings settings;
	/* Redis keys */
	char *jobs_stream; /* `jobs.<service>`; its group has the service's name */
	char *held_key;    /* hash: task -> entry that is in the stream */
	char *batch_key;   /* the newest batch that the relay has sent */
	struct periodic *relay, *reader, *renewer, *reconciler, *trimmer;
	struct periodic *recurring[TASKS_RECURRING_MAX]; /* the service's own; the rest NULL */
	struct redis_blocking *reader_connection;
	bool has_jobs_group;
	struct job_run *runs; /* jobs under way */
	int runs_count;
	struct consumer *consumers;
	char *streams[TASKS_STREAMS_MAX]; /* events.* that are trimmed by this process */
	size_t streams_count;
	/* start and end */
	uv_timer_t timer; /* waits for the migrations, then for the end of a drain */
	bool is_started, is_draining;
	uint64_t drain_until_ms;
	void (*drained)(void *);
	void *drained_context;
};

/** Remember a stream for the trimmer; copies. */
void tasks_know_stream(struct tasks *tasks, const char *stream);

/** Call when a job or a consumer has ended: whether a drain is over is looked at. */
void tasks_check_drained(struct tasks *tasks);

/** Passes of the periodics (periodic.h), whose user is the struct tasks. */
void outbox_pass(struct request *rq);
void jobs_read_pass(struct request *rq);
void jobs_renew_pass(struct request *rq);
void reconcile_pass(struct request *rq);
void stream_trim_pass(struct request *rq);

/** Run the task of a stream entry; takes a slot until it is settled. Copies. */
void job_run_start(struct tasks *tasks, const char *entry_id, const char *task_id,
                   const char *kind);

/** Add to `jobs.dead`, which is for people to look at: a failure is logged alone. */
void job_bury(struct request *rq, struct tasks *tasks, const char *task_id, const char *kind,
              const char *account, int64_t attempts, const char *error);

/** Drop the entry of a task: acknowledged and deleted. */
void job_remove(struct request *rq, struct tasks *tasks, const char *entry_id, const char *task_id);

/** The consumers of a process's event handlers. */
void events_start(struct tasks *tasks);
void events_stop(struct tasks *tasks);
bool events_are_idle(const struct tasks *tasks);
void events_free(struct tasks *tasks);

/** Register the metrics of each part; once, before threads. */
void outbox_register(void);
void job_run_register(void);
void events_register(void);
