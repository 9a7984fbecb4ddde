/** URL of a Redis server: `redis://[[user]:password@]host[:port][/db]` or `unix:/path[?db=N]`. */
#pragma once

#include "base/base.h"
#include "base/error.h"

#include <stdint.h>

struct redis_url {
	char *text; /* the members below point into it; the password is wiped by redis_url_free() */
	char *path; /* of a unix socket; NULL: TCP */
	char *host; /* without brackets */
	uint16_t port;  /* default 6379 */
	char *user;     /* NULL: the default user */
	char *password; /* percent-decoded; NULL: none */
	int db;
};

/** Parse `text`; copies it. ERR_INVALID: it has neither form. */
enum err_code redis_url_parse(const char *text, struct redis_url *ret_url) attr_must_use;

/** Wipe and free what redis_url_parse() made. */
void redis_url_free(struct redis_url *url);
