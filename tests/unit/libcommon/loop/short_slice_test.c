#include "loop/short_slice.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmocka.h>

/* As in sched_getattr(2). */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

static struct attributes read_attributes(void)
{
	struct attributes read = {0};
	assert_int_equal(syscall(SYS_sched_getattr, 0, &read, sizeof(read), 0), 0);
	return read;
}

static bool kernel_has_slices(void)
{
	struct utsname name;
	int major = 0, minor = 0;
	uname(&name);
	sscanf(name.release, "%d.%d", &major, &minor);
	return major > 6 || (major == 6 && minor >= 12);
}

static void *ask(void *ret_attributes)
{
	setpriority(PRIO_PROCESS, 0, 5);
	sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){0});
	short_slice_ask();
	*(struct attributes *)ret_attributes = read_attributes();
	return NULL;
}

/* What else the operator has set stays. */
static void test_a_thread_gets_short_slices(void **state)
{
	(void)state;
	struct attributes before = read_attributes(), other;
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, ask, &other), 0);
	pthread_join(thread, NULL);
	assert_int_equal(other.nice, 5);
	assert_int_equal(other.policy, SCHED_BATCH);
	assert_int_equal(other.runtime_ns, kernel_has_slices() ? 500000 : before.runtime_ns);
	assert_int_equal(read_attributes().runtime_ns, before.runtime_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_thread_gets_short_slices),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
