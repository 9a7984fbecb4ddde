/** Declarations shared by the files of the HTTP server; for them and their fuzz target only.
 *
 * Each file calls only those below it in this list:
 *
 *     server.c     listening, accepting, running the connections that are due, drain
 *     conn.c       upper half of a connection: its state machine
 *     response.c   writing responses
 *     parse.c      llhttp: bytes to heads and content
 *     head.c       collecting and checking heads
 *     preamble.c   what a load balancer sends first
 *     secure.c     TLS between the upper half and the socket
 *     socket.c     lower half of a connection: its socket and timer
 *
 * conn.c and socket.c are two halves of one state machine. socket.c records the events of libuv in
 * members of struct http_conn and then calls the function on_event that it was opened with, which
 * is http_conn_tick(). That makes the transitions and calls http_socket_wait() to wait for the next
 * event. What socket.c reads and writes for a connection with TLS goes through secure.c. When a
 * connection has closed, socket.c calls the server's on_conn_closed.
 */
#pragma once

#include "base/address.h"
#include "http/head.h"
#include "http/server.h"
#include "tls/conn.h"

#include <llhttp.h>

#include <netinet/in.h>
#include <sys/queue.h>

#define HTTP_READ_BYTES \
	(64 << 10) /* size of the read buffer that the connections of a loop share */

#define HTTP_TAIL_BYTES 7 /* ` HTTP/`, and the byte before it */

#define HTTP_NEVER UINT64_MAX /* as a time: no deadline */

/** State of a connection; conn.c shows the transitions. */
enum conn_state {
	CONN_OPENING,  /* the PROXY header or the TLS handshake is not over */
	CONN_IDLE,     /* between two requests */
	CONN_HEAD,     /* a part of a head has been read */
	CONN_EXCHANGE, /* the handler has a request */
	CONN_DROP,     /* the response is sent; the rest of the request is read and dropped */
	CONN_LINGER,   /* our side is shut down; bytes are dropped until the client closes */
	CONN_CLOSED,
	CONN_STATES
};

/** Connections are on one list for each class, in the order in which they entered their state. */
enum conn_class {
	CLASS_IDLE, /* between two requests, or only dropping input */
	CLASS_HEAD,
	CLASS_BUSY, /* with a request */
	CONN_CLASSES
};

/** How long the server has waited for the client to send or to read content. */
struct client_wait {
	uint64_t from_ms;     /* when the current wait began; 0: the server does not wait */
	uint64_t earlier_ms;  /* sum of the waits that are over */
	uint64_t start_bytes; /* moved before the first wait */
};

/** An exchange with the members that only the server uses; in the arena of the exchange. */
struct server_exchange {
	struct http_exchange x;
	struct http_conn *conn;
	struct arena *arena; /* initial value of x.arena, which the handler may have taken */
	struct client_wait sends, reads; /* of the client */
	uint64_t received_bytes;         /* of content */

	struct head_builder collect; /* the target, then the fields */
	uint32_t target_length;
	size_t head_bytes; /* read so far */

	const char *reply_head; /* formatted and not yet written; NULL: none */
	size_t reply_head_length;
	int64_t content_left; /* of the response; -1: its length was not declared */
	const char *rest;     /* last content, which the socket gets in pieces; NULL: none */
	size_t rest_length;   /* of it not yet passed to the socket */
	bool has_version;     /* the parser has reached the version */
	bool has_whole_version;
	bool is_request_complete;
	bool is_paused;
	bool is_continue_due; /* the client waits for 100 (Continue) */
	bool is_response_ended;
	bool is_response_chunked;
	bool has_no_content; /* the response to HEAD, 204, 304 */
	bool is_aborted;
	bool is_full;  /* on_drained must be called */
	bool is_later; /* is_full from the next turn of the loop on */
};

struct http_conn {
	struct http_server *server;
	void (*on_event)(struct http_conn *conn); /* from http_socket_open() */
	union {
		uv_stream_t stream;
		uv_tcp_t tcp;
		uv_pipe_t pipe;
	};
	uv_timer_t timer;
	uv_shutdown_t shutdown;
	struct tls_context *tls_context; /* NULL: a plain connection */
	char *preamble;                  /* a part of a PROXY header; NULL: none */
	size_t preamble_length;
	struct tls_conn *tls; /* from the first byte of a handshake on */
	const char *scheme;   /* `http` or `https` */
	llhttp_t parser;
	TAILQ_ENTRY(http_conn) all, due;
	enum conn_class class;
	enum conn_state state;
	struct server_exchange *exchange; /* in CONN_HEAD and CONN_EXCHANGE, else NULL */

	const char *in; /* received and not yet parsed: in the loop's buffer, or in `held` */
	size_t in_length;
	char *held; /* copy of bytes that could not be parsed yet; NULL: none */
	size_t held_length;
	char *content; /* of this read, gathered for the handler: a part of `in` */
	size_t content_length;
	size_t memory_bytes;      /* of head and `held`, counted in server->memory_bytes */
	uint64_t written_bytes;   /* given to the socket */
	uint64_t waited_ms;       /* time of the loop of the last event */
	size_t framing_bytes;     /* of this request's chunk extensions and trailers */
	size_t extension_bytes;   /* of the chunk extension's name or value being read */
	size_t dropped_bytes;     /* of content that was dropped after its response */
	unsigned blank_bytes;     /* of the empty line that may precede a request */
	uint16_t head_flags;      /* llhttp's flags at the end of the head */
	uint64_t deadline_ms;     /* time of the loop at which the state ends */
	uint64_t linger_until_ms; /* in CONN_LINGER */
	uint64_t timer_ms;        /* time at which the timer fires; 0: it is stopped */
	size_t queued_bytes;      /* unsent, as counted in server->queued_bytes */
	enum err_code refusal;    /* why a callback stopped the parser */
	unsigned handle_count;
	unsigned due_turn;
	char tail[HTTP_TAIL_BYTES]; /* the last bytes parsed */
	uint8_t parsed;             /* enum parse_event of the last callback */
	bool is_tcp;
	bool is_ticking;
	bool is_due;    /* on the server's list, since its `due_turn` */
	bool is_late;   /* the deadline has passed */
	bool is_at_end; /* the client has closed its side */
	bool is_broken; /* a read or write has failed */
	bool is_reading;
	bool is_open;       /* requests may come: there is no PROXY header or handshake to come */
	bool awaits_header; /* a PROXY header comes first */
	bool has_ended;     /* the client has closed its side of TLS, after what is in `in` */
	bool is_not_tls;    /* what the client sent first is no TLS */
	bool is_parser_due; /* the parser has an event to deliver without further input */
	bool is_end_due; /* and it is the end of the request, at whose content the handler paused */
	bool is_keep_alive;
	char peer[INET6_ADDRSTRLEN];
};

TAILQ_HEAD(http_conn_list, http_conn);

struct http_listener {
	struct http_server *server;
	uv_poll_t poll; /* on fd */
	int fd;
	bool is_unix;
	struct tls_context *tls; /* NULL: plain */
};

struct http_server {
	uv_loop_t *loop;
	const struct http_handler *handler;
	const struct http_limits *limits;
	void *context;
	void (*on_conn_closed)(struct http_server *server); /* accepting or the drain may go on */

	struct http_listener *listeners[LISTEN_MAX];
	size_t listener_count;
	uv_timer_t timer; /* of the pause after a failed accept, or of the drain */
	uv_check_t check; /* runs the connections that are due */
	uv_idle_t idle;   /* keeps the loop from blocking while connections are due */
	bool is_accepting;
	bool is_full;    /* all connections are in use and none can be replaced */
	bool is_retired; /* no connection is kept after its response */
	bool is_draining;
	bool is_freed;
	_Atomic uint64_t last_request_ms; /* since it is retired; 0: none */
	unsigned handle_count;            /* of libuv; a connection counts as one */
	unsigned handle_peak;             /* the most since memory was returned to the system */
	void (*drained)(void *);
	void *drained_context;

	struct http_conn_list conns[CONN_CLASSES], due;
	unsigned turn; /* how often the connections that are due were run */
	size_t conn_count;
	size_t memory_bytes; /* of heads and held input */
	size_t queued_bytes; /* unsent, of all connections */
	int64_t date_s;      /* Unix time that `date` shows */
	char date[40];
	char read_buffer[HTTP_READ_BYTES];
};

/* socket.c */

static inline uint64_t conn_now(const struct http_conn *conn)
{
	return uv_now(conn->server->loop);
}

/** Give an accepted socket to libuv; takes `fd`. `on_event` is called after each event of the
 * socket or its timer has been recorded in `conn`. False: libuv refused the socket;
 * http_socket_close() must still be called. */
bool http_socket_open(struct http_conn *conn, int fd, const struct sockaddr_storage *from,
                      void (*on_event)(struct http_conn *conn));

/** Whether the exchange accepts more bytes of its request now. */
bool http_socket_may_read(const struct http_conn *conn);

/** Prepare for the next event after a tick: keep the unparsed bytes, start or stop reading, set the
 * timer. */
void http_socket_wait(struct http_conn *conn);

/** Add the connection to the list of those that the server ticks in this turn of the loop, from the
 * loop's own stack. */
void http_socket_schedule(struct http_conn *conn);

/** Write all of `bufs`, by TLS where the connection has it; copies what the socket does not take at
 * once. Sets is_broken on failure. */
void http_socket_write(struct http_conn *conn, const uv_buf_t *bufs, unsigned count);

/** As http_socket_write(), past TLS. */
void http_socket_send(struct http_conn *conn, const uv_buf_t *bufs, unsigned count);

/** Shut down our side, with close_notify before. False: the socket is broken. */
bool http_socket_end(struct http_conn *conn);

/** Bytes that the socket has not taken yet. */
size_t http_socket_queued(const struct http_conn *conn);

/** Send a TCP acknowledgment now: the client has more to send. */
void http_socket_acknowledge(struct http_conn *conn);

/** Put the connection at the end of the list of its class. */
void http_socket_classify(struct http_conn *conn, enum conn_class class);

/** Count the memory of the connection's head and held input, when it is much. Where its head has
 * grown and that exceeds the limit, closes other connections with incomplete large heads, oldest
 * first. False: it is still exceeded. */
bool http_socket_count_memory(struct http_conn *conn);

/** Close at once. Requires that there is no exchange. */
void http_socket_close(struct http_conn *conn);

/** As http_socket_close(), with a TCP reset, so that the client cannot mistake an incomplete
 * response for a complete one. */
void http_socket_reset(struct http_conn *conn);

/** Note that libuv has closed a handle of the server; frees the server after the last one. */
void http_server_handle_closed(struct http_server *server);

/* preamble.c */

/** Take the header of the PROXY protocol that a connection begins with: set `peer` and `scheme` to
 * the client's, and `data` and `length` to what follows it. False: that is not there yet, or
 * is_broken was set. */
bool http_preamble_receive(struct http_conn *conn, const char **data, size_t *length);

/* secure.c */

/** Take what the socket of a connection with TLS has received: set `in` to what was in it,
 * has_ended when the client has closed its side, is_broken when it broke the protocol or may not
 * shake hands, or is_not_tls, and then `in` to the data itself. */
void http_secure_receive(struct http_conn *conn, const char *data, size_t length);

/** Count a handshake that has begun and ends without an open connection, if there is one. */
void http_secure_give_up(struct http_conn *conn);

/** Encrypt and send `bufs`. Sets is_broken on failure. */
void http_secure_write(struct http_conn *conn, const uv_buf_t *bufs, unsigned count);

/* head.c */

/** Complete the request's head and check everything that two readers could understand differently.
 * `ret_detail`: one sentence on what is wrong. */
enum err_code http_head_complete(struct http_conn *conn, const char **ret_detail);

/* parse.c */

enum parse_event {
	PARSE_MORE,    /* all input was consumed, or the exchange is paused */
	PARSE_HEAD,    /* a head is complete */
	PARSE_END,     /* a request is complete */
	PARSE_REFUSED, /* the request is invalid; conn->refusal says why */
};

void http_parse_init(struct http_conn *conn);

/** Create the exchange when the first byte of its request has been received. */
void http_parse_begin(struct http_conn *conn);

/** Parse conn->in up to the next event. */
enum parse_event http_parse_feed(struct http_conn *conn);

/* response.c */

/** Write the pending head of a response that has no content yet. */
void http_response_flush(struct server_exchange *exchange);

/** Write pieces of exchange->rest, the response's last content, until the socket queues one, and
 * end the response after the last piece. */
void http_response_write_rest(struct server_exchange *exchange);

/** Write a response 408 without content, on a connection without an exchange that is to be
 * closed. */
void http_response_408(struct http_conn *conn);

/** Write 100 (Continue). */
void http_response_continue(struct http_conn *conn);

/** Write a problem reply to a request that the server itself refuses. */
void http_response_refuse(struct http_conn *conn, enum err_code code, const char *detail);

/* conn.c */

/** Serve an accepted socket; takes `fd`. */
void http_conn_new(struct http_listener *listener, int fd, const struct sockaddr_storage *from);

/** Make all transitions that are possible now. */
void http_conn_tick(struct http_conn *conn);

/** Close the connection at once; the handler of an open exchange gets on_gone. */
void http_conn_kill(struct http_conn *conn);

/** The connection that a new one may replace; NULL: every client is waiting for its response. */
struct http_conn *http_conn_replaceable(const struct http_server *server);
