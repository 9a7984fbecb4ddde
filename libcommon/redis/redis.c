#include "redis/redis.h"

#include "base/base.h"
#include "base/log.h"
#include "loop/fiber.h"
#include "loop/worker.h"
#include "redis/internal.h"

#include <stdlib.h>
#include <string.h>

#define SILENCE_MS 5000 /* no command of the shared connection takes that long */

struct redis *redis_new(uv_loop_t *loop, const char *url)
{
	struct redis_url parsed;
	if (redis_url_parse(url, &parsed) != ERR_NONE)
		return NULL;
	struct redis *redis = calloc(1, sizeof(*redis));
	require(redis);
	redis->loop = loop;
	redis->url = parsed;
	redis->shared = redis_conn_new(loop, &redis->url, SILENCE_MS, NULL, NULL);
	return redis;
}

void redis_free(struct redis *redis)
{
	if (!redis)
		return;
	require(!redis->blocking);
	redis_subscriptions_free(redis);
	redis_conn_free(redis->shared);
	redis_url_free(&redis->url);
	free(redis);
}

bool redis_is_up(const struct redis *redis)
{
	redis_conn_start(redis->shared);
	return redis_conn_is_up(redis->shared);
}

/* What a fiber waits for. Freed by the reply when the fiber has gone, else by the fiber. */
struct waiter {
	struct fiber *fiber; /* NULL: gone */
	struct arena *arena;
	struct redis_value *value; /* NULL: lost */
	bool is_done;
};

static void copy_value(struct arena *arena, struct redis_value *value, const redisReply *reply)
{
	switch (reply->type) {
	case REDIS_REPLY_INTEGER:
		value->type = REDIS_INTEGER;
		value->integer = reply->integer;
		return;
	case REDIS_REPLY_ARRAY:
		value->type = REDIS_LIST;
		value->count = reply->elements;
		value->items = arena_array(arena, reply->elements, sizeof(*value->items));
		for (size_t i = 0; i < reply->elements; i++)
			copy_value(arena, &value->items[i], reply->element[i]);
		return;
	case REDIS_REPLY_STRING:
	case REDIS_REPLY_STATUS:
	case REDIS_REPLY_ERROR:
		value->type = reply->type == REDIS_REPLY_ERROR ? REDIS_ERROR : REDIS_TEXT;
		value->length = reply->len;
		value->text = arena_memdup(arena, reply->str, reply->len);
		return;
	default: /* RESP3's others come only to who has asked for it */
		value->type = REDIS_NIL;
	}
}

static void on_reply(void *arg, const redisReply *reply)
{
	struct waiter *waiter = arg;
	if (!waiter->fiber) {
		free(waiter);
		return;
	}
	if (reply) {
		waiter->value = arena_new_of(waiter->arena, struct redis_value);
		copy_value(waiter->arena, waiter->value, reply);
	}
	waiter->is_done = true;
	fiber_wake(waiter->fiber);
}

/* A server that is starting, or has become a replica, is as good as away. */
static bool is_away(const struct redis_value *value)
{
	static const char *const PREFIXES[] = {"LOADING ", "READONLY ", "MASTERDOWN "};
	if (value->type != REDIS_ERROR)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(PREFIXES); i++) {
		if (strncmp(value->text, PREFIXES[i], strlen(PREFIXES[i])) == 0)
			return true;
	}
	return false;
}

enum err_code redis_conn_try(struct request *rq, struct redis_conn *conn,
                             struct redis_value **ret_value, const char *const *argv, size_t argc)
{
	struct waiter *waiter = calloc(1, sizeof(*waiter));
	require(waiter);
	waiter->fiber = fiber_self();
	waiter->arena = rq->arena;
	if (!redis_conn_send(conn, argv, argc, on_reply, waiter)) {
		free(waiter);
		return ERR_UNAVAILABLE;
	}
	while (!waiter->is_done) {
		enum err_code reason = fiber_wait();
		if (reason != ERR_NONE && !waiter->is_done) {
			waiter->fiber = NULL;
			return reason;
		}
	}
	struct redis_value *value = waiter->value;
	free(waiter);
	if (!value || is_away(value))
		return ERR_UNAVAILABLE;
	*ret_value = value;
	return ERR_NONE;
}

enum err_code redis_try(struct request *rq, struct redis_value **ret_value, const char *const *argv,
                        size_t argc)
{
	return redis_conn_try(rq, rq->worker->redis->shared, ret_value, argv, argc);
}

struct redis_value *redis_command(struct request *rq, const char *const *argv, size_t argc)
{
	struct redis_value *value = NULL;
	enum err_code code = redis_try(rq, &value, argv, argc);
	if (code == ERR_UNAVAILABLE)
		raise_error(rq, code, "the message store is away");
	if (code != ERR_NONE)
		raise_error(rq, code, "the message store did not answer in time");
	if (value->type == REDIS_ERROR) {
		log_error(LOG_GROUP_REDIS, "command failed", f_text("command", argv[0]),
		          f_text("why", value->text));
		raise_error(rq, ERR_INTERNAL, "the message store refused a command");
	}
	return value;
}

void redis_publish(struct redis *redis, const char *channel, const char *message)
{
	const char *const argv[] = {"PUBLISH", channel, message};
	redis_conn_send(redis->shared, argv, ARRAY_LEN(argv), NULL, NULL);
}
