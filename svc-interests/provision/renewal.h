/** Renewing the workflow of a repository when the product's version of it changes, by an upgrade or
 * a setting: a pull request proposes the new one, and the agent goes on with the old one until that
 * is merged.
 *
 * The version is a hash of the workflow and of the settings in it (workflow_file.h). While
 * processes are replaced, those of two versions run side by side, and would propose against each
 * other. So each pass notes in the table `workflow_version` that its version was seen, and starts
 * renewals only when no other one was for as long as three passes take.
 *
 *     pass --a task for each agent that has another version--> workflow_renewal
 *       on the default branch already: noted
 *       else: commit on a branch, pull request --its merge (follow.c)--> noted
 *
 * A task that fails is followed by another one after a day, as long as the agent is at work; what
 * is wrong is told to the account once for each version. A pull request that is closed without a
 * merge is a decision of the owner's: no version is proposed twice. A newer one goes to the branch
 * of the pull request that is still open. A task that is killed anywhere finds its branch and its
 * pull request again. */
#pragma once

#include "base/config.h"
#include "loop/request.h"
#include "task/task.h"

/** WORKFLOW_CHECK. */
extern const struct setting RENEWAL_SETTINGS[];
extern int64_t renewal_check_ms;

/** Start the renewals that are due; for service.recurring. */
void renewals_run(struct request *rq);

/** The job `workflow_renewal`: {"interest_id", "repo", "version"}. */
void renewal_run(struct request *rq, struct task *task);
