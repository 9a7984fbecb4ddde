/** Tells the processes of a service what a transaction of this one has written.
 *
 *     a statement inserts rows -> the server raises a notice, or the result tells it as one
 *     (pg_on_notices() in pg/pg.h) -> the transaction ends -> this process tells Redis:
 *         of rows of the outbox   PUBLISH in `outbox.<service>`; each process wakes its relay
 *         of tasks                XADD to `jobs.<service>`; one process that waits for tasks claims
 *                                 some. Or, if this one runs no job, it claims them itself
 *                                 (job_wake.h)
 *
 * NOTIFY would be simpler, but makes all commits of the server wait for each other
 * (outbox_notify() in event.fn.sql). When a message is lost, or another program wrote the rows, the
 * relay finds them at its next sweep (tasks_timing.sweep), and a worker with free slots at its next
 * look (tasks_timing.block). */
#pragma once

#include "loop/worker.h"
#include "task/job_wake.h"

/** A format: the service's name. */
#define OUTBOX_CHANNEL "outbox.%s"
#define JOBS_STREAM    "jobs.%s"

/** The message of dead.c: dead letters are to be tried again. Any other: there are new rows. */
#define OUTBOX_RETRY "retry"

struct announcer;

/** Announce whatever the worker's pool writes. Borrows `wake`, the process's. */
struct announcer *announcer_new(const struct worker *worker, const char *service,
                                struct job_wake *wake);

/** After the pool and the worker's Redis client. NULL is fine. */
void announcer_free(struct announcer *announcer);

/** Wake one process that waits for tasks. An entry says no more than that there are some, so the
 * stream is short, whether it is read or not. `left_by` is the instance that has left them to
 * others, and does not take the entry itself (job_listen.h); NULL: any may take it. */
void announce_tasks(struct redis *redis, const char *jobs_stream, const char *left_by);

/** The field of an entry that has `left_by`; empty: NULL. */
#define ANNOUNCE_LEFT_BY "wake"
