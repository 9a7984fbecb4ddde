/** `svc-experiments seed FILE --user UUID`: experiments for an account out of a file, such as
 * deploy/sample/experiments.json.
 *
 *     {"projects": [{"name", "description"}],
 *      "experiments": [{"project": "<name of a project>", and any member of POST /experiments}]}
 *
 * All of it or nothing. A project or an experiment whose name the account has already stays as it
 * is, so that the command can be repeated. `created_via` is `seed`.
 */
#pragma once

#include "loop/worker.h"

int seed_command(struct process *process, int argc, char **argv);
