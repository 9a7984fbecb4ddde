/** Commands of the operator on the keys and accounts of others, by their ids: what the log says of
 * revocations and deletions can be repeated with them after the database was restored to an earlier
 * point.
 *
 * Both print a line for each id: `0197… revoked`, or `0197… unknown`, also for what was deleted
 * before. They can be repeated. Replicas that know a key accept it for 5 seconds more. Return the
 * exit status; 2: an argument is no id, and nothing was done. */
#pragma once

#include "service/process.h"

/** `gateway revoke-keys ID...` */
int keys_revoke_command(struct process *process, int argc, char **argv);

/** `gateway delete-accounts ID...`: with their keys, and what the services have of them. */
int accounts_delete_command(struct process *process, int argc, char **argv);
