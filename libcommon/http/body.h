/** Collects the content of a request, or of an answer, in memory. A body is limited by its
 * operation, and all bodies of a process by one budget (pacing/budget.h), so that many incomplete
 * requests cannot use up the memory, nor those of one account its budget. Bodies of another kind
 * have a budget of their own.
 *
 * Memory grows with the bytes received, not with Content-Length: a client must send bytes to occupy
 * a part of the budget. The memory is returned to the budget when the arena is freed, which
 * happens however the request ends, or earlier by http_body_drop().
 *
 * What a handler makes of a body, such as its parsed JSON, can be many times as large. The handler
 * takes that memory by http_body_take_work() before it begins. It is returned when the arena is
 * freed.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "crypto/uuid.h"

#include <stddef.h>
#include <stdint.h>

struct budget;

struct http_body {
	struct budget *budget; /* NULL: its memory is not counted */
	struct uuid account;
	char *data; /* NUL-terminated; NULL: nothing received */
	size_t length;
	size_t room_bytes; /* allocated at `data`, counted in the budget */
	size_t work_bytes; /* of http_body_take_work(), counted as well */
	size_t max_bytes;
	size_t expected_bytes; /* Content-Length; max_bytes if there is none */
	/* The content as it was sent, from http_body_decode_begin() to http_body_decode_end(); its
	 * memory is counted in the budget. */
	char *coded;
	size_t coded_length, coded_bytes;
};

/** Set the limit of the memory of all bodies. Those of requests without a key have half as much
 * beside it. Once, before other threads start. */
void http_body_set_limit(size_t budget_bytes);

/** Make an empty body of at most `max_bytes` for `account` (nil: no account). `body` must be in the
 * arena; its memory is freed with the arena. `content_length` -1: not known. */
void http_body_init(struct http_body *body, struct arena *arena, const struct uuid *account,
                    size_t max_bytes, int64_t content_length);

/** As http_body_init(), for a request without a key of the client with this address. */
void http_body_init_open(struct http_body *body, struct arena *arena, const char *client,
                         size_t max_bytes, int64_t content_length);

/** As http_body_init(), for a body of unknown length that is counted in `budget`; NULL: in none. */
void http_body_init_in(struct http_body *body, struct arena *arena, struct budget *budget,
                       const struct uuid *account, size_t max_bytes);

/** Append a piece; copies. On an error nothing is appended.
 * ERR_TOO_LARGE: longer than max_bytes, or more than the whole budget allows; ERR_UNAVAILABLE: the
 * budget is used up; ERR_RATE_LIMITED: the share of the account is. */
enum err_code http_body_add(struct http_body *body, const char *data, size_t length) attr_must_use;

/** Count `bytes` that the request will allocate for the content of its body, until the arena is
 * freed. Fails as http_body_add(). */
enum err_code http_body_take_work(struct http_body *body, size_t bytes) attr_must_use;

/** Begin to replace the content by what it decodes to: `coded` has the content that was sent, and
 * the body is empty. */
void http_body_decode_begin(struct http_body *body);

/** Make room to decode into: *ret_at, of *ret_room bytes, at least one. The room doubles with what
 * was decoded, and is never more than a byte above max_bytes, so that content which expands beyond
 * all bounds costs no more than content of max_bytes. Fails as http_body_add(). */
enum err_code http_body_decode_room(struct http_body *body, char **ret_at,
                                    size_t *ret_room) attr_must_use;

/** `length` bytes were decoded into the room. ERR_TOO_LARGE: it is longer than max_bytes. */
enum err_code http_body_decoded(struct http_body *body, size_t length) attr_must_use;

/** Free the content that was sent. */
void http_body_decode_end(struct http_body *body);

/** Free the memory of the content now; the body is empty afterwards. */
void http_body_drop(struct http_body *body);

/** Memory that all bodies of this process, and the work with them, occupy. For tests. */
size_t http_body_used_bytes(void);
