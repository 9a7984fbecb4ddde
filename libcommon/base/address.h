/** Addresses to listen on or connect to: `host:port` (`127.0.0.1:8080`, `[::1]:8080`,
 * `0.0.0.0:8080`, `svc-search:8080`), `unix:/path`, and to connect also `http://host:port` without
 * a path. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct address {
	bool is_unix;
	const char *host; /* without brackets; for a unix address the path */
	uint16_t port;    /* 0: the system chooses a port to listen on; 0 for unix */
	const char *text; /* as it was written */
};

/** Parse an address; copies into the arena. ERR_INVALID: it has none of these forms. */
enum err_code address_parse(struct arena *arena, const char *text, struct address *ret_address);
