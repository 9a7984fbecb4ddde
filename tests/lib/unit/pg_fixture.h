/** A Postgres server for one test program, which can stop and crash it. It listens on a unix socket
 * and a port; its data is in a temporary folder. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pg_fixture {
	char folder[64];
	char url[160];     /* on the unix socket, as a superuser */
	char tcp_url[160]; /* the same over TCP, by the name `localhost` */
	uint16_t port;
	pid_t pid; /* of the postmaster; 0: not running */
};

/** Make a cluster and start it. Exits with status 77 (skipped) when Postgres is not installed. */
void pg_fixture_new(struct pg_fixture *pg);

/** Start it with its existing data and wait until it accepts connections. */
void pg_fixture_start(struct pg_fixture *pg);

/** Immediate shutdown: every backend quits at once. */
void pg_fixture_crash(struct pg_fixture *pg);

/** Fast shutdown: backends roll back and say so to their clients. */
void pg_fixture_stop(struct pg_fixture *pg);

/** Crash it and remove its data. */
void pg_fixture_free(struct pg_fixture *pg);

/** Run one statement on a new connection and return its first value as a number; 0 when it has
 * none. Blocks. The test fails when the statement does. */
long pg_fixture_run(const struct pg_fixture *pg, const char *sql);
