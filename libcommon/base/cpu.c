#include "base/cpu.h"

#include "base/base.h"

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX   2048
#define FOLDER_MAX 1024
#define FILE_MAX   (FOLDER_MAX + 32) /* a file in it */

/* Read a small file; "" when there is none. */
static void read_text(const char *path, char text[TEXT_MAX])
{
	FILE *file = fopen(path, "re");
	size_t length = file ? fread(text, 1, TEXT_MAX - 1, file) : 0;
	text[length] = '\0';
	if (file)
		fclose(file);
}

static int rounded_up(long long quota_us, long long period_us)
{
	if (quota_us <= 0 || period_us <= 0)
		return 0;
	return (int)MIN_OF((quota_us + period_us - 1) / period_us, INT_MAX);
}

/* Read a decimal number and move `at` past it; 0 when there is none, as in `max`. */
static long long next_number(const char **at)
{
	char *end;
	long long number = strtoll(*at, &end, 10);
	*at = end;
	return number;
}

/* cpu.max: `200000 100000`, or `max 100000`. */
static int quota_v2(const char *folder)
{
	char path[FILE_MAX], text[TEXT_MAX];
	snprintf(path, sizeof(path), "%s/cpu.max", folder);
	read_text(path, text);
	const char *at = text;
	long long quota_us = next_number(&at);
	return rounded_up(quota_us, next_number(&at));
}

static int quota_v1(const char *folder)
{
	static const char *const NAMES[] = {"cpu.cfs_quota_us", "cpu.cfs_period_us"};
	long long values[2];
	for (int i = 0; i < 2; i++) {
		char path[FILE_MAX], text[TEXT_MAX];
		snprintf(path, sizeof(path), "%s/%s", folder, NAMES[i]);
		read_text(path, text);
		const char *at = text;
		values[i] = next_number(&at);
	}
	return rounded_up(values[0], values[1]);
}

static int lower(int a, int b)
{
	return a && b ? MIN_OF(a, b) : a + b;
}

/* The lowest quota of the group `path` and those above it, up to the mount point. */
static int quota_upwards(const char *mount, const char *path, int (*quota_of)(const char *folder))
{
	char folder[FOLDER_MAX];
	size_t mount_length = strlen(mount);
	int quota = 0;
	if (snprintf(folder, sizeof(folder), "%s%s", mount, path) >= (int)sizeof(folder))
		return quota_of(mount);
	for (;;) {
		quota = lower(quota, quota_of(folder));
		char *slash = strrchr(folder, '/');
		if (!slash || (size_t)(slash - folder) < mount_length)
			return quota;
		*slash = '\0';
	}
}

/* Whether the list of controllers, `cpu,cpuacct`, has `cpu`. */
static bool has_cpu(const char *controllers)
{
	const char *at = controllers;
	while (*at) {
		size_t length = strcspn(at, ",");
		if (length == 3 && strncmp(at, "cpu", 3) == 0)
			return true;
		at += length + (at[length] == ',');
	}
	return false;
}

/* Lines are `0::/path` for version 2 and `4:cpu,cpuacct:/path` for version 1. */
int cpu_quota(const char *cgroups, const char *root)
{
	char line[TEXT_MAX], mount[FOLDER_MAX];
	int quota = 0;
	for (const char *at = cgroups; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
		char *controllers = strchr(line, ':');
		char *path = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!path)
			continue;
		*path++ = '\0';
		controllers++;
		if (!*controllers) {
			quota = lower(quota, quota_upwards(root, path, quota_v2));
		} else if (has_cpu(controllers)) {
			snprintf(mount, sizeof(mount), "%s/cpu", root);
			quota = lower(quota, quota_upwards(mount, path, quota_v1));
		}
	}
	return quota;
}

int cpu_count(void)
{
	char cgroups[TEXT_MAX];
	cpu_set_t set;
	int count = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
	read_text("/proc/self/cgroup", cgroups);
	int quota = cpu_quota(cgroups, "/sys/fs/cgroup");
	return MAX_OF(quota ? MIN_OF(quota, count) : count, 1);
}
