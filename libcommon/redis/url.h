/** Where a Redis is: `redis://[[user]:password@]host[:port][/db]` or `unix:/path[?db=N]`. */
#pragma once

#include "base/base.h"
#include "base/error.h"

#include <stdint.h>

struct redis_url {
	char *text;     /* what the others borrow from; wiped by redis_url_free() */
	char *path;     /* of a unix socket; NULL: TCP */
	char *host;     /* without brackets */
	uint16_t port;  /* 6379 where none is named */
	char *user;     /* NULL: the default user */
	char *password; /* percent-decoded; NULL: none */
	int db;
};

/** Read `text`; copies it. ERR_INVALID: not of the forms above. */
enum err_code redis_url_parse(const char *text, struct redis_url *ret_url) attr_must_use;

/** Wipe and free what redis_url_parse() made. */
void redis_url_free(struct redis_url *url);
