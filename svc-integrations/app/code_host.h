/** svc-integrations/app/: the app at the code host, and what is done there through it.
 *
 *     app_jwt.c       the JWT that the app authenticates with
 *     code_host.c     one call of the code host's REST API
 *     rate_limit.c    the code host's rate limits, obeyed by all replicas
 *     installation.c  the installation that covers a repository, and tokens of it
 *     access.c        whether the caller may act on a repository
 *     app_facts.c     what the code host says of the app
 *     app.c           the public operations: installation, token
 *
 * Code-host facts: the REST API as described by its own OpenAPI document. Every function that calls
 * the code host suspends and must not be called inside a transaction. */
#pragma once

#include "loop/request.h"

#include <yyjson.h>

#include <stdbool.h>

/** What a call authenticates with. */
struct code_host_auth {
	const char *token; /* NULL: the call needs none */
	/* Whose rate limit counts: `app`, `installation 123`, `user 0197…` (rate_limit.h). */
	const char *limit;
	bool is_in_path; /* the path has a secret that authenticates the call, and is not logged */
	bool is_of_app;  /* the app's own, or that of an installation: no account can mend it */
	/* The call was answered `status`, which may be the fault of the token. Sets another token,
	 * or waits until the code host knows this one, and returns true: the call is made once
	 * more. May suspend and raise. NULL: never. */
	bool (*renew)(struct request *rq, struct code_host_auth *auth, int status);
	const void *renew_for; /* of renew() */
	int64_t made_ms;       /* time_monotonic_ms() of the token; of renew() */
	unsigned waits;        /* how often renew() has waited */
};

struct code_host_answer {
	int status;       /* below 500, and never a rate limit, nor 401 for the app */
	yyjson_val *json; /* NULL: the answer has no JSON */
	/* The path that answered a GET: another one than asked for when the repository was renamed
	 * or moved, such as `/repositories/1296269/installation`. */
	const char *path;
	const char *link; /* the field Link, which has the next page of a list; NULL: none */
};

/** Call `method` `path` (`/repos/acme/ranker`) with a JSON body, or none (NULL). A GET follows the
 * redirects of renamed repositories; a change does not, and should name the repository as the code
 * host does (installation_token.repo).
 *
 * A token that the code host refuses is renewed, and the call made again: a refused call was not
 * carried out.
 *
 * Raises ERR_UNAVAILABLE: the code host cannot be reached, a rate limit is reached (then the reply
 * has a Retry-After), a GET was not answered, or the code host refuses the app (401), as it does
 * for minutes in its incidents. ERR_UNCERTAIN: a change was sent, and the answer
 * was lost or has a status of 500 and above. ERR_UPSTREAM: the answer is no JSON. */
struct code_host_answer code_host_call(struct request *rq, const struct code_host_auth *auth,
                                       const char *method, const char *path, yyjson_mut_val *body);

/** As code_host_call() with POST, for what changes nothing, such as making a token: never
 * ERR_UNCERTAIN. */
struct code_host_answer code_host_post_safe(struct request *rq, const struct code_host_auth *auth,
                                            const char *path, yyjson_mut_val *body);

/** The code host's own words in a refusal, in the request's arena: `Validation Failed: …`. */
const char *code_host_reason(struct request *rq, const struct code_host_answer *answer);

/** Characters of the longest `owner/name`. */
#define REPOSITORY_NAME_MAX 201

/** Whether a text is `owner/name`, in the characters that the code host allows. */
bool repository_name_is_valid(const char *text);

/** The same as the check of an input row (input.h). */
bool repository_name_check(const char *text, size_t length, const char **ret_message);

/** `owner/name` of a repository. */
struct repository_name {
	const char *owner, *name;
	const char *full; /* `owner/name` as given */
	int64_t id;       /* the code host's number of it (access_require()); 0: unknown */
	/* Why it takes no changes, and what to do about it: `acme/ranker is archived at the code
	 * host: unarchive it`. NULL: it takes them, or that was not asked
	 * (access_require_anew()). */
	const char *obstacle;
};

/** Split `owner/name`. Raises ERR_INVALID, naming `field`, when the text has another form. */
struct repository_name repository_name_read(struct request *rq, const char *field,
                                            const char *text);
