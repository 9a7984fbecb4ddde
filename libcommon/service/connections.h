/** How a process divides its connections to Postgres, PG_CONNECTIONS, among its event loops. Their
 * number does not grow with the cores of the machine. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define CONNECTIONS_DEFAULT    12
#define CONNECTIONS_LOOP_MIN   2 /* one for transactions, one for single statements */
#define CONNECTIONS_BACKGROUND 3 /* of its statements, beside the loops for requests */

struct connection_needs {
	int64_t connections; /* PG_CONNECTIONS; 0: CONNECTIONS_DEFAULT, or what the loops need */
	int64_t workers;     /* WORKERS; 0: as many as the connections allow, at most one a core */
	int cores;
	bool has_http;       /* there are loops for requests */
	bool has_background; /* there is a background loop */
	bool listens;        /* which has one more connection, for LISTEN */
};

struct connection_shares {
	int64_t total;
	int loops;      /* for requests */
	int per_loop;   /* connections of each, at most */
	int background; /* of the background loop: CONNECTIONS_BACKGROUND, or all if it is alone */
};

/** The fewest connections that are enough. */
int64_t connections_needed(const struct connection_needs *needs);

/** Divide them. ERR_INVALID: `connections` is less than needed. */
enum err_code connections_share(const struct connection_needs *needs,
                                struct connection_shares *ret_shares);
