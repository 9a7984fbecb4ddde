/** The names file of fake_dns.c, for unit tests. */
#pragma once

#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

struct fake_names {
	char folder[SCRATCH_PATH_MAX];
	char path[SCRATCH_PATH_MAX + 16], next[SCRATCH_PATH_MAX + 16];
};

static inline void fake_names_start(struct fake_names *names)
{
	scratch_new(names->folder, "expops-names");
	snprintf(names->path, sizeof(names->path), "%s/names", names->folder);
	snprintf(names->next, sizeof(names->next), "%s/next", names->folder);
	assert_int_equal(setenv("FAKE_DNS", names->path, 1), 0);
}

/** From now on `name` has these addresses, separated by spaces. */
static inline void fake_names_set(const struct fake_names *names, const char *name,
                                  const char *addresses)
{
	FILE *file = fopen(names->next, "we");
	assert_non_null(file);
	fprintf(file, "%s %s\n", name, addresses);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(rename(names->next, names->path), 0);
}

static inline void fake_names_stop(const struct fake_names *names)
{
	unsetenv("FAKE_DNS");
	unlink(names->path);
	rmdir(names->folder);
}
