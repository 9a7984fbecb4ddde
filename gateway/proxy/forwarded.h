/** Whom a request is from when proxies stand before the gateway: a load balancer, an ingress.
 *
 * Words used here: the peer is whoever holds the connection; a trusted proxy is one whose address
 * stands in TRUSTED_PROXIES.
 *
 * Each proxy appends the address of its own peer to X-Forwarded-For. So that field is believed only
 * of a trusted peer, and read from its end: what stands last was written by the peer, what stands
 * before it by the proxy named last, and so on as long as these are trusted. The first address that
 * is not a trusted proxy's is the client's; whatever stands before it is what that client says.
 *
 *     TRUSTED_PROXIES=10.0.0.0/8   peer 10.0.0.7
 *     X-Forwarded-For: 192.0.2.1, 203.0.113.9, 10.1.2.3      the client is 203.0.113.9
 *     X-Forwarded-Proto: https                               by https
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "http/server.h"

struct trusted;

/** Read a list of addresses and networks, separated by commas or spaces: `10.0.0.0/8, ::1, unix`;
 * `unix` is every peer on a unix socket. In the arena. An empty list trusts nobody.
 * ERR_INVALID: something in it is neither. */
enum err_code trusted_parse(struct arena *arena, const char *text,
                            const struct trusted **ret_trusted) attr_must_use;

/** The client, as far as it can be believed. */
struct forwarded {
	const char *client; /* address; the peer's text, or in the arena */
	const char *scheme; /* `http` or `https` */
};

/** Whom a request with this head is from. `peer` is struct http_exchange's. Never fails: a list that
 * cannot be read is believed up to there. */
struct forwarded forwarded_read(const struct trusted *trusted, struct arena *arena,
                                const struct http_head *head, const char *peer);
