/** The target of a pool's connections: its URL as libpq parameters, parsed once.
 *
 * While the password of a role is replaced, a setting holds two URLs, with a space between them:
 * the server takes the login of one of them, and of the other soon. A connection whose login is
 * refused is made again with the other one at once.
 *
 * No settings of the session are sent when connecting, because PgBouncer refuses them: the role has
 * them (session.h). */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <libpq-fe.h>

#include <stdbool.h>

struct pg_target;

/** Parse one URL, or two; NULL: that fails. */
struct pg_target *pg_target_new(const char *url);
void pg_target_free(struct pg_target *target);

/** The host name to look up before connecting; NULL: the host is an IP address, a unix socket or
 * a list of hosts, which libpq handles itself. */
const char *pg_target_name(const struct pg_target *target);

/** The target of the other URL; NULL: there is one only. The other one of that is this one. */
const struct pg_target *pg_target_other(const struct pg_target *target);

/** Whether a SQLSTATE, or "", says that the server refuses the login. */
bool pg_login_is_refused(const char *sqlstate);

/** PQconnectStartParams(), with PQERRORS_VERBOSE, so that a refusal names its SQLSTATE. `address`
 * is what the name was resolved to; NULL: no name. Of a list of hosts libpq tries one after the
 * other, and waits for one that does not answer without end: `attempt`, a number that rises,
 * chooses which is the first. Never NULL. */
PGconn *pg_target_connect(const struct pg_target *target, const char *address, unsigned attempt);

/** The same, and block until the connection is made or has failed, for 5 seconds at most for each
 * host unless the URL says otherwise: see PQstatus(). Tries the other one, too. Never NULL. */
PGconn *pg_target_connect_now(const struct pg_target *target);

/** Report why the connection could not be made or broke; always ERR_UNAVAILABLE. */
enum err_code pg_connect_failed(struct arena *arena, const PGconn *pg);

/** PQerrorMessage() on one line, for logs, in the arena. Without LOCATION. */
const char *pg_error_line(struct arena *arena, const PGconn *pg);
