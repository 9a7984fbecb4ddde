#include "loop/offload.h"

#include "base/defines.h"
#include "loop/worker.h"

struct errand {
	uv_work_t work;
	void (*run)(void *arg);
	void *arg;
	struct fiber *fiber;
	bool is_done;
};

static void on_thread(uv_work_t *work)
{
	struct errand *errand = work->data;
	errand->run(errand->arg);
}

static void on_done(uv_work_t *work, int status)
{
	struct errand *errand = work->data;
	(void)status; /* it is never cancelled */
	errand->is_done = true;
	fiber_wake(errand->fiber);
}

void request_offload(struct request *rq, void (*work)(void *arg), void *arg)
{
	struct errand *errand = arena_new_of(rq->arena, struct errand);
	*errand = (struct errand){.run = work, .arg = arg, .fiber = fiber_self()};
	errand->work.data = errand;
	require(uv_queue_work(&rq->worker->loop, &errand->work, on_thread, on_done) == 0);
	while (!errand->is_done)
		fiber_wait_uncancelled();
	enum err_code reason = fiber_cancelled(errand->fiber);
	if (reason != ERR_NONE)
		raise_error(rq, reason, "given up while it was computed");
}
