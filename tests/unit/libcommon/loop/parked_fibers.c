/* Parks two fibers and stops, for tests/unit/tools/test_fibers_gdb.py to look at. */
#include "base/base.h"
#include "loop/fiber.h"

#include <signal.h>

static int depth;

static __attribute__((noinline)) void wait_for_a_reply(const char *label)
{
	fiber_set_label(label);
	while (depth >= 0)
		fiber_wait_uncancelled();
}

static __attribute__((noinline)) void ask_the_server(const char *label)
{
	wait_for_a_reply(label);
	depth++;
}

static void handle_request(void *arg)
{
	ask_the_server(arg);
	depth++;
}

int main(void)
{
	fiber_start(handle_request, "request-1", NULL);
	fiber_start(handle_request, "request-2", NULL);
	raise(SIGTRAP);
	return 0;
}
