#include "loop/short_slice.h"

#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLICE_NS    500000
#define KEEP_POLICY 0x08 /* SCHED_FLAG_KEEP_POLICY */

/* Of sched_setattr(2), which libraries before glibc 2.41 lack: SCHED_ATTR_SIZE_VER0. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

void short_slice_ask(void)
{
	const struct attributes attributes = {
		.size = sizeof(attributes),
		.flags = KEEP_POLICY,
		.nice = getpriority(PRIO_PROCESS, 0),
		.runtime_ns = SLICE_NS,
	};
	syscall(SYS_sched_setattr, 0, &attributes, 0);
}
