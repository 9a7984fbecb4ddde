/** Accounts: making the first users, and deleting one's own. */
#pragma once

#include "loop/request.h"
#include "loop/worker.h"

/** POST /account/delete. */
void account_delete(struct request *rq);

/** `gateway create-user --email E [--key-name N] [--operator]`: prints a new personal key of the
 * account, made when it is not there. */
int account_create_command(struct process *process, int argc, char **argv);
