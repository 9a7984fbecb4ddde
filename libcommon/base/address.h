/** Where to listen or connect: `host:port` (`127.0.0.1:8080`, `[::1]:8080`, `0.0.0.0:8080`,
 * `svc-search:8080`), `unix:/path`, and for connecting also `http://host:port` with nothing behind
 * it. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct address {
	bool is_unix;
	const char *host; /* without brackets; of a unix address its path */
	uint16_t port;    /* 0 lets the system choose when listening; 0 for unix */
	const char *text; /* as it was written */
};

/** ERR_INVALID: not of the forms above. Copies into the arena. */
enum err_code address_parse(struct arena *arena, const char *text, struct address *ret_address);
