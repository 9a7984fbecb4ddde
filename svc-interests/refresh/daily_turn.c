#include "refresh/daily_turn.h"

#include "base/base.h"
#include "base/resources.h"
#include "loop/fiber.h"

#include <sys/queue.h>

/* On the stack of the fiber that waits. */
struct waiter {
	TAILQ_ENTRY(waiter) entry;
	struct fiber *fiber;
	bool has_turn; /* and is not in the list any more */
};

static TAILQ_HEAD(, waiter) waiting = TAILQ_HEAD_INITIALIZER(waiting);
static int taken;

int daily_turns(void)
{
	return MAX_OF(cpu_count() - 1, 1);
}

/* Pass a turn on to the one that has waited longest. */
static void turn_end(void *unused attr_unused)
{
	struct waiter *next = TAILQ_FIRST(&waiting);
	if (!next) {
		taken--;
		return;
	}
	TAILQ_REMOVE(&waiting, next, entry);
	next->has_turn = true;
	fiber_wake(next->fiber);
}

/* ERR_NONE: there was a turn. */
static enum err_code turn_wait(struct request *rq)
{
	struct waiter waiter = {.fiber = rq->fiber};
	enum err_code reason = ERR_NONE;
	TAILQ_INSERT_TAIL(&waiting, &waiter, entry);
	while (!waiter.has_turn && !reason)
		reason = fiber_wait();
	if (waiter.has_turn)
		return ERR_NONE;
	TAILQ_REMOVE(&waiting, &waiter, entry);
	return reason;
}

void daily_turn_take(struct request *rq)
{
	request_require_no_transaction(rq);
	enum err_code reason = ERR_NONE;
	if (taken < daily_turns())
		taken++;
	else
		reason = turn_wait(rq);
	if (reason)
		raise_error(rq, reason, "the request was cancelled while it waited");
	arena_on_free(rq->arena, turn_end, NULL);
}
