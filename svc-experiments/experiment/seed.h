/** `svc-experiments seed FILE --user UUID`: loads projects and experiments from a file into an
 * account. The sample is deploy/sample/experiments.json.
 *
 *     {"projects": [{"name", "description"}],
 *      "experiments": [{"project": "<name of a project>", and any member of POST /experiments}]}
 *
 * Loads everything or nothing. A project or experiment whose name exists in the account is left as
 * it is, so the command can be repeated. `created_via` of the experiments is `seed`.
 */
#pragma once

#include "loop/worker.h"

int seed_command(struct process *process, int argc, char **argv);
