#include "base/base.h"
#include "redis/internal.h"

#include <stdlib.h>

#define SILENCE_MS 30000 /* callers block for 10 s at most */

struct redis_blocking {
	struct redis *redis;
	struct redis_conn *conn;
	struct redis_blocking *next;
};

struct redis_blocking *redis_blocking_new(struct redis *redis)
{
	struct redis_blocking *connection = calloc(1, sizeof(*connection));
	require(connection);
	connection->redis = redis;
	connection->conn = redis_conn_new(redis->loop, &redis->url, SILENCE_MS, NULL, NULL);
	connection->next = redis->blocking;
	redis->blocking = connection;
	return connection;
}

void redis_blocking_free(struct redis_blocking *connection)
{
	if (!connection)
		return;
	struct redis_blocking **link = &connection->redis->blocking;
	while (*link != connection)
		link = &(*link)->next;
	*link = connection->next;
	redis_conn_free(connection->conn);
	free(connection);
}

enum err_code redis_blocking_try(struct request *rq, struct redis_blocking *connection,
                                 struct redis_value **ret_value, const char *const *argv,
                                 size_t argc)
{
	enum err_code code = redis_conn_try(rq, connection->conn, ret_value, argv, argc);
	if (code != ERR_NONE && code != ERR_UNAVAILABLE)
		redis_conn_drop(connection->conn); /* else the server would go on blocking */
	return code;
}
