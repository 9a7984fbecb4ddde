/** How many processors and how much memory this process may use. */
#pragma once

#include <stdint.h>

/** The processors that the scheduler gives the process (sched_getaffinity), or fewer where a
 * control group limits its time: cpu.max of version 2, cpu.cfs_quota_us of version 1, of the own
 * group or one above it, rounded up. At least 1. */
int cpu_count(void);

/** The limit of the control groups alone; 0: none. `cgroups` is a text as in /proc/self/cgroup,
 * `root` where their file systems are mounted (/sys/fs/cgroup). */
int cpu_quota(const char *cgroups, const char *root);

/** Bytes of memory that the process's control group may take, or one above it: memory.max of
 * version 2, memory.limit_in_bytes of version 1. 0: as many as the machine has. */
int64_t memory_limit(void);

/** The same of `cgroups` and `root`, as cpu_quota() takes them. */
int64_t memory_limit_of(const char *cgroups, const char *root);
