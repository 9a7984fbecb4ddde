/** An access token that is valid for another minute at least, refreshed when it is not.
 *
 * A refresh token may be usable once: a provider that sees it twice ends the connection (RFC 6819
 * section 5.2.2.3). So one refresh of a connection runs at a time, over all replicas:
 *
 *     1. take the connection's lease, with a new fence, in one statement
 *     2. ask the provider, without a transaction
 *     3. store the answer and give the lease up, provided the fence is still this one
 *
 * Everybody else waits and reads the row again. A refresh belongs to no client: it goes on when the
 * one that started it has gone, since the provider's answer must not be lost. If Postgres is away
 * in 3, it is tried again while the lease lasts.
 *
 * A process that dies in 2 or 3 keeps the lease until it runs out. The next one then sends the same
 * refresh token: a provider that has not seen it, or has a grace period, answers; the others
 * refuse, and the connection becomes `expired` with the provider's reason. */
#pragma once

#include "loop/request.h"

/** The token of a connection, in an arena that is wiped with the request. */
struct connection_token {
	const char *access_token, *token_type;
	const char *expires_at; /* time as the API shows it; NULL: never, or unknown */
	const char *scopes;     /* JSON array */
};

/** The token of an account's connection. Suspends. Raises ERR_NOT_FOUND: not connected;
 * ERR_CONFLICT: the connection has expired, with the reason; ERR_UNAVAILABLE: the provider gave no
 * token, with the reason; ERR_UPSTREAM: its tokens live for less than a minute. */
struct connection_token connection_token(struct request *rq, const struct uuid *account,
                                         const char *provider);

/** Note that the provider has refused (401) the token of the caller's account. Providers refuse
 * good ones, too, for some minutes in their incidents. So the connection has ended, and this
 * returns, when it was refused three times in a row, each five minutes after the one that was
 * counted before it, or later. Else raises ERR_UNAVAILABLE. Suspends. */
void connection_refused(struct request *rq, const char *provider);

/** Note that the provider has accepted the token of the caller's account. Suspends. */
void connection_accepted(struct request *rq, const char *provider);

/** GET /integrations/{provider_name}/token */
void connection_token_get(struct request *rq);
