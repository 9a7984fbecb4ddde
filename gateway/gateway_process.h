/** gateway/: the public edge of the API. It checks API keys, runs the operations on accounts and
 * keys itself, and passes every other request to its service.
 *
 *     main.c      routes, commands and settings of the process
 *     account/    creating and deleting accounts
 *     audit/      the audit log: who changed what
 *     console/    the web pages, and the files that they are built into
 *     key/        API keys: where a key is checked (key_check.h), and the operations on keys
 *     provisioned/  the operations with which services make and revoke keys
 *     proxy/      what happens to each request: checks, then a call of the service
 *     oidc/       log-in at an OpenID provider
 *     session/    sessions of browsers, which stand for a key
 *     team/       accounts of several persons: members, invitations
 *     usage/      what each key was used for
 *     upstream/   connections to the services
 *     mcp/        the agent-tool protocol: the operations as tools
 */
#pragma once

#include "session/cookie.h"

#include <stdatomic.h>
#include <stdint.h>

struct arena;
struct console;
struct cors;
struct key_cache;
struct oidc_cache;
struct origin_rules;
struct rate_limiter;
struct rate_limits;
struct trusted;

/** What the workers of the process share: process->user. */
struct gateway_process {
	struct arena *arena;
	struct rate_limits *limits;
	struct key_cache *keys;
	/* Of unknown keys (key_check.h): a bucket for each client, and how many run. */
	struct rate_limiter *lookups;
	_Atomic int unknown_lookups;
	struct rate_limiter *handshakes;      /* of TLS, of each client */
	struct rate_limiter *refusals;        /* in the audit log, of each key (audit/audit.h) */
	const struct trusted *trusted;        /* for X-Forwarded-For and X-Forwarded-Proto */
	const struct trusted *header_senders; /* of headers of the PROXY protocol */
	const char *https_origin;      /* to which plain requests are sent; NULL: they are served */
	const struct cors *cors;       /* NULL: no origin is allowed */
	const struct console *console; /* NULL: it was built without one */
	const struct origin_rules *origins;
	struct cookie_rules cookies;
	struct oidc_cache *oidc; /* of the provider at which people log in */
};
