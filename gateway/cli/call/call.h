/** Sending a request (query.h), and what comes back. */
#pragma once

#include "call/query.h"

#include <yyjson.h>

struct answer {
	int status; /* of HTTP; 0: there was none, and `failure` says why */
	const char *failure;
	bool is_broken;      /* there was a connection, and it broke */
	const char *content; /* NUL-terminated, never NULL once there is a status */
	size_t length;
	yyjson_val *json;       /* NULL: the content is no JSON */
	int64_t total;          /* X-Total-Count; -1: it has none */
	int64_t retry_after;    /* seconds; -1: it says nothing */
	const char *request_id; /* NULL: none */
};

/** Send a request once. The answer is in the arena. Fails only where there is no profile. */
struct answer *call_try(struct query *query);

/** Whether the answer says that the same request may work in a moment: there was none, or 429, 502,
 * 503 or 504. */
bool call_is_transient(const struct answer *answer);

/** Send a request and require success (2xx). One that may be sent again is, a few times, when the
 * answer is transient; so a restart of the gateway is not noticed. A DELETE that finds nothing
 * (404) after an attempt that may have been done has succeeded. Otherwise the program ends with
 * what the answer says: call_fail(). */
struct answer *call(struct query *query);

/** End the program with what an answer without success says. */
attr_noreturn void call_fail(struct cli *cli, const struct answer *answer);

/** Wait, before a request is sent again. */
void call_pause(int64_t ms);

/** Close the connection. */
void call_end(struct cli *cli);
