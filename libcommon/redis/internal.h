/** What the parts of the Redis client share; nobody else includes this. */
#pragma once

#include "redis/conn.h"
#include "redis/redis.h"

struct redis_subscription;

struct redis {
	uv_loop_t *loop;
	struct redis_url url;
	struct redis_conn *shared;
	struct redis_subscription *subscriptions;
	struct redis_blocking *blocking; /* those not freed by themselves */
};

/** Run a command on `conn` for the running fiber, as redis_try(). A cancelled fiber's reply is
 * dropped when it comes. */
enum err_code redis_conn_try(struct request *rq, struct redis_conn *conn,
                             struct redis_value **ret_value, const char *const *argv, size_t argc);

/** Free all subscriptions of the client. */
void redis_subscriptions_free(struct redis *redis);
