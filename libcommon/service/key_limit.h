/** Limits of the caller's key: an automation key can be limited to a repository, an interest or
 * both (struct identity). An operation on another repository or interest is refused with
 * ERR_FORBIDDEN; what names neither is not limited. Operations on the whole account are refused by
 * their row in api.def (WHOLE_ACCOUNT).
 *
 * Where the limits are applied:
 * - An interest in the path, query or body: a row with OF_INTEREST (input.h) checks it, or sets it
 *   when it is absent, so that a list shows only the key's own interest.
 * - A row of the database that belongs to an interest or repository: the handler reads which one,
 *   and calls the functions below.
 * - A list: its statement gets the key's limit as a filter.
 */
#pragma once

#include "loop/request.h"

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

/** Raise ERR_FORBIDDEN when the caller's key is limited to another repository. Names of
 * repositories are compared without case. NULL: it concerns no repository. */
void require_repo(struct request *rq, const char *repo);
