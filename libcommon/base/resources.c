#include "base/resources.h"

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

/* Version 1 has a number of about 2^63 where there is no limit. */
#define NO_MEMORY_LIMIT (INT64_C(1) << 60)

/* Read a small file; "" when there is none. */
static void read_text(const char *path, char text[TEXT_MAX])
{
	FILE *file = fopen(path, "re");
	size_t length = file ? fread(text, 1, TEXT_MAX - 1, file) : 0;
	text[length] = '\0';
	if (file)
		fclose(file);
}

/* Read the numbers of a file of a control group; those that are missing, as in `max`, are 0. */
static void read_numbers(const char *folder, const char *name, long long *numbers, size_t count)
{
	char path[FILE_MAX], text[TEXT_MAX];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	read_text(path, text);
	char *at = text;
	for (size_t i = 0; i < count; i++)
		numbers[i] = strtoll(at, &at, 10);
}

/* --- One control group: its limit, 0: none ---------------------------------------------------- */

static int64_t rounded_up(long long quota_us, long long period_us)
{
	if (quota_us <= 0 || period_us <= 0)
		return 0;
	return MIN_OF((quota_us + period_us - 1) / period_us, INT_MAX);
}

/* cpu.max: `200000 100000`, or `max 100000`. */
static int64_t cpu_v2(const char *folder)
{
	long long numbers[2];
	read_numbers(folder, "cpu.max", numbers, 2);
	return rounded_up(numbers[0], numbers[1]);
}

static int64_t cpu_v1(const char *folder)
{
	long long quota_us, period_us;
	read_numbers(folder, "cpu.cfs_quota_us", &quota_us, 1);
	read_numbers(folder, "cpu.cfs_period_us", &period_us, 1);
	return rounded_up(quota_us, period_us);
}

static int64_t memory_v2(const char *folder)
{
	long long bytes;
	read_numbers(folder, "memory.max", &bytes, 1);
	return MAX_OF(bytes, 0);
}

static int64_t memory_v1(const char *folder)
{
	long long bytes;
	read_numbers(folder, "memory.limit_in_bytes", &bytes, 1);
	return bytes < NO_MEMORY_LIMIT ? MAX_OF(bytes, 0) : 0;
}

static const struct controller {
	const char *name;
	int64_t (*limit_v2)(const char *folder);
	int64_t (*limit_v1)(const char *folder);
} CPU = {"cpu", cpu_v2, cpu_v1}, MEMORY = {"memory", memory_v2, memory_v1};

/* --- The groups of the process ---------------------------------------------------------------- */

static int64_t lower(int64_t a, int64_t b)
{
	return a && b ? MIN_OF(a, b) : a + b;
}

/* The lowest limit of the group `path` and those above it, up to the mount point. */
static int64_t limit_upwards(const char *mount, const char *path,
                             int64_t (*limit_of)(const char *folder))
{
	char folder[FOLDER_MAX];
	size_t mount_length = strlen(mount);
	int64_t limit = 0;
	if (snprintf(folder, sizeof(folder), "%s%s", mount, path) >= (int)sizeof(folder))
		return limit_of(mount);
	for (;;) {
		limit = lower(limit, limit_of(folder));
		char *slash = strrchr(folder, '/');
		if (!slash || (size_t)(slash - folder) < mount_length)
			return limit;
		*slash = '\0';
	}
}

/* Whether the list of controllers, `cpu,cpuacct`, has one. */
static bool has_controller(const char *controllers, const char *name)
{
	const char *at = controllers;
	while (*at) {
		size_t length = strcspn(at, ",");
		if (length == strlen(name) && strncmp(at, name, length) == 0)
			return true;
		at += length + (at[length] == ',');
	}
	return false;
}

/* Lines are `0::/path` for version 2 and `4:cpu,cpuacct:/path` for version 1. */
static int64_t limit_of_groups(const struct controller *controller, const char *cgroups,
                               const char *root)
{
	char line[TEXT_MAX], mount[FOLDER_MAX];
	int64_t limit = 0;
	for (const char *at = cgroups; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
		char *controllers = strchr(line, ':');
		char *path = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!path)
			continue;
		*path++ = '\0';
		controllers++;
		if (!*controllers) {
			limit = lower(limit, limit_upwards(root, path, controller->limit_v2));
		} else if (has_controller(controllers, controller->name)) {
			snprintf(mount, sizeof(mount), "%s/%s", root, controller->name);
			limit = lower(limit, limit_upwards(mount, path, controller->limit_v1));
		}
	}
	return limit;
}

int cpu_quota(const char *cgroups, const char *root)
{
	return (int)limit_of_groups(&CPU, cgroups, root);
}

int64_t memory_limit_of(const char *cgroups, const char *root)
{
	return limit_of_groups(&MEMORY, cgroups, root);
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

int64_t memory_limit(void)
{
	char cgroups[TEXT_MAX];
	read_text("/proc/self/cgroup", cgroups);
	return memory_limit_of(cgroups, "/sys/fs/cgroup");
}
