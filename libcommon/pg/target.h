/** The target of a pool's connections: its URL as libpq parameters, parsed once, with the settings
 * of every session. */
#pragma once

#include "base/arena.h"

#include <libpq-fe.h>

#include <stdint.h>

struct pg_target;

/** Parse; NULL: the URL cannot be parsed. `schema` (NULL: the role's own) becomes the sessions'
 * search_path, `statement_timeout_ms` their default statement_timeout. */
struct pg_target *pg_target_new(const char *url, const char *schema, uint64_t statement_timeout_ms);
void pg_target_free(struct pg_target *target);

/** The host name to look up before connecting; NULL: the host is an IP address, a unix socket or
 * a list of hosts, which libpq handles itself. */
const char *pg_target_name(const struct pg_target *target);

/** PQconnectStartParams(); `address` is what the name was resolved to; NULL: no name. */
PGconn *pg_target_connect(const struct pg_target *target, const char *address);

/** PQconnectdbParams(): blocks, for 5 seconds at most unless the URL says otherwise. */
PGconn *pg_target_connect_now(const struct pg_target *target);

/** PQerrorMessage() on one line, for logs, in the arena. */
const char *pg_error_line(struct arena *arena, const PGconn *pg);
