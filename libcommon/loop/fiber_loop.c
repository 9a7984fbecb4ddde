#include "loop/fiber.h"

#include <stdlib.h>

/* The two handles by which a loop runs its ready fibers, one allocation. */
struct fiber_hooks {
	uv_prepare_t prepare;
	uv_check_t check;
	int open;
};

static _Thread_local struct fiber_hooks *thread_hooks;

static void before_poll(uv_prepare_t *handle)
{
	(void)handle;
	fiber_run_ready();
}

static void after_poll(uv_check_t *handle)
{
	(void)handle;
	fiber_run_ready();
}

void fiber_loop_attach(uv_loop_t *loop)
{
	require(!thread_hooks);
	struct fiber_hooks *hooks = calloc(1, sizeof(*hooks));
	require(hooks);
	thread_hooks = hooks;
	hooks->open = 2;
	hooks->prepare.data = hooks->check.data = hooks;
	uv_prepare_init(loop, &hooks->prepare);
	uv_check_init(loop, &hooks->check);
	uv_prepare_start(&hooks->prepare, before_poll);
	uv_check_start(&hooks->check, after_poll);
	uv_unref((uv_handle_t *)&hooks->prepare);
	uv_unref((uv_handle_t *)&hooks->check);
}

static void hook_closed(uv_handle_t *handle)
{
	struct fiber_hooks *hooks = handle->data;
	if (--hooks->open == 0)
		free(hooks);
}

void fiber_loop_detach(uv_loop_t *loop)
{
	(void)loop;
	struct fiber_hooks *hooks = thread_hooks;
	require(hooks);
	thread_hooks = NULL;
	uv_close((uv_handle_t *)&hooks->prepare, hook_closed);
	uv_close((uv_handle_t *)&hooks->check, hook_closed);
}
