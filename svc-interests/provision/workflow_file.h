/** The workflow file that provisioning puts into a repository: ../workflow/expops.yml with its
 * settings filled in. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

/** Check what the table of settings cannot. ERR_INVALID, after a line on standard error for each
 * fault. */
enum err_code workflow_settings_check(void);

struct workflow_values {
	const char *interest, *agent, *provider;
};

/** The file's content; in the arena. */
const char *workflow_file(struct arena *arena, const struct workflow_values *values);

/** The version of the workflow: a hash of the file with its settings and without the values, in
 * hexadecimal; in the arena. A repository whose file has another version is out of date. NULL
 * without PUBLIC_URL: no repository can have it. */
const char *workflow_version(struct arena *arena);
