/** Whether an account still has access to a repository that it owns (the table owned_repo): what
 * the code host says of a repository is shown to its owners. svc-integrations asks the code host
 * with the account's connection (app/access.h there).
 *
 * An answer is believed for five minutes. After that an owner is asked about again when an agent
 * of it reports a run, and before an event of the repository is applied; so an account that was
 * removed from a repository, or has disconnected the code host, learns nothing more. While the code
 * host is away, owners stay owners, and nobody becomes one. */
#pragma once

#include "loop/request.h"
#include "task/task.h"

/** Ask about the caller's account again where that is due: with access it becomes an owner of
 * `repo`, without it ceases to be one. Does nothing in a transaction. Suspends. */
void repo_access_renew(struct request *rq, const char *repo);

/** Ask about each owner of `repo` for whom that is due. For an event handler: changes
 * rq->caller. Suspends. */
void repo_access_renew_owners(struct request *rq, const char *repo);

/** Event `access`: an account has lost access. */
void repo_access_lost(struct request *rq, const struct event *event);
