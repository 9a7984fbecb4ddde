/** A Postgres of the test's own, that it can stop and kill: on a unix socket and a port, in a
 * folder of its own. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pg_fixture {
	char folder[64];
	char url[160];     /* of the unix socket, as a superuser */
	char tcp_url[160]; /* the same by TCP and the name `localhost` */
	uint16_t port;
	pid_t pid; /* of the postmaster; 0: not running */
};

/** Make a cluster and start it. Ends the test program with status 77 (skipped) on a machine without
 * Postgres. */
void pg_fixture_new(struct pg_fixture *pg);

/** Start it, with its data as they are, and wait until it takes connections. */
void pg_fixture_start(struct pg_fixture *pg);

/** Immediate shutdown: every backend quits in the middle of what it does. */
void pg_fixture_crash(struct pg_fixture *pg);

/** Fast shutdown: backends are told, what runs is rolled back. */
void pg_fixture_stop(struct pg_fixture *pg);

/** Crash it and remove its data. */
void pg_fixture_free(struct pg_fixture *pg);

/** Run one statement on a connection of its own, wait, and give its first value as a number; 0 when
 * it has none. The test fails when the statement does. */
long pg_fixture_run(const struct pg_fixture *pg, const char *sql);
