/** Entity tags (RFC 9110, section 8.8.3) for rows with a version counter: the tag of version 5 is
 * `"5"`.
 *
 * A handler that changes such a row passes etag_if_match() to its statement, which changes the row
 * only when its version is in the list (or the list is NULL), raises ERR_PRECONDITION when the row
 * exists in another version, and calls etag_reply() with the new version:
 *
 *     UPDATE … WHERE id = $1 AND ($6::bigint[] IS NULL OR version = ANY ($6::bigint[]))
 */
#pragma once

#include "base/arena.h"
#include "loop/request.h"

/** The versions that the request's If-Match fields allow to be changed (RFC 9110, section 13.1.1), as
 * etag_versions() returns them; NULL when the request has no such field. */
const char *etag_if_match(struct request *rq);

/** Convert the value of an If-Match field to an array literal of Postgres: `"4", "6"` becomes
 * `{4,6}`; `"4-gzip"`, the tag of the compressed form, is also version 4. Tags that are weak or no version are left out, so the result can be `{}`, which matches
 * nothing. NULL: the value is `*`, any version. In the arena. */
const char *etag_versions(struct arena *arena, const char *if_match);

/** Add the field ETag for the version `version` (decimal digits) to the reply. */
void etag_reply(struct request *rq, const char *version);
