/** gateway/account/: creating accounts (create_user.c, a command) and deleting one's own account
 * (account.c, a route). */
#pragma once

#include "loop/request.h"
#include "loop/worker.h"

/** POST /account/delete: delete the caller's account and its keys. */
void account_delete(struct request *rq);

/** Log that an account was deleted: what has to be repeated after a restore. After the commit. */
void account_log_deleted(const char *id);

/** `gateway create-user --email E [--key-name N] [--operator]`: print a new personal key of the
 * account; create the account when it does not exist. Returns the exit status. */
int account_create_command(struct process *process, int argc, char **argv);
