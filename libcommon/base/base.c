#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>

void require_failed(const char *condition, const char *file, int line, const char *func)
{
	fprintf(stderr, "%s:%d: %s: requirement failed: %s\n", file, line, func, condition);
	abort();
}
