/** Whether the caller may act on a repository at the code host: the account's own code-host
 * connection can push to it. That is asked of the code host with the connection; a yes is
 * remembered for five minutes, and ends with the connection.
 *
 * The code host's answer also says the name that the repository has now, which the other services
 * are told when it is another one (service/repository_name.h).
 *
 * An automation key that is bound to a repository does not stand by itself: it proves that the
 * account had access when the key was made (identity.is_repo_verified), and opens the repository
 * only as long as the account has access. When that has ended, the first request with such a key,
 * or the first question of svc-fleet, informs the other services by the event
 *
 *     {"event": "access", "action": "lost", "repo": "acme/ranker", "web_url": "https://github.com",
 *      "occurred_at": "2026-01-31T09:30:00.000Z", "installation_id": null, "delivery_id": null}
 *
 * of the account, on the stream events.code_host. A `repo` of null: the account was
 * disconnected (connection.sql). */
#pragma once

#include "app/code_host.h"

/** Return when the caller may act on `repo`, and set its number, and its name now when it was given
 * an old one.
 *
 * Raises ERR_NOT_FOUND otherwise, also when the app is installed there and for an automation key
 * that is bound to no repository; ERR_FORBIDDEN: the key is bound to another one; ERR_CONFLICT: the
 * code host accepts the connection no more (connection_refused()); ERR_UNAVAILABLE: it does not
 * answer, or says neither yes nor no.
 * Suspends. */
void access_require(struct request *rq, struct repository_name *repo);

/** As access_require(); the code host is asked anew, which sets the repository's obstacle. */
void access_require_anew(struct request *rq, struct repository_name *repo);

/** As access_require(), but false in place of ERR_NOT_FOUND. */
bool access_is_had(struct request *rq, struct repository_name *repo);

/** Whether the caller's account has access to `repo`, which sets its number and name. Tells the
 * other services when it has lost it. Raises ERR_UNAVAILABLE as
 * access_require(). Suspends. */
bool access_check(struct request *rq, struct repository_name *repo);

/** How to call the code host as the user of the account's connection. Suspends; raises as
 * connection_token(). */
struct code_host_auth access_connection_auth(struct request *rq);
