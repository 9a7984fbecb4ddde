/** Branches of a repository. */
#pragma once

#include "repository/repository.h"

/** The commit at the head of a branch; NULL: there is no such branch. Suspends. */
const char *branch_head(struct request *rq, const struct repository *repository,
                        const char *branch);

/** The default branch. Suspends. */
const char *branch_default(struct request *rq, const struct repository *repository);

/** Take the lock of the branch: changes of one branch are made one at a time, over all replicas.
 * Given up with replica_lock_give_up(). Suspends; raises as replica_lock_take(). */
void branch_lock(struct request *rq, const struct repository *repository, const char *branch);

/** Make a branch at a commit; false: it exists, since somebody else was faster. Suspends. Raises
 * ERR_CONFLICT: the code host refuses it. */
bool branch_make_at(struct request *rq, const struct repository *repository, const char *branch,
                    const char *commit);

/** Make the branch unless it exists, at the head of `base`; NULL: of the default branch. Whether it
 * is new. Suspends. Raises ERR_INVALID, naming base: it does not exist. */
bool branch_make(struct request *rq, const struct repository *repository, const char *branch,
                 const char *base);
