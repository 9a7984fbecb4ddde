/** svc-integrations/repository/: what is done at repositories of the code host: forking, for users,
 * and the rest for the other services, on behalf of an account.
 *
 *     repository.c    opening a repository for an operation: whose it is, and a token of it
 *     facts.c         the installation that covers it, its description and README
 *     secret.c        putting a secret, and whether it is there
 *     file.c          putting a file on a branch, reading one;  branch.c  making the branch
 *     pull_request.c  opening and merging a pull request
 *     dispatch.c      starting a workflow, once for a key
 *     run.c           the latest run of a workflow, cancelling a run
 *     listing.c       pull requests, issues and workflow runs
 *     fork.c          the public operation that forks a repository
 *     replica_lock.c  locks over all replicas
 *
 * The operations for services are POST requests with a JSON object, listed in
 * libcommon/internal.def, and sent with service_call() (client/service_call.h) on behalf of the
 * account. Each header of this folder shows the request and the answer of its operations. In every
 * request `repo` is `owner/name`, in any case; a name that the repository had before works too.
 * Members of a request that may be left out, or be null, are marked `?`.
 *
 * An operation can be repeated: it finds what an earlier one has made, and answers as if it had
 * made it now. So a job that fails anywhere starts again from its beginning. Operations of one
 * branch run one after the other.
 *
 * Who may: an account whose code-host connection can push to the repository (app/access.h), also
 * for a caller with an automation key of the repository, which service_call() passes on.
 *
 * Errors, as problem bodies, beside the ones that every operation has:
 *
 *     400 invalid_request          a member is wrong, or names a branch that does not exist
 *     403 forbidden                the automation key of the caller is bound to another repository
 *     404 not_found                the repository is not the account's; the app is not installed
 *                                  there; or the pull request, run or workflow does not exist.
 *                                  `detail` says which
 *     409 conflict                 the code host refuses it; `detail` has its words, fit to be
 *                                  shown to a user. To repeat it is of no use before somebody
 *                                  changes something there
 *     409 provider_not_configured  no app, or no code host, is configured
 *     429 rate_limited             the account has asked the code host too often, about the app,
 *                                  for tokens or for lists (CODE_HOST_LOOKUPS);
 *                                  nothing was done; repeat after Retry-After
 *     503 unavailable              the code host is away, a rate limit is reached, or another
 *                                  request changes the same branch; nothing was done; repeat after
 *                                  Retry-After
 *     503 outcome_uncertain        the connection broke after a change was sent; repeat it */
#pragma once

#include "app/installation.h"
#include "http/internal_api.h"

/** A repository, and what to call with. */
struct repository {
	const char *full_name; /* the name that it has now; in any case */
	struct code_host_auth auth;
};

/** Its name in lower case, since names of repositories are compared without case. */
const char *repository_key(struct request *rq, const struct repository *repository);

/** Longest names that the operations take, in characters. */
#define BRANCH_NAME_MAX   244
#define WORKFLOW_NAME_MAX 200

/** Check the caller's access to the repository and get a token of it with `permissions`, which are
 * static. Suspends. Raises the errors of access_require() and installation_auth(), and
 * ERR_CONFLICT: the repository is archived or disabled, as the code host has just said, and takes
 * no changes. */
struct repository repository_open(struct request *rq, const char *repo,
                                  const struct permission *permissions);

/** As repository_open(), at the beginning of work: the code host is asked anew whether the account
 * has access and the repository takes changes. */
struct repository repository_open_anew(struct request *rq, const char *repo,
                                       const struct permission *permissions);

/** The second half of repository_open(): for a caller whose access was checked. Suspends; raises as
 * installation_auth(). */
struct repository repository_open_checked(struct request *rq, const struct repository_name *name,
                                          const struct permission *permissions);

/** Call `method` of a path below the repository, `/pulls/12`. Suspends; raises as
 * code_host_call(). */
struct code_host_answer repository_call(struct request *rq, const struct repository *repository,
                                        const char *method, yyjson_mut_val *body,
                                        const char *path_format, ...) attr_printf(5, 6);

/** Raise what a refusal means: ERR_NOT_FOUND for 404, with `missing` (`no such run`);
 * ERR_UNAVAILABLE for 401, which is of the account's connection, unless that has ended
 * (connection_refused()); otherwise ERR_CONFLICT. */
attr_noreturn void repository_refuse(struct request *rq, const struct code_host_answer *answer,
                                     const char *missing);
