/** libcommon/http/: HTTP/1.1 for servers (RFC 9112): connections, message framing, limits,
 * time-outs, back-pressure, drain; plain, and by TLS (tls/tls.h).
 *
 * This header is the server. Beside it: head.h (fields and heads), body.h (collecting a request's
 * content), gzip.h and gunzip.h (the content coding of responses and of requests), query.h (query
 * parameters), method.h (safe and idempotent methods) and api.h (the public operations and their
 * paths).
 *
 * Terms (RFC 9110): an exchange is one request and its response; the head is the start line and the
 * fields; the content is what follows the head, without its framing.
 *
 * A server belongs to one loop. For each exchange it calls the handler in this order, always from
 * the loop's own stack, never from inside an http_respond_*() call:
 *
 *     on_head -> on_content* -> on_end -> on_done         with on_drained and on_gone in between
 *
 * The handler may start the response at any time from on_head on, and may finish it before the
 * request is complete. The server then reads and drops the rest of the content up to a limit; above
 * the limit it closes the connection. A connection has at most one open exchange: pipelined
 * requests are served one after the other.
 *
 * The server itself refuses these requests with a problem reply (RFC 9457) and closes the
 * connection:
 *
 *     400  Content-Length and Transfer-Encoding together; several Content-Lengths; a transfer
 *          coding other than chunked; obsolete line folding; white space before a colon; a bare CR
 *          or LF; no Host in HTTP/1.1, two Hosts, or an invalid one; a target that is not
 *          origin-form (absolute-form is accepted and its authority dropped); NUL or control
 *          characters in a field
 *     405  CONNECT
 *     414  a head over the limit, most of which is the target
 *     417  an Expect other than 100-continue
 *     431  a head over the limit
 *     503  a large head while head_memory_bytes are used up, also after connections with an
 *          incomplete large head were closed
 *     501  an unknown method
 *     505  a version other than 1.0 and 1.1
 *
 * Trailers are dropped and have no effect.
 *
 * A client that shuts down its sending side after a complete request gets its answer. One that
 * resets the connection, or ends it within a request, is gone.
 *
 * A TLS handshake, and a PROXY header before it, have as long as a head, and until its first byte a
 * connection costs no more than a plain one. A client that speaks plain HTTP to an address of TLS
 * is refused with 400.
 *
 * When all connections are in use, a new one takes the place of another: of the one that is idle
 * for longest; else of the one that has sent an incomplete head for longest; else of the exchange
 * that has waited for its client for longest, and at least a second. So clients that connect and do
 * not send cannot keep others out, from however many addresses they connect.
 */
#pragma once

#include "base/address.h"
#include "base/arena.h"
#include "base/error.h"
#include "http/head.h"

#include <uv.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_server;
struct tls_context;

struct http_handler;

/** One request and its response. `user` is for the handler. */
struct http_exchange {
	struct http_server *server;
	const struct http_handler *handler; /* the server's, unless it was handed over */
	/* Freed after on_done, unless the handler took it and set this to NULL. */
	struct arena *arena;
	struct http_head head;
	void *user;
	uint64_t started_us; /* time_monotonic_us() at the request's first byte */
	/* The client's address and `http` or `https`: those of the connection, until a handler
	 * learns from the fields of a trusted proxy what the client's own are. */
	const char *peer, *scheme;
	int status;          /* of the response; 0 until it is started */
	uint64_t sent_bytes; /* of content */
};

struct http_handler {
	/** The head is complete. Content follows until on_end, unless paused. */
	void (*on_head)(struct http_exchange *x);
	/** A piece of content; `data` is valid during the call. NULL: content is dropped. */
	void (*on_content)(struct http_exchange *x, const char *data, size_t length);
	/** The request is complete. Not called if the response was finished before. May be NULL. */
	void (*on_end)(struct http_exchange *x);
	/** All queued content has been sent, after http_respond_content() returned true. May be
	 * NULL. */
	void (*on_drained)(struct http_exchange *x);
	/** The client closed, sent an invalid message or was too slow before the response was
	 * finished: the handler cannot respond any more, and on_done follows. If no response was
	 * started, the server replies 400 to an invalid message and 408 to a slow one. May be
	 * NULL. */
	void (*on_gone)(struct http_exchange *x, enum err_code reason);
	/** The exchange is over: the response was sent or aborted. The last call for it. */
	void (*on_done)(struct http_exchange *x);
	/** Whether connections of this peer begin with a header of the PROXY protocol
	 * (balancer/proxy_protocol.h), before TLS; peer and scheme are then those of the client
	 * that it tells of, the peer `unknown` where it does not say, and a connection without a
	 * header is closed. NULL: none do. */
	bool (*awaits_header)(struct http_server *server, const char *peer);
	/** Whether a client may begin a TLS handshake now, which costs a millisecond or more. NULL:
	 * all may. */
	bool (*on_handshake)(struct http_server *server, const char *peer);
	/** Format a problem reply for a request that the server refuses before on_head: set
	 * `ret_body`, in `arena`. NULL: the reply has no content. */
	void (*refuse)(struct arena *arena, enum err_code code, const char *detail,
	               const char *request_id, const char **ret_body, size_t *ret_length);
};

struct http_limits {
	size_t head_max_bytes;    /* 64 KiB */
	size_t fields_max;        /* 128 */
	uint64_t head_timeout_ms; /* 10,000: from a request's first byte to the end of its head */
	uint64_t content_timeout_ms; /* 30,000: without a byte of content received or sent */
	uint64_t content_total_ms;   /* 300,000: waiting for the content of one request */
	/* 4 KiB: what a client must at least send or read of content in each second that the server
	 * waits for it, after the first content_timeout_ms; 0: any rate. */
	size_t content_rate_min;
	uint64_t idle_timeout_ms; /* 60,000: between two requests */
	size_t connections_max;   /* 10,000: at this number a new one replaces another */
	size_t head_memory_bytes; /* 16 MiB: for heads and pipelined bytes over 4 KiB each */
	size_t send_high_bytes;   /* 256 KiB: above it http_respond_content() returns true */
	/* 64 MiB: unsent bytes of all connections; above it http_respond_content() returns true
	 * whenever bytes are unsent. */
	size_t send_memory_bytes;
};

extern const struct http_limits http_limits_default;

/** Make a server on `loop`. Borrows `handler` and `limits`; `context` is for the handler. */
struct http_server *http_server_new(uv_loop_t *loop, const struct http_handler *handler,
                                    const struct http_limits *limits, void *context);
void *http_server_context(const struct http_server *server);

/** Bind and listen; the caller owns the descriptor. TCP uses SO_REUSEPORT. A unix socket gets mode
 * 0660, and replaces a socket file on which no process listens. Blocks during a name look-up.
 * ERR_UNAVAILABLE: the address cannot be bound; errno says why. */
enum err_code http_listen_open(const struct address *address, int *ret_fd) attr_must_use;

/** Accept from a listening socket; takes `fd`, also on failure. */
enum err_code http_server_listen_fd(struct http_server *server, int fd) attr_must_use;

/** Listen on `address`; up to LISTEN_MAX times. `other` is a server of another worker of this
 * process that already listens on the same addresses, in the same order; NULL: this is the first.
 * For TCP each worker has its own socket, and the kernel
 * distributes the connections, also over replicas on the same host. A unix socket, and a port that
 * the system chose, are shared. ERR_UNAVAILABLE: the address cannot be bound; errno says why. */
enum err_code http_server_listen(struct http_server *server, const struct address *address,
                                 const struct http_server *other) attr_must_use;

/** As http_server_listen(), by TLS with `context` (borrowed). */
enum err_code http_server_listen_tls(struct http_server *server, const struct address *address,
                                     const struct http_server *other,
                                     struct tls_context *context) attr_must_use;

/** Before the response: let `handler` (borrowed) have the exchange instead. Calls its on_head, and
 * those of its other callbacks that the handler before has not yet had. */
void http_exchange_hand_over(struct http_exchange *x, const struct http_handler *handler);

/** The bound port of the first address, for one with port 0. For tests. */
uint16_t http_server_port(const struct http_server *server);

/** Retire: serve on, but close each connection after its next response, which carries `Connection:
 * close`. Clients take new connections then, for which a load balancer chooses another server. */
void http_server_retire(struct http_server *server);

/** When the last request has begun since http_server_retire(), as time_monotonic_ms(); 0: none has.
 * From any thread. */
uint64_t http_server_last_request_ms(const struct http_server *server);

/** Drain: accept the connections in the kernel's queue and then no more, let exchanges finish
 * (responses carry `Connection: close`), and end idle connections after a second, because a request
 * may already have been sent on them: with a response 408 without content, from which a client
 * knows whose request crosses it that the request was not handled (RFC 9110 section 15.5.9). Calls
 * `drained(context)` from the loop when no connection is left, or `deadline_ms` from now. Once per
 * server. */
void http_server_drain(struct http_server *server, uint64_t deadline_ms, void (*drained)(void *),
                       void *context);

/** Why a service that answers so has not handled the request. ERR_UNAVAILABLE: the request has
 * crossed the response with which http_server_drain() ends idle connections (a 408 to a request
 * that came too slowly has content); ERR_MISDIRECTED: another process has the address now;
 * ERR_NONE: it has handled it. */
enum err_code http_unhandled_code(int status, int64_t content_length);

/** Close all connections and free. The loop has to run once more for libuv's close callbacks. NULL
 * is fine. */
void http_server_free(struct http_server *server);

/** Open connections. For tests. */
size_t http_server_connections(const struct http_server *server);

/** Bytes of responses that are queued, because their clients do not read. For tests. */
size_t http_server_queued(const struct http_server *server);

/** Stop and resume reading this exchange's content (back-pressure towards the client). */
void http_content_pause(struct http_exchange *x);
void http_content_resume(struct http_exchange *x);

/** Start the response. Copies the fields. The server adds `Date`, `Connection`, and
 * `Content-Length` or `Transfer-Encoding`. `content_length` -1: unknown; the response is chunked,
 * or ends with the connection in HTTP/1.0. Statuses 204 and 304 have no content. */
void http_respond_start(struct http_exchange *x, int status, const struct http_field *fields,
                        size_t field_count, int64_t content_length);

/** Send a piece of content. Copies what the socket does not take at once.
 * Returns true when more than send_high_bytes are unsent: wait for on_drained before sending
 * more. */
bool http_respond_content(struct http_exchange *x, const void *data, size_t length);

/** Call on_drained when everything queued has been sent, from a later turn of the loop, as if
 * http_respond_content() had returned true. */
void http_respond_later(struct http_exchange *x);

/** End the response. Requires that a declared content_length was sent in full. */
void http_respond_end(struct http_exchange *x);

/** Send the last of the content and end the response. Borrows `data` until on_done: the socket gets
 * it in pieces as the client reads, so that a slow client costs no copy of it. on_drained is not
 * called.
 */
void http_respond_last(struct http_exchange *x, const void *data, size_t length);

/** Abort the response: the connection is reset, so that the client notices that the response is
 * incomplete. on_done follows from the loop. */
void http_respond_abort(struct http_exchange *x);
