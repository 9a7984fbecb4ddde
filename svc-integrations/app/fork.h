/** Forking a repository into the caller's own account at the code host, as the caller. */
#pragma once

#include "loop/request.h"

/** POST /github/fork: {"repo", "branches"}. Forks, waits until the fork answers, and creates the branches
 * that it lacks at the commits of the source. Repeating it finds what exists. */
void fork_create(struct request *rq);
