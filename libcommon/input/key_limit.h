/** Limits of the caller's key: an automation key can be limited to a repository, an interest or
 * both (struct identity).
 *
 * What belongs to no repository and no interest is not the key's: an operation on another
 * repository or interest is refused with ERR_FORBIDDEN, a row of the database that belongs to none
 * is ERR_NOT_FOUND, and lists leave it out. Operations are closed to limited keys unless their row
 * in api.def opens them (REPO_KEYS, INTEREST_KEYS).
 *
 * Where the limits are applied:
 * - An interest in the path, query or body: a row with OF_INTEREST (input.h) checks it, or sets it
 *   when it is absent, so that a list shows only the key's own interest.
 * - A repository in the query or body: the handler calls require_repo().
 * - A row of the database that belongs to an interest or repository: the handler reads which one,
 *   and calls require_interest() or require_repo_of().
 * - A list: its statement gets the key's limit as a filter that a row without a repository or
 *   interest does not pass: `:repository IS NULL OR repo = :repository`, and never a coalesce() of
 *   the row's.
 */
#pragma once

#include "loop/request.h"

/** Whether the caller's key is limited. */
bool key_is_limited(const struct request *rq);

/** Raise ERR_FORBIDDEN when the caller's key is limited to another interest. `interest` in
 * canonical form; NULL: it concerns all interests, which a limited key may not. */
void require_interest(struct request *rq, const char *interest);

/** Whether the text is `owner/name` as code hosts write it; the `check` of an input row. */
bool repo_check(const char *text, size_t length, const char **ret_message);

#define REPO_MAX 200 /* characters */

/** Input rows (input.h) of a repository that must be named. */
#define QUERY_REPO(s, m)                                                                           \
	{                                                                                          \
		IN_QUERY, FIELD_TEXT, "repo", FIELD_AT(s, m, const char *), REQUIRED, 3, REPO_MAX, \
			.check = repo_check                                                        \
	}
#define BODY_REPO(s, m)                                                                           \
	{                                                                                         \
		IN_BODY, FIELD_TEXT, "repo", FIELD_AT(s, m, const char *), REQUIRED, 3, REPO_MAX, \
			.check = repo_check                                                       \
	}

/** Raise ERR_FORBIDDEN when a request names another repository than the caller's key is limited to.
 * An old name of a repository is as good as its present one (repository_name.h). NULL: it names
 * none; the handler then takes the key's own. Suspends. */
void require_repo(struct request *rq, const char *repo);

/** Require that a row of the database is the key's: `repo` is the repository that it belongs to.
 * Raises ERR_FORBIDDEN: another one; ERR_NOT_FOUND with the detail `missing`: NULL, it belongs to
 * none. */
void require_repo_of(struct request *rq, const char *repo, const char *missing);
