/** A service's asynchronous work with a Postgres and a Redis of its own, for tests. */
#pragma once

#include "pg_fixture.h"
#include "redis_fixture.h"
#include "task/internal.h"
#include "worker_fixture.h"

extern struct worker_fixture fixture;
extern struct pg_fixture postgres;
extern struct redis_fixture redis_server;

/** Servers for all tests of a program. */
int tasks_group_setup(void **state);
int tasks_group_teardown(void **state);

/** An empty schema, an empty Redis, a worker that serves nothing yet. */
int tasks_setup(void **state);
int tasks_teardown(void **state);

/** For the rest of the test: how long a claim of a job, or of an event, lasts without a sign of life.
 * It is 20 s otherwise, so that nobody loses one because the machine is busy. */
void tasks_lease(uint64_t lease_ms);

/** In a forked child, before service_start(): the worker goes on as another replica. */
void tasks_become(const char *instance);

/** Start the service's asynchronous work; stopped and freed by tasks_teardown() at the latest. */
void service_start(const struct job *jobs, const struct event_handler *events);

/** Drain and free it. */
void service_stop(void);

/** First value of a statement in the service's schema, as a number. */
long sql(const char *format, ...) attr_printf(1, 2);

/** A Redis command's integer, number of items, or 1 for a text and 0 for nil. */
long redis_ask(const char *format, ...) attr_printf(1, 2);

/** Run the loop until the statement, or the command, gives `wanted`. */
void until_sql(long wanted, const char *statement);
void until_redis(long wanted, const char *command);

/** The same of a Lua script. */
void until_script(long wanted, const char *script);
