#include "task/outbox_written.h"

#include "base/base.h"
#include "pg/pg.h"
#include "redis/redis.h"

#include <stdio.h>
#include <stdlib.h>

/* Of the notice that the trigger of `outbox` raises. */
#define WRITTEN_SQLSTATE "XO001"

struct outbox_written {
	struct redis *redis;
	char *channel;
};

static void on_written(void *context)
{
	const struct outbox_written *written = context;
	redis_publish(written->redis, written->channel, "");
}

struct outbox_written *outbox_written_new(const struct worker *worker, const char *service)
{
	struct outbox_written *written = calloc(1, sizeof(*written));
	require(written);
	written->redis = worker->redis;
	require(asprintf(&written->channel, OUTBOX_CHANNEL, service) > 0);
	redis_is_ready(
		worker->redis); /* connects: what is published without a connection is lost */
	pg_on_notice(worker->pg, WRITTEN_SQLSTATE, on_written, written);
	return written;
}

void outbox_written_free(struct outbox_written *written)
{
	if (!written)
		return;
	free(written->channel);
	free(written);
}
