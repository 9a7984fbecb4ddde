/** Reads one HTTP/1.1 answer from the bytes of a connection, with llhttp, and calls the handler of
 * the call (upstream.h) with its head and content.
 *
 * Interim answers (1xx) and trailers are read and dropped. An answer whose length can be understood
 * in two ways is refused.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "http/head.h"

#include <llhttp.h>

#include <stdbool.h>
#include <stddef.h>

#define ANSWER_READ_BYTES (64 << 10) /* most bytes of one answer_read() */

struct upstream_handler;
struct upstream_limits;

/** Embedded in a connection and initialised again for each call. The caller reads the flags. */
struct answer_reader {
	llhttp_t parser;
	struct head_builder collect;
	struct arena *arena;
	const struct upstream_limits *limits;
	const struct upstream_handler *handler;
	void *user;
	size_t head_bytes;
	bool is_head;     /* the request's method is HEAD: the answer has no content */
	bool is_stopped;  /* by answer_stop() */
	bool has_bytes;   /* some bytes were read */
	bool has_head;    /* on_answer was called */
	bool has_excess;  /* bytes followed the answer: do not use the connection again */
	bool is_complete; /* the answer was read to its end */
};

/** Start to read the answer of a call. Borrows everything. */
void answer_init(struct answer_reader *reader, struct arena *arena,
                 const struct upstream_limits *limits, const struct upstream_handler *handler,
                 void *user, bool is_head);

/** Stop calling the handler. May be called from the handler's functions. */
void answer_stop(struct answer_reader *reader);

/** Read `length` bytes. Returns ERR_NONE, also when the handler stopped the reader. Otherwise sets
 * *ret_reason and returns ERR_UPSTREAM: the answer is not valid. */
enum err_code answer_read(struct answer_reader *reader, const char *data, size_t length,
                          const char **ret_reason);

/** The service closed its side. Returns ERR_NONE when the answer is complete or the reader is
 * stopped. Otherwise sets *ret_reason and returns ERR_UNAVAILABLE: no head was read; or
 * ERR_UPSTREAM: the answer is incomplete. */
enum err_code answer_read_eof(struct answer_reader *reader, const char **ret_reason);
