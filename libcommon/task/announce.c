#include "task/announce.h"

#include "base/base.h"
#include "pg/pg.h"
#include "redis/redis.h"

#include <stdio.h>
#include <stdlib.h>

/* Entries of a stream of jobs: as many processes can be told at once. */
#define WAKES_MAX "64"

struct announcer {
	struct redis *redis;
	struct job_wake *wake;
	char *channel, *jobs_stream;
};

static void on_outbox(void *context)
{
	const struct announcer *announcer = context;
	redis_publish(announcer->redis, announcer->channel, "");
}

void announce_tasks(struct redis *redis, const char *jobs_stream, const char *left_by)
{
	const char *const argv[] = {
		"XADD",           jobs_stream,           "MAXLEN", WAKES_MAX, "*",
		ANNOUNCE_LEFT_BY, left_by ? left_by : ""};
	redis_send(redis, argv, ARRAY_LEN(argv));
}

static void on_tasks(void *context)
{
	const struct announcer *announcer = context;
	if (!job_wake_send(announcer->wake))
		announce_tasks(announcer->redis, announcer->jobs_stream, NULL);
}

/* By the SQLSTATEs of the notices. */
static const struct pg_notice NOTICES[] = {
	{"XO001", on_outbox}, /* the trigger of `outbox` */
	{"XO002", on_tasks},  /* task_put(), and statements that call task_insert() */
	{NULL},
};

struct announcer *announcer_new(const struct worker *worker, const char *service,
                                struct job_wake *wake)
{
	struct announcer *announcer = calloc(1, sizeof(*announcer));
	require(announcer);
	announcer->redis = worker->redis;
	announcer->wake = wake;
	require(asprintf(&announcer->channel, OUTBOX_CHANNEL, service) > 0);
	require(asprintf(&announcer->jobs_stream, JOBS_STREAM, service) > 0);
	redis_is_ready(worker->redis); /* connects: what is sent without a connection is lost */
	pg_on_notices(worker->pg, NOTICES, announcer);
	return announcer;
}

void announcer_free(struct announcer *announcer)
{
	if (!announcer)
		return;
	free(announcer->channel);
	free(announcer->jobs_stream);
	free(announcer);
}
