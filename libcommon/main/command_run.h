/** Runs a command of a process (struct command) in a fiber. */
#pragma once

#include "loop/request.h"
#include "service/process.h"

/** What a command returns when its arguments are wrong. */
#define COMMAND_USAGE (-1)

/** For commands (struct command): migrate the schema, waiting some seconds for a database that is
 * away, then run `fn` in a fiber with a loop and the clients of a worker (Postgres, Redis, HTTP).
 * There are no listeners and no jobs, and the deadline is a year from now. `rq->user` is `user`;
 * `rq->caller` is empty. Returns the exit status: 0, or 1 after one line on standard error when
 * `fn` raised or the database could not be reached. */
int command_run(struct process *process, request_fn *fn, void *user);

/** As command_run(), for commands with settings of their own: without a database, and with no
 * client but that for HTTP. */
int outside_run(struct process *process, request_fn *fn, void *user);
