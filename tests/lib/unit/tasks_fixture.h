/** For tests: the asynchronous work of a service, with its own Postgres and Redis servers. */
#pragma once

#include "pg_fixture.h"
#include "redis_fixture.h"
#include "task/tasks.h"
#include "worker_fixture.h"

extern struct worker_fixture fixture;
extern struct pg_fixture postgres;
extern struct redis_fixture redis_server;

/** Start and stop the servers, for all tests of a program. */
int tasks_group_setup(void **state);
int tasks_group_teardown(void **state);

/** Set up an empty schema, an empty Redis and a worker without tasks. */
int tasks_setup(void **state);
int tasks_teardown(void **state);

/** Set the lease of jobs and events for the rest of the test. The default is 20 s, so that none
 * expires because the machine is busy. */
void tasks_lease(uint64_t lease_ms);

/** In a forked child, before service_start(): make the child another replica. */
void tasks_replica(const char *instance);

/** Start another replica, "other", in a process of its own. It runs until it is killed. */
pid_t replica_start(const struct job *jobs, const struct event_handler *events);
void replica_kill(pid_t pid);

/** Start the service's asynchronous work; tasks_teardown() stops and frees it at the latest. */
void service_start(const struct job *jobs, const struct event_handler *events);

/** Drain and free it. */
void service_stop(void);

/** First value of a statement in the service's schema, as a number. */
long sql(const char *format, ...) attr_printf(1, 2);

/** The reply to a Redis command: its integer, its number of items, 1 for a text, 0 for nil, -1 for
 * an error. */
long redis_number(const char *format, ...) attr_printf(1, 2);

/** Run the loop until the statement, or the command, returns `wanted`. */
void until_sql(long wanted, const char *statement);
void until_redis(long wanted, const char *command);

/** The same for a Lua script. */
void until_script(long wanted, const char *script);
