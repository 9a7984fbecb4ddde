#include "redis/redis.h"

#include "base/base.h"
#include "loop/fiber.h"
#include "loop/worker.h"
#include "observe/log.h"
#include "redis/fault.h"
#include "redis/reconnect.h"
#include "tls/context.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define SILENCE_MS          5000  /* no command of the shared connection takes that long */
#define BLOCKING_SILENCE_MS 30000 /* callers block for 10 s at most */

struct redis_blocking {
	LIST_ENTRY(redis_blocking) entry;
	struct redis_link *link;
};

struct redis_subscription {
	SLIST_ENTRY(redis_subscription) entry;
	struct redis_link *link;
	char *channel;
	redis_message_cb *cb;
	void *context;
};

struct redis {
	uv_loop_t *loop;
	struct redis_url url;
	struct tls_context *tls; /* NULL: without TLS */
	struct redis_link *shared;
	LIST_HEAD(, redis_blocking) blocking;
	SLIST_HEAD(, redis_subscription) subscriptions;
};

struct redis *redis_new(uv_loop_t *loop, const char *url, struct tls_trust *trust)
{
	struct redis_url parsed;
	if (redis_url_parse(url, &parsed) != ERR_NONE)
		return NULL;
	struct redis *redis = calloc(1, sizeof(*redis));
	require(redis);
	redis->loop = loop;
	redis->url = parsed;
	redis->tls = parsed.is_tls ? tls_context_new_client(trust) : NULL;
	LIST_INIT(&redis->blocking);
	SLIST_INIT(&redis->subscriptions);
	redis->shared = redis_link_new(loop, &redis->url, redis->tls, SILENCE_MS, NULL, NULL);
	return redis;
}

void redis_free(struct redis *redis)
{
	if (!redis)
		return;
	require(LIST_EMPTY(&redis->blocking));
	while (!SLIST_EMPTY(&redis->subscriptions)) {
		struct redis_subscription *subscription = SLIST_FIRST(&redis->subscriptions);
		SLIST_REMOVE_HEAD(&redis->subscriptions, entry);
		redis_link_free(subscription->link);
		free(subscription->channel);
		free(subscription);
	}
	redis_link_free(redis->shared);
	tls_context_free(redis->tls);
	redis_url_free(&redis->url);
	free(redis);
}

bool redis_is_ready(const struct redis *redis)
{
	redis_link_start(redis->shared);
	return redis_link_is_ready(redis->shared);
}

const char *redis_unsupported_reason(const struct redis *redis)
{
	return redis_link_is_too_old(redis->shared) ? REDIS_TOO_OLD : NULL;
}

/* A command that a fiber waits for. Freed by the fiber, or by the reply when the fiber was
 * cancelled. */
struct waiter {
	struct fiber *fiber; /* NULL: cancelled */
	struct arena *arena;
	struct redis_value *value; /* NULL: the connection was lost */
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
	default: /* the other types of RESP3 are sent only after HELLO 3 */
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

/* Run a command on `link` for the running fiber. When the fiber is cancelled, the reply is
 * dropped. */
static enum err_code try_on(struct request *rq, struct redis_link *link,
                            struct redis_value **ret_value, const char *const *argv, size_t argc)
{
	request_require_no_transaction(rq);
	struct waiter *waiter = calloc(1, sizeof(*waiter));
	require(waiter);
	waiter->fiber = fiber_self();
	waiter->arena = rq->arena;
	if (!redis_link_send(link, argv, argc, on_reply, waiter)) {
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
	if (!value)
		return ERR_UNAVAILABLE;
	const struct fault *fault = value->type == REDIS_ERROR ? redis_fault_of(value->text) : NULL;
	if (fault) {
		redis_fault_report(fault, value->text);
		rq->redis_fault = fault;
		return fault->code;
	}
	*ret_value = value;
	return ERR_NONE;
}

enum err_code redis_try(struct request *rq, struct redis_value **ret_value, const char *const *argv,
                        size_t argc)
{
	rq->has_effects = true;
	return try_on(rq, rq->worker->redis->shared, ret_value, argv, argc);
}

struct redis_value *redis_command(struct request *rq, const char *const *argv, size_t argc)
{
	struct redis_value *value = NULL;
	rq->redis_fault = NULL;
	enum err_code code = redis_try(rq, &value, argv, argc);
	if (code == ERR_UNAVAILABLE)
		raise_error(rq, code, "%s",
		            rq->redis_fault ? rq->redis_fault->detail
		                            : "the message store is unavailable");
	if (code != ERR_NONE)
		raise_error(rq, code, "the message store did not answer in time");
	if (value->type == REDIS_ERROR) {
		log_error("command failed", f_text("command", argv[0]), f_text("why", value->text));
		raise_error(rq, ERR_INTERNAL, "the message store refused a command");
	}
	return value;
}

static void on_sent_reply(void *arg, const redisReply *reply)
{
	(void)arg;
	if (reply && reply->type == REDIS_REPLY_ERROR)
		log_error("message not sent", f_text("why", reply->str));
}

void redis_send(struct redis *redis, const char *const *argv, size_t argc)
{
	redis_link_send(redis->shared, argv, argc, on_sent_reply, NULL);
}

void redis_publish(struct redis *redis, const char *channel, const char *message)
{
	const char *const argv[] = {"PUBLISH", channel, message};
	redis_send(redis, argv, ARRAY_LEN(argv));
}

struct redis_blocking *redis_blocking_new(struct redis *redis)
{
	struct redis_blocking *connection = calloc(1, sizeof(*connection));
	require(connection);
	connection->link = redis_link_new(redis->loop, &redis->url, redis->tls, BLOCKING_SILENCE_MS,
	                                  NULL, NULL);
	LIST_INSERT_HEAD(&redis->blocking, connection, entry);
	return connection;
}

void redis_blocking_free(struct redis_blocking *connection)
{
	if (!connection)
		return;
	LIST_REMOVE(connection, entry);
	redis_link_free(connection->link);
	free(connection);
}

enum err_code redis_blocking_try(struct request *rq, struct redis_blocking *connection,
                                 struct redis_value **ret_value, const char *const *argv,
                                 size_t argc)
{
	enum err_code code = try_on(rq, connection->link, ret_value, argv, argc);
	/* A cancelled command would go on blocking on the server. */
	if (code != ERR_NONE && code != ERR_UNAVAILABLE)
		redis_link_drop(connection->link);
	return code;
}

/* `["subscribe", channel, 1]` confirms, `["message", channel, text]` is a message. */
static void on_push(void *arg, const redisReply *reply)
{
	struct redis_subscription *subscription = arg;
	if (!reply || reply->elements != 3 || !reply->element[0]->str)
		return;
	const redisReply *content = reply->element[2];
	if (strcmp(reply->element[0]->str, "subscribe") == 0)
		subscription->cb(subscription->context, NULL, 0, true);
	else if (strcmp(reply->element[0]->str, "message") == 0)
		subscription->cb(subscription->context, content->str, content->len, true);
}

static void on_subscription_change(void *arg, bool is_ready)
{
	struct redis_subscription *subscription = arg;
	if (is_ready)
		redis_link_subscribe(subscription->link, subscription->channel, on_push,
		                     subscription);
	else
		subscription->cb(subscription->context, NULL, 0, false);
}

void redis_subscribe(struct redis *redis, const char *channel, redis_message_cb *cb, void *context)
{
	struct redis_subscription *subscription = calloc(1, sizeof(*subscription));
	require(subscription);
	subscription->channel = strdup(channel);
	require(subscription->channel);
	subscription->cb = cb;
	subscription->context = context;
	SLIST_INSERT_HEAD(&redis->subscriptions, subscription, entry);
	subscription->link = redis_link_new(redis->loop, &redis->url, redis->tls, SILENCE_MS,
	                                    on_subscription_change, subscription);
	redis_link_start(subscription->link);
}
