/** How many processors this process may use. */
#pragma once

/** The processors that the scheduler gives the process (sched_getaffinity), or fewer where a
 * control group limits its time: cpu.max of version 2, cpu.cfs_quota_us of version 1, of the own
 * group or one above it, rounded up. At least 1. */
int cpu_count(void);

/** The limit of the control groups alone; 0: none. `cgroups` is a text as in /proc/self/cgroup,
 * `root` where their file systems are mounted (/sys/fs/cgroup). */
int cpu_quota(const char *cgroups, const char *root);
