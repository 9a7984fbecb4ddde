#include "pg/lease.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "lease.sql.h"
#include "loop/wait.h"
#include "pg/pg.h"

/* How often a holder looks whether the lease is to be renewed, in parts of its duration. */
#define HOLD_PART 20

uint64_t lease_term_ms = 10000;

static const struct pg_rows *take(struct request *rq, const struct lease *lease, const char *owner)
{
	return pg_query(rq, LEASE_TAKE_SQL, pg_text(lease->name), pg_text(owner),
	                pg_int((int64_t)lease_term_ms));
}

bool lease_take(struct request *rq, struct lease *lease, const char *owner)
{
	/* Before the statement is sent: the own clock runs out before the server's. */
	uint64_t now_ms = time_monotonic_ms(), alone_ms = lease_term_ms;
	if (lease->mine_until_ms >= now_ms + alone_ms - alone_ms / 3)
		return true;
	if (lease->others_until_ms > now_ms)
		return false;
	lease->mine_until_ms = lease->others_until_ms = 0;
	const struct pg_rows *rows = take(rq, lease, owner);
	if (pg_empty(rows)) {
		pg_query(rq, LEASE_CREATE_SQL, pg_text(lease->name));
		rows = take(rq, lease, owner);
	}
	if (pg_get(rows, 0, "fence")) {
		lease->fence = pg_get_int(rows, 0, "fence");
		lease->mine_until_ms = now_ms + alone_ms;
		return true;
	}
	uint64_t left_ms = (uint64_t)MAX_OF(pg_get_int(rows, 0, "left_ms"), 1);
	lease->others_until_ms = now_ms + MIN_OF(left_ms, lease_term_ms);
	return false;
}

uint64_t lease_wait_ms(const struct lease *lease)
{
	uint64_t now_ms = time_monotonic_ms();
	return MAX_OF(lease->others_until_ms, now_ms + 1) - now_ms;
}

/* Work under a lease. */
struct held_work {
	struct lease *lease;
	const char *owner;
	request_fn *run;
	void *user;
	struct request *rq; /* that of `run` */
};

static void cancel_work(struct request *rq, void *held)
{
	const struct held_work *work = held;
	(void)rq;
	request_cancel(work->rq, ERR_CONFLICT);
}

/* Ends when the lease is lost or cannot be renewed, and then ends the work. */
static void hold(struct request *rq)
{
	struct held_work *work = rq->user;
	request_hold(rq, cancel_work, work);
	while (lease_take(rq, work->lease, work->owner))
		fiber_sleep(rq, lease_term_ms / HOLD_PART);
}

/* The holder is a member of the work's own group: it is cancelled when the work returns. */
static void run_held(struct request *rq)
{
	struct held_work *work = rq->user;
	work->rq = rq;
	fiber_spawn(rq, hold, work);
	rq->user = work->user;
	work->run(rq);
}

static void spawn(struct request *rq, struct lease *lease, const char *owner, request_fn *run,
                  void *user)
{
	struct held_work *work = arena_new_of(rq->arena, struct held_work);
	*work = (struct held_work){.lease = lease, .owner = owner, .run = run, .user = user};
	fiber_spawn(rq, run_held, work);
}

enum err_code lease_run_try(struct request *rq, struct lease *lease, const char *owner,
                            request_fn *run, void *user, struct problem *ret_problem)
{
	spawn(rq, lease, owner, run, user);
	return fiber_join_try(rq, ret_problem);
}

void lease_run(struct request *rq, struct lease *lease, const char *owner, request_fn *run,
               void *user)
{
	spawn(rq, lease, owner, run, user);
	fiber_join(rq);
}

const char *lease_owner(struct request *rq, const struct lease *lease)
{
	const struct pg_rows *rows = pg_query(rq, LEASE_OWNER_SQL, pg_text(lease->name));
	return pg_empty(rows) ? "" : pg_get(rows, 0, "owner");
}

void lease_raise_fence(struct request *rq, struct lease *lease, const char *owner,
                       int64_t known_fence)
{
	const struct pg_rows *rows = pg_query(rq, LEASE_RAISE_FENCE_SQL, pg_text(lease->name),
	                                      pg_text(owner), pg_int(known_fence));
	if (pg_empty(rows))
		lease->mine_until_ms = 0;
	else
		lease->fence = pg_get_int(rows, 0, "fence");
}

void lease_give_up_all(struct request *rq, const char *owner)
{
	pg_query(rq, LEASE_GIVE_UP_ALL_SQL, pg_text(owner));
}
