/** What the files of upstream share; nobody else includes it.
 *
 *     upstream.c         calls: which connection, which address, the next when one fails
 *     upstream_conn.c    one connection: its states, time-outs, reading and writing
 *     upstream_answer.c  llhttp: bytes to answers
 */
#pragma once

#include "http/head.h"
#include "upstream/upstream.h"

#include <llhttp.h>

#include <netinet/in.h>
#include <sys/queue.h>

#define UPSTREAM_READ_BYTES (64 << 10) /* read buffer, one for all connections of an upstream */
#define UPSTREAM_PLACES_MAX 16         /* addresses of one name */

enum up_state {
	UP_CONNECTING,
	UP_BUSY,
	UP_IDLE,
	UP_CLOSED,
};

/** One address of the service. */
struct up_place {
	struct sockaddr_storage to;
	uint64_t silent_until_ms; /* left out until then; 0: it is fine */
};

struct upstream_call {
	struct upstream *upstream;
	struct arena *arena;
	const struct upstream_handler *handler;
	void *user;
	struct up_conn *conn;            /* NULL: waits for addresses, or to be told of a failure */
	TAILQ_ENTRY(upstream_call) link; /* on `waiting` or `failed` while conn is NULL */
	struct upstream_failure failure;
	struct http_collect collect;
	size_t head_bytes;
	unsigned tried; /* a bit for each address that failed this call */
	bool is_head;
	bool is_failed; /* on_failed is owed */
	bool is_sent;   /* the request is complete */
	bool is_paused;
	bool is_full;  /* on_drained is owed */
	bool has_head; /* on_answer was called */
};

struct up_conn {
	struct upstream *upstream;
	union {
		uv_stream_t stream;
		uv_tcp_t tcp;
		uv_pipe_t pipe;
	};
	uv_timer_t timer;
	uv_connect_t connect;
	llhttp_t parser;
	TAILQ_ENTRY(up_conn) all, idle;
	enum up_state state;
	struct upstream_call *call; /* NULL unless connecting or busy */
	int place;                  /* index of the address */
	uint64_t deadline_ms, timer_ms;
	size_t queued_bytes;
	unsigned handle_count;
	bool is_reused;
	bool is_reading;
	bool has_sent;    /* some of this call's request */
	bool is_parsing;  /* the parser is on the stack */
	bool has_bytes;   /* of this call's answer */
	bool is_complete; /* the answer is */
};

TAILQ_HEAD(up_conn_list, up_conn);
TAILQ_HEAD(upstream_call_list, upstream_call);

struct upstream {
	uv_loop_t *loop;
	const char *name;
	const struct address *address;
	const struct upstream_limits *limits;

	struct up_place places[UPSTREAM_PLACES_MAX];
	int place_count;
	int next_place;
	bool is_name; /* to be looked up; otherwise places[0] is for ever */
	bool is_resolving;
	bool is_freed;
	uint64_t resolved_ms; /* 0: look up before connecting */
	uv_getaddrinfo_t resolve;
	uv_timer_t timer; /* tells `failed` from the loop */
	struct upstream_call_list waiting, failed;

	struct up_conn_list conns, idle;
	size_t conn_count, idle_count;
	unsigned handle_count;
	char read_buffer[UPSTREAM_READ_BYTES];
};

/* upstream.c */

/** The call's connection could not be made: try the next address, or fail. */
void up_call_connect_failed(struct upstream_call *call, int place, bool is_silent, int uv_code);

/** The call is over without an answer. The connection was let go of. */
void up_call_fail(struct upstream_call *call, const struct upstream_failure *failure);

void up_handle_closed(struct upstream *upstream);

/* upstream_conn.c */

/** Register the metrics of connections. */
void up_conn_register(void);

/** Connect to upstream->places[place] for `call`. */
void up_conn_dial(struct upstream_call *call, int place);

/** Give a kept connection to `call`. */
void up_conn_take(struct up_conn *conn, struct upstream_call *call);

void up_conn_close(struct up_conn *conn);

/** Set reading and the deadline by what is waited for. */
void up_conn_update(struct up_conn *conn);

/** The call on the connection fails, which is closed. */
void up_conn_fail(struct up_conn *conn, enum err_code code, const char *reason);

/** The answer is complete: keep the connection or close it. */
void up_conn_finish(struct up_conn *conn);

/* upstream_answer.c */

void up_answer_init(struct up_conn *conn);

/** Read what came. May end the call and close the connection. */
void up_answer_feed(struct up_conn *conn, const char *data, size_t length);

/** The service closed its side. */
void up_answer_eof(struct up_conn *conn);
