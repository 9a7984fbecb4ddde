#include "base/resources.h"

#include "base/base.h"
#include "scratch.h"

#include <sys/stat.h>

static char root[SCRATCH_PATH_MAX];

static int setup(void **state)
{
	(void)state;
	scratch_new(root, "expops-resources");
	return 0;
}

/* Write `folder/name` below the root; makes the folder. */
static void put(const char *folder, const char *name, const char *text)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s", root, folder);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%s/%s", root, folder, name);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void test_quota_of_version_2(void **state)
{
	(void)state;
	assert_int_equal(cpu_quota("0::/\n", root), 0);
	put(".", "cpu.max", "max 100000\n");
	assert_int_equal(cpu_quota("0::/\n", root), 0);
	put(".", "cpu.max", "200000 100000\n");
	assert_int_equal(cpu_quota("0::/\n", root), 2);
	put("pod", "cpu.max", "150000 100000\n");
	assert_int_equal(cpu_quota("0::/pod\n", root), 2);
	put("pod", "cpu.max", "50000 100000\n");
	assert_int_equal(cpu_quota("0::/pod\n", root), 1);
	put("pod", "cpu.max", "max 100000\n");
	assert_int_equal(cpu_quota("0::/pod/none\n", root), 2);
	/* A container that sees its own group as the root, and its path as the host does. */
	assert_int_equal(cpu_quota("0::/system.slice/docker-1.scope\n", root), 2);
}

static void test_quota_of_version_1(void **state)
{
	(void)state;
	static const char GROUPS[] = "12:pids:/a\n4:cpuset:/a\n3:cpu,cpuacct:/a\n0::/\n";
	put("cpu", "cpu.cfs_quota_us", "-1\n");
	put("cpu", "cpu.cfs_period_us", "100000\n");
	assert_int_equal(cpu_quota(GROUPS, root), 0);
	put("cpu/a", "cpu.cfs_quota_us", "250000\n");
	put("cpu/a", "cpu.cfs_period_us", "100000\n");
	assert_int_equal(cpu_quota(GROUPS, root), 3);
	put("cpu", "cpu.cfs_quota_us", "100000\n");
	assert_int_equal(cpu_quota(GROUPS, root), 1);
}

static void test_limit_of_memory(void **state)
{
	(void)state;
	static const char GROUPS[] = "9:memory:/a\n0::/pod\n";
	assert_int_equal(memory_limit_of(GROUPS, root), 0);
	put(".", "memory.max", "max\n");
	assert_int_equal(memory_limit_of(GROUPS, root), 0);
	put("pod", "memory.max", "1073741824\n");
	assert_int_equal(memory_limit_of(GROUPS, root), 1 << 30);
	put(".", "memory.max", "536870912\n");
	assert_int_equal(memory_limit_of(GROUPS, root), 512 << 20);
	put("memory", "memory.limit_in_bytes", "9223372036854771712\n");
	assert_int_equal(memory_limit_of(GROUPS, root), 512 << 20);
	put("memory/a", "memory.limit_in_bytes", "268435456\n");
	assert_int_equal(memory_limit_of(GROUPS, root), 256 << 20);
}

static void test_text_that_is_no_quota(void **state)
{
	(void)state;
	put(".", "cpu.max", "a b c");
	assert_int_equal(cpu_quota("0::/\n", root), 0);
	put(".", "cpu.max", "200000");
	assert_int_equal(cpu_quota("0::/\n", root), 0);
	put(".", "cpu.max", "0 0");
	assert_int_equal(cpu_quota("0::/\nnonsense\n:\n::\n\n", root), 0);
	assert_int_equal(cpu_quota("", root), 0);
	assert_true(cpu_count() >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_quota_of_version_2, setup),
		cmocka_unit_test_setup(test_quota_of_version_1, setup),
		cmocka_unit_test_setup(test_limit_of_memory, setup),
		cmocka_unit_test_setup(test_text_that_is_no_quota, setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
