#include "key/key_change.h"

#include "base/timefmt.h"
#include "gateway_process.h"
#include "key/key_cache.h"
#include "loop/wait.h"
#include "loop/worker.h"
#include "observe/metrics.h"
#include "pg/pg.h"
#include "redis/redis.h"
#include "service/process.h"

#include <stdio.h>
#include <string.h>

#define CHANNEL         "keys.gateway"
#define CONNECT_MS      3000 /* of a command, to Redis */
#define CONNECT_POLL_MS 5

METRIC_COUNTER(revocations_heard, "expops_key_revocations_heard_total",
               "Messages of other replicas that a key has changed.");

/* A change that is being committed. */
struct key_change {
	struct worker *worker;
	const struct uuid *subject; /* as in key_cache_change(); in the arena of the request */
	const char *message;        /* for other replicas */
};

static void invalidate(void *ptr)
{
	const struct key_change *change = ptr;
	struct worker *worker = change->worker;
	struct gateway_process *process = worker->process->user;
	if (process)
		key_cache_change(process->keys, change->subject);
	redis_publish(worker->redis, CHANNEL, change->message);
}

/* The sender, and the subject if there is one, as "SENDER SUBJECT". A version before 0.2.0 takes it
 * for a change of whomever. */
static const char *message_of(struct request *rq, const struct uuid *subject)
{
	const char *sender = rq->worker->process->instance;
	char id[UUID_TEXT_LEN + 1];
	if (!subject)
		return sender;
	uuid_format(subject, id);
	return arena_printf(rq->arena, "%s %s", sender, id);
}

/* Wait until the connection to Redis is there, which a command begins now. */
static void wait_connected(struct request *rq)
{
	uint64_t end_ms = time_monotonic_ms() + CONNECT_MS;
	while (!redis_is_ready(rq->worker->redis) && time_monotonic_ms() < end_ms)
		fiber_sleep(rq, CONNECT_POLL_MS);
}

/* Notify the replicas in a command. */
static void notify(struct request *rq, const char *message)
{
	const char *const argv[] = {"PUBLISH", CHANNEL, message};
	struct redis_value *value;
	wait_connected(rq);
	if (redis_try(rq, &value, argv, ARRAY_LEN(argv)) || value->type == REDIS_ERROR)
		fprintf(stderr,
		        "Redis is not available: replicas may accept what has ended for "
		        "up to %d s\n",
		        KEY_CACHE_MS / 1000);
}

void key_change_commit(struct request *rq, const struct uuid *subject)
{
	struct key_change *change = arena_new_of(rq->arena, struct key_change);
	if (subject)
		subject = arena_memdup(rq->arena, subject, sizeof(*subject));
	*change = (struct key_change){rq->worker, subject, message_of(rq, subject)};
	/* If the commit raises, the arena's release invalidates the caches. */
	arena_on_free(rq->arena, invalidate, change);
	pg_commit(rq);
	arena_cancel_on_free(rq->arena, invalidate, change);
	if (rq->worker->process->user)
		invalidate(change);
	else
		notify(rq, change->message);
}

static bool is_own(const struct process *process, const char *sender, size_t length)
{
	return length == strlen(process->instance) &&
	       memcmp(sender, process->instance, length) == 0;
}

/* `message` is NULL when the subscription was lost or renewed. Messages may have been missed then,
 * so every cached key becomes invalid. */
static void on_message(void *context, const char *message, size_t length, bool is_up attr_unused)
{
	const struct process *process = context;
	struct gateway_process *gateway = process->user;
	const char *space = message ? memchr(message, ' ', length) : NULL;
	size_t sender_length = space ? (size_t)(space - message) : length;
	struct uuid subject;
	bool has_subject = space && uuid_parse(space + 1, length - sender_length - 1, &subject);
	if (message && is_own(process, message, sender_length))
		return;
	key_cache_change(gateway->keys, has_subject ? &subject : NULL);
	if (message)
		metric_add(&revocations_heard, NULL, NULL, 1);
}

void key_changes_subscribe(struct worker *worker)
{
	redis_subscribe(worker->redis, CHANNEL, on_message, worker->process);
}
