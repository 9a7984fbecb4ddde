/** Wakes the job reader of this process for tasks that the process itself has committed: without
 * Redis, and only while the process runs no job. While it runs one, the tasks are announced to all
 * processes, so that those which have less to do share them.
 *
 *     closed -- open --> busy <-- set_idle --> idle
 *                         ^                      |
 *                         +-------- send --------+
 *
 * A message may get lost with its process. Then another one finds the task at its next look
 * (tasks_timing.block). */
#pragma once

#include <uv.h>

#include <stdbool.h>

struct job_wake;

/** One for a process. */
struct job_wake *job_wake_new(void);

/** It must be closed, and no announcer may use it any more. NULL is fine. */
void job_wake_free(struct job_wake *wake);

/** Call `cb(context)` on `loop` for what is sent. It begins as busy. */
void job_wake_open(struct job_wake *wake, uv_loop_t *loop, void (*cb)(void *context),
                   void *context);

/** On the thread of the loop, which must run on for libuv's close callback. Nothing is sent any
 * more. */
void job_wake_close(struct job_wake *wake);

/** On the thread of the loop: whether the next message is for this process. */
void job_wake_set_idle(struct job_wake *wake, bool is_idle);

/** From any thread: wake the reader if it is idle, which then is busy. False: it is not, or `wake`
 * is NULL: the process runs no jobs. */
bool job_wake_send(struct job_wake *wake);
