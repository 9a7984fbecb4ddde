#include "loop/sleep.h"

#include "loop/worker.h"

#include <stdlib.h>

/* Lives until libuv has closed the timer, which may be after the request. */
struct sleeper {
	uv_timer_t timer;
	struct fiber *fiber;
	bool is_over;
};

static void on_time(uv_timer_t *timer)
{
	struct sleeper *sleeper = timer->data;
	sleeper->is_over = true;
	fiber_wake(sleeper->fiber);
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void request_sleep(struct request *rq, uint64_t ms)
{
	struct sleeper *sleeper = calloc(1, sizeof(*sleeper));
	enum err_code reason = ERR_NONE;
	require(sleeper);
	sleeper->fiber = rq->fiber;
	uv_timer_init(&rq->worker->loop, &sleeper->timer);
	sleeper->timer.data = sleeper;
	uv_timer_start(&sleeper->timer, on_time, ms, 0);
	while (!sleeper->is_over && !reason)
		reason = fiber_wait();
	uv_close((uv_handle_t *)&sleeper->timer, on_closed);
	if (reason)
		raise_error(rq, reason, "the request was given up while it waited");
}
