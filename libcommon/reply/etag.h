/** Entity tags (RFC 9110, section 8.8.3), all of them strong.
 *
 * A 200 of a GET with a path parameter, that is of one object, gets the hash of its content as a
 * tag, unless the handler has set one or called reply_is_secret(); a request whose If-None-Match
 * has the tag is answered 304. Handlers do nothing for this.
 *
 * For rows with a version counter: the tag of version 5 is `"5"`, or `"5-3f2a"` when the content
 * shows something that does not increase the version; the part after the hyphen is then a hash of
 * that.
 *
 * A handler that changes such a row passes etag_if_match() to its statement, which changes the row
 * only when its version is in the list (or the list is NULL), raises ERR_PRECONDITION when the row
 * exists in another version, and calls etag_reply() with the new version:
 *
 *     UPDATE …
 *     WHERE id = :run AND (:versions::bigint[] IS NULL OR version = ANY (:versions::bigint[]))
 */
#pragma once

#include "base/arena.h"
#include "loop/request.h"
#include "pg/pg.h"

#include <stdbool.h>
#include <stddef.h>

/** The versions that the request's If-Match fields allow to be changed (RFC 9110, section 13.1.1),
 * as etag_versions() returns them; NULL when the request has no such field. */
const char *etag_if_match(struct request *rq);

/** Before request_input(), which raises it: an If-Match other than `*` of a PUT, PATCH or DELETE is
 * a fault unless the operation is API_VERSIONED. The client relies on what would not be done. */
void etag_refuse_if_match(struct request *rq);

/** Convert the value of an If-Match field to an array literal of Postgres: `"4", "6"` becomes
 * `{4,6}`. The tag of a compressed form, `"4-gzip"`, is that of version 4. Tags that are weak or no
 * version are left out, so the result can be `{}`, which matches nothing. NULL: the value is `*`,
 * any version. In the arena. */
const char *etag_versions(struct arena *arena, const char *if_match);

/** Add the field ETag for `version` (decimal digits, optionally a hyphen and lower-case hex) to the
 * reply; where nothing is changed by If-Match, any text without quotes. */
void etag_reply(struct request *rq, const char *version);

/** Raise ERR_NOT_FOUND when there is no row, and ERR_PRECONDITION when its first column is NULL, by
 * which a statement says that the object has another version than If-Match allows. `noun` is for
 * the detail: `project`. */
void etag_require(struct request *rq, const struct pg_rows *rows, const char *noun);

/** Reply with an object: the first column is its JSON, and `tag` its version. Raises as
 * etag_require(). */
void etag_reply_object(struct request *rq, int status, const struct pg_rows *rows,
                       const char *noun);

/** Whether the request has the field If-None-Match, so that a tag which is cheaper than the content
 * is worth looking up first. */
bool etag_is_asked(struct request *rq);

/** Whether the request's If-None-Match has the tag with this text. Then the reply is made, a 304
 * with the tag, and the handler returns without making the content. */
bool etag_reply_known(struct request *rq, const char *text);

/** Say that the client has the content of the reply, by another field than If-None-Match, such as
 * If-Modified-Since: it becomes a 304, with the fields of the 200. */
void etag_reply_unchanged(struct request *rq);

/** For http_request.c: add the hash of the content as ETag, where it is due, and turn the reply
 * into a 304 if If-None-Match has its tag. */
void etag_validate(struct request *rq);

/** A tag of the content, with quotes. In the arena. */
const char *etag_of_content(struct arena *arena, const void *content, size_t length);

/** The tag of the gzip form of the content that has the tag `etag`: `"5"` becomes `"5-gzip"`,
 * because a strong tag names one sequence of bytes. A weak tag stays the same. In the arena, or
 * `etag` itself. */
const char *etag_of_gzip(struct arena *arena, const char *etag);

/** Whether the value of an If-None-Match field is `*` or has the tag `etag` (with quotes), or that
 * of its gzip form. Compares weakly (RFC 9110, section 8.8.3.2). */
bool etag_matches(const char *if_none_match, const char *etag);
