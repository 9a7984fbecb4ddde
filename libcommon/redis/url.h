/** URL of a Redis server: `redis://[[user]:password@]host[:port][/db]`, the same with `rediss://`
 * for TLS, or `unix:/path[?db=N]`. */
#pragma once

#include "base/base.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct redis_url {
	char *text; /* the members below point into it; the password is wiped by redis_url_free() */
	char *path; /* of a unix socket; NULL: TCP */
	char *host; /* without brackets */
	bool is_tls;    /* rediss:// */
	uint16_t port;  /* default 6379 */
	char *user;     /* NULL: the default user */
	char *password; /* percent-decoded; NULL: none */
	int db;
};

/** Parse `text`; copies it. ERR_INVALID: it has none of the forms. */
enum err_code redis_url_parse(const char *text, struct redis_url *ret_url) attr_must_use;

/** Wipe and free what redis_url_parse() made. */
void redis_url_free(struct redis_url *url);
