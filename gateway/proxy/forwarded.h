/** The client of a request that comes through proxies: a load balancer, an ingress.
 *
 * The peer is the other end of the connection. A proxy is trusted when TRUSTED_PROXIES contains its
 * address.
 *
 * Each proxy appends the address of its own peer to X-Forwarded-For. So the field is used only when
 * the peer is trusted, and it is read from its end: the peer wrote the last address, the proxy with
 * that address wrote the one before, and so on as long as the proxies are trusted. The first
 * address, read this way, that is not a trusted proxy's is the client's. Everything before it may
 * be forged.
 *
 *     TRUSTED_PROXIES=10.0.0.0/8   peer 10.0.0.7
 *     X-Forwarded-For: 192.0.2.1, 203.0.113.9, 10.1.2.3      the client is 203.0.113.9
 *     X-Forwarded-Proto: https                               it used https
 *
 * Without X-Forwarded-Proto the scheme is that of the connection.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "http/server.h"

struct trusted;

/** Parse a list of addresses and networks, separated by commas or spaces: `10.0.0.0/8, ::1, unix`;
 * `unix` is every peer on a unix socket. In the arena. With an empty list no proxy is trusted.
 * ERR_INVALID: an element is not an address or network. */
enum err_code trusted_parse(struct arena *arena, const char *text,
                            const struct trusted **ret_trusted) attr_must_use;

/** The client of a request. */
struct forwarded {
	const char *client; /* its address: the peer's itself, or in the arena */
	const char *scheme; /* `http` or `https` */
};

/** The client of the request with this head. `peer` is that of the connection, as struct
 * http_exchange has it. Never fails: reading stops at the first element that is not an address. */
struct forwarded forwarded_read(const struct trusted *trusted, struct arena *arena,
                                const struct http_head *head, struct forwarded peer);

/** Whether the peer is a trusted proxy. */
bool trusted_has_peer(const struct trusted *trusted, const char *peer);
