/** Addresses to listen on or connect to: `host:port` (`127.0.0.1:8080`, `[::1]:8080`,
 * `0.0.0.0:8080`, `svc-search:8080`), `unix:/path`, and to connect also `http://host:port` without
 * a path. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LISTEN_MAX 8 /* addresses that a process listens on */

struct address {
	bool is_unix;
	const char *host; /* without brackets; for a unix address the path */
	uint16_t port;    /* 0: the system chooses a port to listen on; 0 for unix */
	const char *text; /* as it was written */
};

/** Parse an address; copies into the arena. ERR_INVALID: it has none of these forms. */
enum err_code address_parse(struct arena *arena, const char *text, struct address *ret_address);

/** An address to listen on; `https://` before it in the text: by TLS. */
struct listen_address {
	struct address address;
	bool is_tls;
};

/** Parse 1 to LISTEN_MAX addresses, separated by commas or spaces; copies into the arena.
 * ERR_INVALID: one has none of the forms, or there are none or too many. */
enum err_code listen_addresses_parse(struct arena *arena, const char *text,
                                     struct listen_address ret_addresses[LISTEN_MAX],
                                     size_t *ret_count);
