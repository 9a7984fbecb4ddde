/** Installations of the app, and tokens of them.
 *
 * The installation that covers a repository is remembered for an hour, and asked for again before
 * that after an event of the code host about it, when its id is not known any more, and when its
 * permissions have changed. That there is none, or that it is suspended, is remembered for a
 * minute, or until an event about any installation. Tokens are made for one repository and the
 * permissions that their use needs, and kept for the next use (token_cache.h). One that the code
 * host refuses is replaced once. So is one that does not open the repository, where the
 * installation has changed since, or the token is old (token_remedy_of()); when no other can be
 * had, the answer stands. One that was just made is refused now and then, as the code host's
 * servers do not know it yet, and is used again after one and two seconds.
 *
 * A renamed repository is found by its old name, too: the code host redirects to its number.
 * Since another one may get the old name, what is remembered of a renamed one is used only for
 * who can push to the repository of that number, and a token is made for the number that the caller
 * can push to, where it is known (access.h). */
#pragma once

#include "app/code_host.h"
#include "base/config.h"

/** A permission and its level, `contents` `write`; a table ends with {NULL}. */
struct permission {
	const char *name, *level;
};

struct installation {
	const char *id;          /* decimal */
	const char *owner;       /* login of the user or organisation */
	const char *permissions; /* JSON object: what the app was given */
	/* When the repository has another name now: its number, in decimal, and that name; each
	 * NULL if unknown. Else both are NULL. */
	const char *repository_id, *full_name;
	const char *suspended_at; /* as the API shows times; NULL: it is not suspended */
};

/** CODE_HOST_LOOKUPS. */
extern const struct setting INSTALLATION_SETTINGS[];

/** The installation that covers `repo`, which may be suspended; false: there is none. Raises
 * ERR_UPSTREAM: the code host does not accept the app's id or key; ERR_RATE_LIMITED: the account
 * has used up its look-ups of this hour. */
bool installation_find(struct request *rq, const struct repository_name *repo,
                       struct installation *ret_installation);

/** That the installation that covers `repo` is suspended, and what to do about it. */
const char *installation_suspended(struct request *rq, const struct repository_name *repo);

/** Count that the code host is asked about the app on behalf of the account: the app's rate limit
 * is one for all accounts, and none may use it up. Suspends. Raises ERR_RATE_LIMITED: the account
 * has used up its look-ups of this hour. */
void installation_lookup_count(struct request *rq);

/** As installation_lookup_count(), for a page of a list, which takes of the limit of the
 * installation: that, too, may be one for several accounts. */
void installation_list_count(struct request *rq);

struct installation_token {
	const char *token;
	const char *expires_at;  /* RFC 3339 */
	yyjson_val *permissions; /* an object */
	const char *repo;        /* the repository's name at the code host now */
};

/** Make a token of the installation that covers `repo`, limited to it and to `permissions`, such as
 * `{"contents": "write"}`, as far as the app was given them. It lives an hour, belongs to the
 * caller, and is not kept. Suspends. Raises ERR_NOT_FOUND: no installation covers the repository;
 * ERR_CONFLICT: it is suspended, or was given none of the permissions. */
struct installation_token installation_token_new(struct request *rq,
                                                 const struct repository_name *repo,
                                                 const struct permission *permissions);

/** How to call the code host with such a token, one that was kept or a new one, and the
 * repository's name at the code host now. `permissions` are static. Suspends; raises as
 * installation_token_new(), and ERR_RATE_LIMITED: too many were made for the account this hour. */
struct code_host_auth installation_auth(struct request *rq, const struct repository_name *repo,
                                        const struct permission *permissions,
                                        const char **ret_repo);
