/** What the files of the HTTP server share; nobody else includes it.
 *
 *     http_listen.c   sockets to accept from
 *     http_server.c   accepting, turns of the loop, drain
 *     http_conn.c     one connection: its states
 *     http_socket.c   its socket and its timer: reading, holding back, closing
 *     http_parse.c    llhttp: bytes to heads and content
 *     http_collect.c  the strings of a head
 *     http_head.c     what a head may say
 *     http_write.c    responses
 */
#pragma once

#include "http/collect.h"
#include "http/server.h"

#include <llhttp.h>

#include <netinet/in.h>
#include <sys/queue.h>

#define HTTP_READ_BYTES (64 << 10) /* read buffer, one for all connections of a loop */

#define HTTP_TAIL_BYTES 7 /* before a version: ` HTTP/`, and what stands before that */

/** How far a connection is; the moves are drawn in http_conn.c. */
enum conn_state {
	CONN_IDLE,     /* between two requests */
	CONN_HEAD,     /* some bytes of a head have come */
	CONN_EXCHANGE, /* the handler has a request */
	CONN_DROP,     /* answered; the little that is left of the request is dropped */
	CONN_LINGER,   /* our side is shut; what still comes is dropped until the client closes */
	CONN_CLOSED,
	CONN_STATES
};

/** An exchange and what only the server knows of it, in the exchange's arena. */
struct http_open {
	struct http_exchange x;
	struct http_conn *conn;
	struct arena *arena; /* as x.arena was, which the handler may have taken */

	struct http_collect collect; /* the target, then the fields */
	uint32_t target_length;
	size_t head_bytes; /* read so far */

	const char *reply_head; /* formatted and not yet written; NULL: none */
	size_t reply_head_length;
	int64_t content_left; /* of the response; -1: not declared */
	bool has_version;     /* its first byte was seen */
	bool has_whole_version;
	bool is_request_complete;
	bool is_paused;
	bool is_continue_due; /* the client waits for 100 (Continue) */
	bool is_response_ended;
	bool is_response_chunked;
	bool has_no_content; /* HEAD, 204, 304 */
	bool is_aborted;
	bool is_full; /* on_drained is owed */
};

struct http_conn {
	struct http_server *server;
	union {
		uv_stream_t stream;
		uv_tcp_t tcp;
		uv_pipe_t pipe;
	};
	uv_timer_t timer;
	uv_shutdown_t shut;
	llhttp_t parser;
	TAILQ_ENTRY(http_conn) all, due;
	enum conn_state state;
	struct http_open *open; /* in CONN_HEAD and CONN_EXCHANGE */

	const char *in; /* bytes that came and are not parsed: in the loop's buffer, or in `held` */
	size_t in_length;
	char *held;               /* what could not be parsed when it came; NULL: nothing */
	size_t framing_bytes;     /* of this request's chunk extensions and trailers */
	size_t extension_bytes;   /* of the name or value of one that is being read */
	size_t dropped_bytes;     /* of content after its response */
	unsigned blank_bytes;     /* of the empty line that may stand before a request */
	uint16_t head_flags;      /* of llhttp, before trailers */
	uint64_t deadline_ms;     /* uv_now() at which the state has lasted too long */
	uint64_t linger_until_ms; /* in CONN_LINGER */
	uint64_t timer_ms;        /* when the timer fires; 0: it is stopped */
	size_t queued_bytes;      /* unsent when the deadline was set */
	enum err_code refusal;    /* why the parser's callbacks stopped it */
	unsigned handle_count;
	char tail[HTTP_TAIL_BYTES]; /* parsed last */
	uint8_t parsed;             /* enum parse_event of the last callback */
	bool is_tcp;
	bool is_ticking;
	bool is_due;    /* on the server's list */
	bool is_late;   /* the deadline has passed */
	bool is_at_end; /* the client has closed its side */
	bool is_broken; /* a read or write has failed */
	bool is_reading;
	bool is_parser_due; /* the parser has something to say without more bytes */
	bool is_keep_alive;
	char peer[INET6_ADDRSTRLEN];
};

TAILQ_HEAD(http_conn_list, http_conn);

struct http_server {
	uv_loop_t *loop;
	const struct http_handler *handler;
	const struct http_limits *limits;
	void *context;

	uv_poll_t listener; /* on listen_fd */
	uv_timer_t timer;   /* of the pause after a failed accept, or of the drain */
	uv_check_t check;   /* runs the connections that are due */
	uv_idle_t idle;     /* keeps the loop from sleeping while some are due */
	int listen_fd;      /* -1: not listening */
	bool is_unix;
	bool is_accepting;
	bool is_draining;
	bool is_freed;
	unsigned handle_count; /* of libuv, connections counted as one */
	void (*drained)(void *);
	void *drained_context;

	struct http_conn_list conns, due;
	size_t conn_count;
	int64_t date_s; /* the second that `date` is of */
	char date[40];
	char read_buffer[HTTP_READ_BYTES];
};

/* http_server.c */

/** A connection was closed: accepting or the drain may go on. */
void http_server_conn_closed(struct http_server *server);

/** Some connections are due. */
void http_server_wake(struct http_server *server);

/** A libuv handle, or a whole connection, is gone. */
void http_server_handle_closed(struct http_server *server);

/** IMF-fixdate of now, with `Date: ` and line end. */
const char *http_server_date_line(struct http_server *server);

/* http_conn.c */

/** Do all that can be done now. */
void http_conn_tick(struct http_conn *conn);

/** Tick in this turn of the loop, from its own stack. */
void http_conn_schedule(struct http_conn *conn);

/** End the connection at once, telling an open exchange that its client is gone. */
void http_conn_kill(struct http_conn *conn);

/** Between two requests from now on. */
void http_conn_enter_idle(struct http_conn *conn);

/** Whether the open exchange takes more of its request. */
bool http_conn_may_read(const struct http_conn *conn);

/* http_socket.c */

#define HTTP_NEVER UINT64_MAX /* a deadline */

/** Serve an accepted socket; takes `fd`. */
void http_conn_new(struct http_server *server, int fd, const struct sockaddr_storage *from);

static inline uint64_t conn_now(const struct http_conn *conn)
{
	return uv_now(conn->server->loop);
}

/** After a tick: keep what could not be parsed, read or not, set the timer. */
void http_conn_settle(struct http_conn *conn);

/** Close at once; there is no open exchange any more. */
void http_conn_close(struct http_conn *conn);

/** The same, so that the client cannot take what it has for a complete response. */
void http_conn_reset(struct http_conn *conn);

/** Have the kernel acknowledge at once what has come in: more is to follow. */
void http_conn_acknowledge(struct http_conn *conn);

/* http_parse.c */

enum parse_event {
	PARSE_MORE,    /* everything was taken, or the exchange is paused */
	PARSE_HEAD,    /* a head is complete */
	PARSE_END,     /* a request is complete */
	PARSE_REFUSED, /* conn->refusal */
};

void http_parse_init(struct http_conn *conn);

/** Start the exchange whose first byte has come. */
void http_parse_begin(struct http_conn *conn);

/** Feed what is in conn->in, up to the next event. */
enum parse_event http_parse_feed(struct http_conn *conn);

/* http_head.c */

/** Give the fields of a complete head their places and check everything that two readers could
 * understand differently. `ret_detail`: one sentence on what is wrong. */
enum err_code http_head_complete(struct http_conn *conn, const char **ret_detail);

/* http_write.c */

/** Write the pending head of a response that has no content so far. */
void http_write_flush(struct http_open *open);

void http_write_continue(struct http_conn *conn);

/** Register the metrics of refusals. */
void http_write_register(void);

/** Write a problem reply for a request that no handler has. */
void http_write_refusal(struct http_conn *conn, enum err_code code, const char *detail);

/** Bytes that the socket has not taken yet. */
size_t http_write_queued(const struct http_conn *conn);
