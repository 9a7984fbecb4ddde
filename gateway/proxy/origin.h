/** Which web pages may use the agent-tool protocol: the defence against DNS rebinding that the
 * protocol's specification demands (Streamable HTTP, "Security Warning").
 *
 * A browser adds the field Origin to what a page sends. A page on a name that was bound again to
 * 127.0.0.1 sends that name as Host. So a request is refused
 * - when it has an Origin that is not that of PUBLIC_URL, not in CORS_ORIGINS, and, if the process
 *   listens on a loopback address, not one of a loopback address either;
 * - when the process listens on a loopback address and has no PUBLIC_URL, and Host is not
 *   `localhost`, `127.0.0.1` or `[::1]`.
 */
#pragma once

#include "base/arena.h"
#include "http/head.h"

#include <stdbool.h>

struct cors;

struct origin_rules {
	const char *public_origin; /* `https://expops.example.org`; NULL: PUBLIC_URL is not set */
	const struct cors *cors;   /* NULL: no further origin is allowed */
	bool is_loopback;          /* the process listens on a loopback address */
};

/** The rules for the settings: `listen` is LISTEN. In the arena; borrows `cors`. */
const struct origin_rules *origin_rules_new(struct arena *arena, const char *public_url,
                                            const char *listen, const struct cors *cors);

/** Whether the request may use the protocol. */
bool origin_is_allowed(const struct origin_rules *rules, const struct http_head *head);
