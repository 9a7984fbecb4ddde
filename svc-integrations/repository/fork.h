/** Forking a repository into the caller's own account at the code host, as the caller. */
#pragma once

#include "loop/request.h"

/** POST /github/fork: {"repo", "branches"}. Forks, waits until the fork has commits, and creates
 * the branches that it lacks at the commits of the source. Repeating it finds what exists. A fork
 * takes the code host up to some minutes: one that is not there in time is 503 with Retry-After,
 * and the repetition finds it. */
void fork_create(struct request *rq);
