#include "key/key_watch.h"

#include "base/timefmt.h"
#include "key/key_cache.h"
#include "key_change.sql.h"
#include "loop/periodic.h"
#include "observe/metrics.h"
#include "pg/pg.h"
#include "redis/redis.h"
#include "service/process.h"

#include <stdlib.h>
#include <string.h>

#define CHANNEL     "keys.gateway"
#define TIMEOUT_MS  5000
#define CHANGES_MAX 1000 /* of a look; of more, all keys are read again */

METRIC_COUNTER(changes_heard, "expops_key_changes_heard_total",
               "Changes of the keys, sessions or roles of an account or a person that were found "
               "in the database.");
METRIC_COUNTER(looks, "expops_key_looks_total",
               "Looks for changes of keys, sessions and roles in the database that succeeded.");

struct key_watch {
	struct key_cache *cache;
	struct periodic *look;
	char *snapshot, *server; /* of the last look; NULL: there is none, or it failed */
};

/* `is_complete`: the rows are all that has changed since the last look. */
static void apply(struct key_cache *cache, const struct pg_rows *rows, bool is_complete)
{
	if (!is_complete) {
		key_cache_change(cache, NULL);
		return;
	}
	for (int row = 0; row < rows->count; row++) {
		if (!pg_get(rows, row, "subject"))
			continue;
		struct uuid subject = pg_get_uuid(rows, row, "subject");
		key_cache_change(cache, &subject);
		metric_add(&changes_heard, NULL, NULL, 1);
	}
}

static void forget(struct key_watch *watch)
{
	free(watch->snapshot);
	free(watch->server);
	watch->snapshot = watch->server = NULL;
}

static void remember(struct key_watch *watch, const struct pg_rows *rows)
{
	forget(watch);
	watch->snapshot = strdup(pg_get(rows, 0, "snapshot"));
	watch->server = strdup(pg_get(rows, 0, "server"));
	require(watch->snapshot && watch->server);
}

/* The snapshot of a look says nothing of another server. One that took the place of the first has
 * lost its last transactions, perhaps, and gave their numbers to new ones. */
static void look(struct request *rq)
{
	struct key_watch *watch = periodic_user(rq);
	if (!rq->worker->process->is_migrated) /* the table may not be there yet */
		return;
	uint64_t began_ms = time_monotonic_ms();
	const char *snapshot = arena_strdup(rq->arena, watch->snapshot);
	const char *server = arena_strdup(rq->arena, watch->server);
	forget(watch);
	struct pg_rows *rows =
		pg_query(rq, KEY_CHANGES_SINCE_SQL, pg_text(snapshot), pg_int(CHANGES_MAX + 1));
	bool is_same = server && strcmp(server, pg_get(rows, 0, "server")) == 0;
	apply(watch->cache, rows, is_same && rows->count <= CHANGES_MAX);
	key_cache_confirm(watch->cache, began_ms);
	remember(watch, rows);
	metric_add(&looks, NULL, NULL, 1);
}

static void on_message(void *context, const char *message, size_t length attr_unused,
                       bool is_up attr_unused)
{
	const struct key_watch *watch = context;
	if (message)
		periodic_wake(watch->look);
}

struct key_watch *key_watch_new(struct worker *worker, struct key_cache *cache)
{
	struct key_watch *watch = calloc(1, sizeof(*watch));
	require(watch);
	watch->cache = cache;
	watch->look =
		periodic_new(worker, "changes of keys", look, watch, KEY_WATCH_MS, TIMEOUT_MS);
	periodic_wake(watch->look);
	redis_subscribe(worker->redis, CHANNEL, on_message, watch);
	return watch;
}

void key_watch_free(struct key_watch *watch)
{
	if (!watch)
		return;
	periodic_stop(watch->look);
	periodic_free(watch->look);
	forget(watch);
	free(watch);
}

/* 0.1.0 reads all keys again when it hears the name of another process. */
void key_watches_wake(struct worker *worker)
{
	redis_publish(worker->redis, CHANNEL, worker->process->instance);
}
