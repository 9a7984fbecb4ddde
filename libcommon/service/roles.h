/** What a process does, the setting ROLES: `http`, answer requests; `jobs`, run tasks, event
 * handlers, the outbox relay and recurring work (task/task.h). By default it does both. */
#pragma once

#include "base/error.h"

#include <stdbool.h>

struct roles {
	bool has_http, has_jobs;
};

/** Parse names separated by commas, in any order. ERR_INVALID: there is none, one is unknown, or
 * one is repeated. */
enum err_code roles_parse(const char *text, struct roles *ret_roles);
