/** Entity tags (RFC 9110, section 8.8.3) of what counts its versions: version 5 is `"5"`. */
#pragma once

#include "base/arena.h"
#include "loop/request.h"

/** The versions that the If-Match fields of a request let be changed (RFC 9110, section 13.1.1), in
 * the form of etag_versions(); NULL without such a field. */
const char *etag_if_match(struct request *rq);

/** The versions that the value of an If-Match field names, as an array literal of Postgres,
 * `{4,6}`; `{}` where no version has any of its tags. Weak tags never match. NULL: any version
 * (`*`). In the arena. */
const char *etag_versions(struct arena *arena, const char *if_match);

/** Put version `version` (its digits) into the reply as ETag. */
void etag_reply(struct request *rq, const char *version);
