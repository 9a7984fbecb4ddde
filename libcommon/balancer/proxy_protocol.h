/** libcommon/balancer/: what load balancers in front of a process say of their clients.
 *
 * The PROXY protocol, versions 1 and 2 (HAProxy, proxy-protocol.txt): what a load balancer that
 * only passes bytes on sends first, to say who its client is.
 *
 *     PROXY TCP4 192.0.2.1 10.0.0.9 51234 443\r\n                          version 1, a line
 *     0d 0a 0d 0a 00 0d 0a 51 55 49 54 0a  21  11  00 0c  c0 00 02 01 …    version 2: signature,
 *                             version and command, family, length, addresses
 *
 * The command LOCAL is of a connection that the load balancer makes for itself, such as a health
 * check. A header that passes on a connection and does not say whose, `UNKNOWN` or a family that is
 * not of the Internet, leaves the client unknown: the load balancer did not look at what it sends.
 *
 * After the addresses of version 2 are TLVs (type, length, value). One says that the client speaks
 * TLS with the load balancer (PP2_TYPE_SSL); those of other types are skipped.
 */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#define PROXY_HEADER_MAX 1024 /* more than addresses and what load balancers add to them need */

enum proxy_header_state {
	PROXY_HEADER_PARTIAL,  /* so far it is one */
	PROXY_HEADER_COMPLETE, /* and here is its end */
	PROXY_HEADER_INVALID,
};

#define PROXY_CLIENT_UNKNOWN "unknown"

struct proxy_header {
	size_t length; /* of the header; what follows is the client's */
	/* Its address or PROXY_CLIENT_UNKNOWN; "": it is the load balancer itself. */
	char client[INET6_ADDRSTRLEN];
	bool is_by_tls; /* the client speaks TLS, which ends in the load balancer */
};

/** Read a header at the start of `data`. Sets *ret_header when it is complete. */
enum proxy_header_state proxy_header_parse(const char *data, size_t length,
                                           struct proxy_header *ret_header);
