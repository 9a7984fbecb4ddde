#include "repository/replica_lock.h"

#include "crypto/uuid.h"
#include "loop/wait.h"
#include "pg/pg.h"
#include "replica_lock.sql.h"

#define POLL_MS            100
#define CALL_S             15    /* the longest call of the code host (code_host.c) */
#define RESERVE_MS         10000 /* of the request's time: for its work under the lock */
#define RETRY_AFTER_S      5
#define GIVE_UP_TIMEOUT_MS 10000

/* A lock that is held. In its own arena, because giving it up may outlive the request. */
struct replica_lock {
	struct arena *arena;
	const char *name, *holder;
};

static void give_up(struct request *rq)
{
	const struct replica_lock *lock = rq->user;
	pg_query(rq, REPLICA_LOCK_GIVE_UP_SQL, pg_text(lock->name), pg_text(lock->holder));
}

static void give_up_ended(struct request *rq)
{
	const struct replica_lock *lock = rq->user;
	arena_free(lock->arena);
}

/* The request has ended with the lock. */
static void on_end(struct request *rq, void *held)
{
	request_spawn(rq->worker, rq->id, GIVE_UP_TIMEOUT_MS, give_up, give_up_ended, held);
}

static struct replica_lock *lock_new(const char *name)
{
	char holder[UUID_TEXT_LEN + 1];
	struct uuid id = uuid_new();
	uuid_format(&id, holder);
	struct arena *arena = arena_new();
	struct replica_lock *lock = arena_new_of(arena, struct replica_lock);
	*lock = (struct replica_lock){
		.arena = arena,
		.name = arena_strdup(arena, name),
		.holder = arena_strdup(arena, holder),
	};
	return lock;
}

static bool try_take(struct request *rq, const struct replica_lock *lock)
{
	int64_t seconds = (int64_t)(request_left_ms(rq) / 1000) + CALL_S;
	return !pg_empty(pg_query(rq, REPLICA_LOCK_TAKE_SQL, pg_text(lock->name),
	                          pg_text(lock->holder), pg_int(seconds)));
}

void replica_lock_take(struct request *rq, const char *name)
{
	struct replica_lock *lock = lock_new(name);
	/* Held before it is known to be taken: a raise may leave that open. */
	request_hold(rq, on_end, lock);
	while (!try_take(rq, lock)) {
		if (request_left_ms(rq) < RESERVE_MS)
			raise_retry_later(rq, ERR_UNAVAILABLE, RETRY_AFTER_S,
			                  "another request does the same at the code host");
		fiber_sleep(rq, POLL_MS);
	}
}

void replica_lock_give_up(struct request *rq)
{
	struct replica_lock *lock = request_held(rq, on_end);
	pg_query(rq, REPLICA_LOCK_GIVE_UP_SQL, pg_text(lock->name), pg_text(lock->holder));
	request_unhold(rq, on_end);
	arena_free(lock->arena);
}
