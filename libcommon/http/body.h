/** The content of a request, collected in memory: each within its operation's limit, all of a
 * process within one budget, so that many half-sent ones cannot use up its memory.
 *
 * Room grows with what has come, not with what Content-Length promises: to hold a part of the
 * budget a client has to send it. The budget is given back with the arena, so on every way on which
 * a request can end, or by http_body_drop() before.
 *
 * What a handler makes of a body is not counted. Measured with bodies of 1 MiB: parsed, copied and
 * written again (request_input()), text takes 9 times its length, arrays of one-digit numbers 39.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct http_body {
	char *data; /* NUL-terminated; NULL: nothing has come */
	size_t length;
	size_t room_bytes; /* at `data`, taken from the budget */
	size_t max_bytes;
	size_t expected_bytes; /* Content-Length, or max_bytes where there is none */
};

/** Set the budget and register the metrics; once, before threads. */
void http_body_register(size_t budget_bytes);

/** Make an empty one of at most `max_bytes`; `content_length` -1: not known. Its memory goes with
 * `arena`, in which `body` is. */
void http_body_init(struct http_body *body, struct arena *arena, size_t max_bytes,
                    int64_t content_length);

/** Add a piece. ERR_TOO_LARGE over max_bytes, ERR_UNAVAILABLE when the budget is used up; then
 * nothing is added. */
enum err_code http_body_add(struct http_body *body, const char *data, size_t length) attr_must_use;

/** Give its memory back now. */
void http_body_drop(struct http_body *body);

/** What the bodies of this process hold now. */
size_t http_body_used_bytes(void);
