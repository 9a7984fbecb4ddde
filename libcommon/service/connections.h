/** How a process divides its connections to Postgres, PG_CONNECTIONS, among its event loops. Their
 * number does not grow with the cores of the machine. */
#pragma once

#include "base/error.h"

#include <stdint.h>

#define CONNECTIONS_DEFAULT    12
#define CONNECTIONS_LOOP_MIN   2 /* one for transactions, one for single statements */
#define CONNECTIONS_LISTEN     1
#define CONNECTIONS_BACKGROUND 3 /* jobs, events and the outbox, beside the requests */
#define CONNECTIONS_MIN        (CONNECTIONS_LISTEN + CONNECTIONS_BACKGROUND + CONNECTIONS_LOOP_MIN)

struct connection_shares {
	int64_t total;
	int loops;    /* event loops of the process */
	int per_loop; /* connections of each, at most */
};

/** Divide `connections` (PG_CONNECTIONS; 0: CONNECTIONS_DEFAULT, or what `workers` loops need) among
 * `workers` loops (WORKERS; 0: as many as the connections allow, at most one for each core).
 * ERR_INVALID: the connections are too few for the loops. */
enum err_code connections_share(int64_t connections, int64_t workers, int cores,
                                struct connection_shares *ret_shares);
