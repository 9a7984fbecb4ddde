/** Rate limits of the code host. The code host limits the app, each installation and each user
 * apart, and says in its answers for how long no more calls may be made. That time is a row of the
 * table `rate_limit`, so that all replicas wait; until then calls are answered 503 with
 * Retry-After. */
#pragma once

#include "client/fetch.h"

/** Raise ERR_UNAVAILABLE, with Retry-After, while the limit `name` is reached: `app`, `installation
 * 123`, `user 0197…`. Suspends. */
void rate_limit_check(struct request *rq, const char *name);

/** Obey what an answer says about the limit `name`. Raises ERR_UNAVAILABLE, with Retry-After, when
 * the call was refused for it; a call that used up the limit has succeeded, and only the next ones
 * wait. Suspends. */
void rate_limit_obey(struct request *rq, const char *name, const struct fetch_response *answer);

/** For how many seconds no more calls may be made after an answer, at most an hour; 0: they may.
 * `now_ms` is used when the answer does not give the code host's own time. The rules are those of
 * "Rate limits for the REST API" in GitHub's documentation. */
int64_t rate_limit_wait_s(const struct fetch_response *answer, int64_t now_ms);
