/** One Postgres server for all tests of a program: the group setup and teardown. */
#pragma once

#include "pg_fixture.h"

static struct pg_fixture server;

static inline int start_server(void **state)
{
	(void)state;
	pg_fixture_new(&server);
	return 0;
}

static inline int stop_server(void **state)
{
	(void)state;
	pg_fixture_free(&server);
	return 0;
}
