#include "base/base.h"
#include "redis/internal.h"

#include <stdlib.h>
#include <string.h>

#define SILENCE_MS 5000 /* of the greeting: messages are never late */

struct redis_subscription {
	struct redis_conn *conn;
	char *channel;
	redis_message_cb *cb;
	void *context;
	struct redis_subscription *next;
};

/* `["subscribe", channel, 1]` confirms, `["message", channel, text]` carries. */
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

static void on_change(void *arg, bool is_up)
{
	struct redis_subscription *subscription = arg;
	if (is_up)
		redis_conn_subscribe(subscription->conn, subscription->channel, on_push,
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
	subscription->next = redis->subscriptions;
	redis->subscriptions = subscription;
	subscription->conn =
		redis_conn_new(redis->loop, &redis->url, SILENCE_MS, on_change, subscription);
	redis_conn_start(subscription->conn);
}

void redis_subscriptions_free(struct redis *redis)
{
	while (redis->subscriptions) {
		struct redis_subscription *subscription = redis->subscriptions;
		redis->subscriptions = subscription->next;
		redis_conn_free(subscription->conn);
		free(subscription->channel);
		free(subscription);
	}
}
