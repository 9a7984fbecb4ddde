/** The processor time that this process has used, in seconds: user and system, of all its
 * threads. */
#pragma once

#include <time.h>

static inline double cpu_seconds(void)
{
	struct timespec used;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}
