/** Tells the processes of a service what a transaction of this one has written: tasks, and rows of
 * the outbox.
 *
 *     a statement inserts rows -> the server raises a notice (pg_on_notices() in pg/pg.h)
 *         -> the transaction ends -> the worker's waker sends a message:
 *              of tasks               an entry of the stream `jobs.<service>`, which one process
 *                                     that waits for tasks gets
 *              of rows of the outbox  PUBLISH in `outbox.<service>`; each process wakes its relay
 *
 * There is one way to wake a job: that entry. A process that runs no job takes the message for its
 * own tasks without sending it through Redis; what happens then is the same (deliver() in wake.c):
 * it looks for tasks, and adds an entry for another process if it has no free slot. While it runs
 * one, its messages go to all processes, so that those which have less to do share the tasks.
 *
 * A message says no more than that there may be tasks; which ones are claimed, Postgres decides
 * (job_claim.h). So one that is lost, or comes twice, does no harm: a process with free slots looks
 * at the table every tasks_timing.block, and the relay every tasks_timing.sweep. NOTIFY would be
 * simpler, but makes all commits of the server wait for each other (outbox_notify() in
 * event.fn.sql). */
#pragma once

#include "loop/request.h"

#include <uv.h>

#include <stdbool.h>

/** A format: the service's name. */
#define OUTBOX_CHANNEL "outbox.%s"
#define JOBS_STREAM    "jobs.%s"

/** The message of dead.c in OUTBOX_CHANNEL: dead letters are to be tried again. Any other: there
 * are new rows. */
#define OUTBOX_RETRY "retry"

/** The end of a process that receives: its background worker's reader of tasks.
 *
 *     closed -- open --> busy <-- set_idle --> idle
 *                         ^                      |
 *                         +-- a message of its --+
 *                             own tasks
 */
struct job_wake;

/** One for a process. */
struct job_wake *job_wake_new(void);

/** It must be closed, and no waker may use it any more. NULL is fine. */
void job_wake_free(struct job_wake *wake);

/** The end of a worker that sends. */
struct waker;

/** Send messages of whatever the worker's pool writes. Borrows `wake`, the process's. */
struct waker *waker_new(const struct worker *worker, const char *service, struct job_wake *wake);

/** After the pool and the worker's Redis client. NULL is fine. */
void waker_free(struct waker *waker);

/* --- Internal to this folder ------------------------------------------------------------------ */

struct redis;
struct tasks;

/** Look for tasks at once. False: no slot is free, and the message is for another process. */
typedef bool job_wake_look_fn(struct tasks *tasks);

/** Call `look(tasks)` on the loop of the tasks' worker for each message. It begins as busy. */
void job_wake_open(struct job_wake *wake, struct tasks *tasks, job_wake_look_fn *look);

/** On the thread of the loop, which must run on for libuv's close callback. Nothing is delivered
 * any more. */
void job_wake_close(struct job_wake *wake);

/** On the thread of the loop: whether the next message of its own tasks is for this process. */
void job_wake_set_idle(struct job_wake *wake, bool is_idle);

/** Add an entry: wake one process that waits for tasks. `left_by` is the instance that has left
 * tasks to others; NULL: any may take it. Redis gives an entry to the process that has waited
 * longest, which can be the one that has added it for others. That one adds it again, and gets it
 * no second time, since it does not wait then. */
void wake_entry_add(struct redis *redis, const char *jobs_stream, const char *left_by);

/** Pass of the listener (periodic.h), whose user is the struct tasks: waits for an entry, or for
 * tasks_timing.block, and lets the reader look for tasks. The reader wakes it when it has found no
 * more. */
void wake_listen_pass(struct request *rq);
