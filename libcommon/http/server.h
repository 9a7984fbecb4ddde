/** HTTP/1.1 for servers (RFC 9112): connections, message framing, limits, time-outs, back-pressure,
 * drain.
 *
 * Words used here (RFC 9110): an exchange is one request and its response; head is the start line
 * and the fields; content is what follows it, without its framing.
 *
 * A server belongs to one loop. For each exchange it calls the handler in this order, always from
 * the loop's own stack, never from inside an http_respond_*() call:
 *
 *     on_head -> on_content* -> on_end -> on_done         with on_drained and on_gone in between
 *
 * The response may be started at any time after on_head was entered and finished before the request
 * is: what is left of the content is then read and dropped up to a bound (else the connection
 * closes). Pipelined requests wait their turn: at most one exchange of a connection is open.
 *
 * Refused by the server itself, as a problem reply (RFC 9457) and a close where framing is in
 * doubt: both Content-Length and Transfer-Encoding, several differing Content-Lengths, a transfer
 * coding other than chunked, obsolete line folding, white space before a colon, bare CR or LF, no
 * or two Host fields in HTTP/1.1, a Host that is none, a target that is not origin-form
 * (absolute-form is taken, authority dropped), NUL or control characters in a field, a head over the
 * limit (431; 414 where it is the target's fault), a version other than 1.0 and 1.1 (505), CONNECT (405), a method that nobody knows
 * (501), an Expect other than 100-continue (417). Trailers are dropped, and change nothing.
 */
#pragma once

#include "base/address.h"
#include "base/arena.h"
#include "base/error.h"

#include <uv.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_server;

/** One field line; names and values are not NUL-terminated on the wire side but are here. */
struct http_field {
	const char *name;
	const char *value;
	uint32_t name_length;
	uint32_t value_length;
};

/** A request's head, in the arena of its exchange. */
struct http_head {
	const char *method; /* `GET` */
	const char *target; /* origin-form, as received; `*` of an OPTIONS for the whole server */
	size_t method_length;
	size_t target_length;
	size_t path_length; /* of the target, up to `?` */
	const char *query;  /* behind `?`; NULL: none */
	size_t query_length;
	int minor_version; /* HTTP/1.x */
	struct http_field *fields;
	size_t field_count;
	int64_t content_length; /* -1: not given (none, or chunked) */
	bool is_chunked;
	bool has_content; /* a Content-Length above 0, or chunked */
	bool is_head;     /* HEAD: the response's content is not sent */
};

/** First field of that name, letters' case ignored; NULL: none. */
const char *http_head_get(const struct http_head *head, const char *name);

/** How often the field occurs. */
size_t http_head_count(const struct http_head *head, const char *name);

/** The request's id: the one X-Request-Id that came, when it is 1 to REQUEST_ID_MAX letters, digits,
 * `.`, `_` and `-`; otherwise a new one in the arena. */
const char *http_head_request_id(const struct http_head *head, struct arena *arena);

/** One request and its response. The handler may hang its own state on `user`. */
struct http_exchange {
	struct http_server *server;
	/* Freed after on_done, unless the handler took it and set this to NULL. */
	struct arena *arena;
	struct http_head head;
	void *user;
	uint64_t started_us; /* time_monotonic_us() at the request's first byte */
	const char *peer;    /* address of the client, for logs; who knows better sets it anew */
	int status;          /* of the response, 0 until it is started */
	uint64_t sent_bytes; /* of content */
};

struct http_handler {
	/** The head is complete. Content follows until on_end, unless paused. */
	void (*on_head)(struct http_exchange *x);
	/** A piece of content; `data` is valid during the call. NULL pointer of the table: content
	 * is dropped. */
	void (*on_content)(struct http_exchange *x, const char *data, size_t length);
	/** The request is complete. Not called when the response was finished first. */
	void (*on_end)(struct http_exchange *x);
	/** What http_respond_content() queued has gone out, after it had said "full". May be
	 * NULL. */
	void (*on_drained)(struct http_exchange *x);
	/** The client went away, sent a broken message or was too slow before the response was
	 * finished: the handler cannot answer any more. on_done follows. When no response was
	 * started, the server itself answers a broken message with 400 and a slow one with 408. */
	void (*on_gone)(struct http_exchange *x, enum err_code reason);
	/** Over: the response is sent, or given up. The last call for this exchange. */
	void (*on_done)(struct http_exchange *x);
	/** Write a problem reply for a request that the server itself refuses (before on_head, no
	 * exchange state of the handler's): fill `ret_body` in `arena`. NULL: an empty body. */
	void (*refuse)(struct arena *arena, enum err_code code, const char *detail,
	               const char *request_id, const char **ret_body, size_t *ret_length);
};

struct http_limits {
	size_t head_max_bytes;    /* 64 KiB */
	size_t fields_max;        /* 128 */
	uint64_t head_timeout_ms; /* 10,000: from the first byte of a request to its head's last */
	/* 30,000: between two pieces of content; sending to a client that does not read, too. */
	uint64_t content_timeout_ms;
	uint64_t idle_timeout_ms; /* 60,000: between two requests */
	size_t connections_max;   /* 10,000; accepting stops there until one closes */
	size_t send_high_bytes;   /* 256 KiB: http_respond_content() says "full" above it */
};

extern const struct http_limits http_limits_default;

/** Make a server on `loop`. Borrows `handler` and `limits`; `context` is for the handler. The first
 * is made before threads: it registers the metrics. */
struct http_server *http_server_new(uv_loop_t *loop, const struct http_handler *handler,
                                    const struct http_limits *limits, void *context);
void *http_server_context(const struct http_server *server);

/** Bind and listen; the descriptor is the caller's. TCP with SO_REUSEPORT, a unix socket with mode
 * 0660 after removing a file that nobody listens on. Blocks while a name is looked up.
 * ERR_UNAVAILABLE: the address cannot be bound; errno tells why. */
enum err_code http_listen_open(const struct address *address, int *ret_fd) attr_must_use;

/** Accept from a listening socket; takes `fd`, in failure too. Once per server. */
enum err_code http_server_listen_fd(struct http_server *server, int fd) attr_must_use;

/** Listen on `address`, together with the server of another worker of this process that does
 * already; `other` NULL: this is the first. Over TCP each has a socket of its own and the kernel
 * spreads the connections, over replicas on the same host too; a unix socket, and a port that the
 * system chose, is shared.
 * ERR_UNAVAILABLE: the address cannot be bound; errno tells why. */
enum err_code http_server_listen(struct http_server *server, const struct address *address,
                                 const struct http_server *other) attr_must_use;

/** The port that was bound, for an address with port 0. */
uint16_t http_server_port(const struct http_server *server);

/** Stop accepting (who waits in the kernel's queue is still served), let exchanges finish
 * (responses carry `Connection: close`), close idle connections a second later, so that a request
 * on its way is not lost; `drained(context)` from the loop, when none is left or `deadline_ms` from
 * now have passed, whichever is first. Once. */
void http_server_drain(struct http_server *server, uint64_t deadline_ms, void (*drained)(void *),
                       void *context);

/** Close everything that is left and free; the loop has to run once more for libuv's close
 * callbacks. */
void http_server_free(struct http_server *server);

/** Connections open now, for metrics and tests. */
size_t http_server_connections(const struct http_server *server);

/** Stop and go on reading this exchange's content (back-pressure towards the client). */
void http_content_pause(struct http_exchange *x);
void http_content_resume(struct http_exchange *x);

/** Start the response. Copies the fields. `Date`, `Connection`, `Content-Length` or
 * `Transfer-Encoding` are written by the server; `content_length` -1 means unknown: chunked, or
 * until close for HTTP/1.0. Statuses 1xx, 204 and 304 have no content. */
void http_respond_start(struct http_exchange *x, int status, const struct http_field *fields,
                        size_t field_count, int64_t content_length);

/** Send a piece of content. Copies what the socket does not take at once.
 * Returns true when more than send_high_bytes wait: stop until on_drained. */
bool http_respond_content(struct http_exchange *x, const void *data, size_t length);

/** The response is complete. require()s that a declared content_length was met. */
void http_respond_end(struct http_exchange *x);

/** Give the response up: the connection closes, so that the client sees that it is cut short.
 * on_done follows from the loop. */
void http_respond_abort(struct http_exchange *x);

/** A NUL-terminated pair as a field. */
struct http_field http_field_of(const char *name, const char *value);

/** The reason phrase of a status; "" when unknown. */
const char *http_reason(int status);
