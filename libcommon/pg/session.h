/** Settings that every session needs, as settings of the role: ALTER ROLE ... SET in
 * deploy/init.sql.
 *
 * They are not sent when a connection is made, because PgBouncer refuses such options, and are not
 * SET later, because with transaction pooling a session belongs to a client only while its
 * transaction lasts. */
#pragma once

#include "base/error.h"

/** Compare a new session's settings with the table in session.c and log what is missing. Blocks.
 *
 * ERR_UNAVAILABLE: the server cannot be reached; ERR_CONFLICT: the role lacks a setting without
 * which statements have the wrong result, such as the search_path `schema`. A missing limit is only
 * logged. */
enum err_code pg_session_check(const char *url, const char *schema);
