/** Makes a temporary folder for a test, in TMPDIR, which deploy/dev removes at the end of a run.
 * Uses /tmp when TMPDIR is not set or is too long for the path of a unix socket. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SCRATCH_PATH_MAX 64

static inline void scratch_new(char path[SCRATCH_PATH_MAX], const char *name)
{
	const char *parent = getenv("TMPDIR");
	if (!parent || strlen(parent) + strlen(name) + sizeof("/-XXXXXX") > SCRATCH_PATH_MAX)
		parent = "/tmp";
	snprintf(path, SCRATCH_PATH_MAX, "%s/%s-XXXXXX", parent, name);
	assert_non_null(mkdtemp(path));
}
