#include "key/key_change.h"

#include "gateway_process.h"
#include "key/key_cache.h"
#include "key/key_watch.h"
#include "key_change.sql.h"
#include "loop/worker.h"
#include "pg/pg.h"
#include "service/process.h"

/* What is being committed. */
struct key_change {
	struct worker *worker;
	const struct pg_rows *subjects;
};

static void invalidate(void *ptr)
{
	const struct key_change *change = ptr;
	const struct gateway_process *process = change->worker->process->user;
	for (int row = 0; row < change->subjects->count; row++) {
		struct uuid subject = pg_get_uuid(change->subjects, row, "subject");
		key_cache_change(process->keys, &subject);
	}
	if (change->subjects->count > 0)
		key_watches_wake(change->worker);
}

void key_change_commit(struct request *rq)
{
	struct key_change *change = arena_new_of(rq->arena, struct key_change);
	change->worker = rq->worker;
	change->subjects = pg_query(rq, KEY_CHANGES_OWN_SQL);
	/* If the commit raises, the arena's release invalidates the caches. */
	arena_on_free(rq->arena, invalidate, change);
	pg_commit(rq);
	arena_cancel_on_free(rq->arena, invalidate, change);
	invalidate(change);
}
