/** svc-evalenv/worker/: programs that use the service from outside, by its public interface and a
 * key.
 *
 *     worker.c      `svc-evalenv worker`: claims builds and runs and works at them in slots
 *     watch.c       `svc-evalenv watch BUILD_ID`: follows a build in the terminal
 *     job.c         one claimed build or run: its folder, its command, its lease
 *     build_job.c   what is particular to builds
 *     run_job.c     and to runs
 *     builder.c     the scripts that build and run images, and what confines them
 *     resources.c   what a run may use
 *     child.c       a script in a process group of its own
 *     tail.c        the end of what it printed
 *     folder.c      the folder of a job
 *     leftover.c    what a job leaves behind
 *     api.c         calls to the public interface
 *
 * A command is a shell script that runs in the folder of its job, which is removed afterwards. It
 * has no environment of the worker's but PATH, and the worker's own has no secrets once it has read
 * them (base/config.h). Its output is the log, from whose end a heartbeat
 * sends what is new.
 *
 * What builds and runs execute is the accounts' own code: a worker needs a machine, or a container,
 * that holds nothing else.
 */
#pragma once

#include "base/config.h"
#include "service/process.h"

extern const struct setting *const WORKER_SETTINGS[];
extern const struct setting *const WATCH_SETTINGS[];

int worker_command(struct process *process, int argc, char **argv);
int watch_command(struct process *process, int argc, char **argv);
