/** Commands on accounts of several persons. Those that print a key print a new personal key of the
 * account, as create-user does; GET /team shows the account's id. What ends is refused by the
 * replicas as soon as they hear of it (key_change_commit()). */
#pragma once

#include "service/process.h"

/** `gateway create-account --name N --owner E`: make an account of several persons, and print a key
 * of its owner, a person that there is. */
int account_create_team_command(struct process *process, int argc, char **argv);

/** `gateway add-member --account ID --email E --role R`: let the person be a member of the account,
 * or give the member another role, and print a key of theirs. */
int member_add_command(struct process *process, int argc, char **argv);

/** `gateway disable-person --email E [--undo]`: refuse the person's keys in every account, and end
 * the sessions: they stay ended with --undo. */
int person_disable_command(struct process *process, int argc, char **argv);
