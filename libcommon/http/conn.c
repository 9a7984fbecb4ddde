/* One connection.
 *
 *            first byte           head complete
 *     IDLE ─────────────► HEAD ─────────────────► EXCHANGE ─────┐ content, response,
 *      ▲                   │                       │    ▲───────┘ back-pressure
 *      │                   │ refused, too slow     │ response sent
 *      │                   ▼                       │
 *      │                 LINGER ◄──────────────────┤ the connection is to be closed
 *      │                   ▲                       │
 *      │                   │ too much is left      │
 *      │ request complete  │                       │
 *      ├────────────────── DROP ◄──────────────────┤ the request is not complete
 *      └───────────────────────────────────────────┘ the request is complete
 *
 *     any ──► CLOSED: the client closed or broke off, a response was given up, time ran out
 *
 * state     lasts at most           reads                        when time runs out
 * IDLE      idle_timeout            yes                          CLOSED
 * HEAD      head_timeout            yes                          408, LINGER
 * EXCHANGE  content_timeout since   unless the handler paused,   on_gone; 408 when nothing was
 *           the client's last sign, or bytes of the next         answered
 *           while it is its turn    request wait in `held`
 * DROP      content_timeout         yes                          CLOSED
 * LINGER    LINGER_MS a read,       yes                          CLOSED
 *           LINGER_ALL_MS in all
 *
 * All moves are made by http_conn_tick(), one step at a time; events only note what happened. There
 * is an exchange (`open`) exactly in HEAD and EXCHANGE. Bytes of the next request are never parsed
 * before this one is answered and its response has gone out, so that a client which does not read
 * cannot make us queue responses. */
#include "base/base.h"
#include "http/internal.h"

#define LINGER_MS      2000        /* without a byte from a client that was answered */
#define LINGER_ALL_MS  30000       /* with them */
#define DRAIN_IDLE_MS  1000        /* for a request that is on its way, while draining */
#define DROP_MAX_BYTES (256 << 10) /* of content after its response, then the connection closes */
#define HTTP_NEVER     UINT64_MAX

static void conn_enter(struct http_conn *conn, enum conn_state state, uint64_t time_ms)
{
	conn->state = state;
	conn->deadline_ms = time_ms == HTTP_NEVER ? HTTP_NEVER : conn_now(conn) + time_ms;
	conn->is_late = false;
}

void http_conn_enter_idle(struct http_conn *conn)
{
	conn_enter(conn, CONN_IDLE, conn->server->limits->idle_timeout_ms);
}

/* A drain ends what is idle, once a request that was on its way could come: it would be lost. */
static void idle_shorten(struct http_conn *conn)
{
	if (conn->server->is_draining)
		conn->deadline_ms = MIN_OF(conn->deadline_ms, conn_now(conn) + DRAIN_IDLE_MS);
}

static void exchange_free(struct http_conn *conn)
{
	struct http_open *open = conn->open;
	struct arena *arena = open->x.arena; /* NULL: taken, and perhaps freed in on_done */
	conn->open = NULL;
	if (conn->state == CONN_EXCHANGE)
		conn->server->handler->on_done(&open->x);
	arena_free(arena);
}

static void on_shut(uv_shutdown_t *req, int status)
{
	(void)req;
	(void)status;
}

/* Shut our side and wait for the client's end: closing with unread bytes would have the kernel
 * reset the connection, and the client could lose the response (RFC 9112 section 9.6). */
static void conn_linger(struct http_conn *conn)
{
	conn_enter(conn, CONN_LINGER, LINGER_MS);
	conn->linger_until_ms = conn_now(conn) + LINGER_ALL_MS;
	if (conn->is_broken || conn->is_at_end ||
	    uv_shutdown(&conn->shut, &conn->stream, on_shut) != 0)
		http_conn_close(conn);
}

/* Answer a request that breaks the rules, and close. */
static void conn_refuse(struct http_conn *conn, enum err_code code, const char *detail)
{
	http_write_refusal(conn, code, detail);
	if (conn->open != NULL)
		exchange_free(conn);
	conn_linger(conn);
}

/* The exchange cannot be finished. The client still gets an answer when it may be listening and
 * nothing was answered. */
static void exchange_gone(struct http_conn *conn, enum err_code code, const char *detail)
{
	struct http_open *open = conn->open;
	bool is_answerable = code != ERR_CLIENT_GONE && open->x.status == 0;
	if (conn->server->handler->on_gone != NULL)
		conn->server->handler->on_gone(&open->x, code);
	if (is_answerable) {
		conn_refuse(conn, code, detail);
		return;
	}
	exchange_free(conn);
	http_conn_reset(conn);
}

void http_conn_kill(struct http_conn *conn)
{
	if (conn->state == CONN_EXCHANGE)
		exchange_gone(conn, ERR_CLIENT_GONE, NULL);
	else if (conn->open != NULL)
		exchange_free(conn);
	http_conn_close(conn);
}

/* One CRLF may stand before a request (RFC 9112 section 2.2). False: something else does. */
static bool skip_blank_line(struct http_conn *conn)
{
	while (conn->in_length > 0 && (*conn->in == '\r' || *conn->in == '\n')) {
		if (conn->blank_bytes >= 2 || *conn->in != "\r\n"[conn->blank_bytes])
			return false;
		conn->blank_bytes++;
		conn->in++;
		conn->in_length--;
	}
	return conn->in_length == 0 || conn->blank_bytes != 1;
}

static bool step_idle(struct http_conn *conn)
{
	if (conn->is_at_end || conn->is_broken || conn->is_late) {
		http_conn_close(conn);
		return false;
	}
	if (conn->in_length == 0) {
		idle_shorten(conn);
		return false;
	}
	if (!skip_blank_line(conn)) {
		conn_refuse(conn, ERR_MALFORMED, "a request does not begin with a line end");
		return true;
	}
	if (conn->in_length == 0)
		return false;
	http_parse_begin(conn);
	conn_enter(conn, CONN_HEAD, conn->server->limits->head_timeout_ms);
	return true;
}

static const char *refusal_detail(enum err_code code)
{
	switch (code) {
	case ERR_VERSION:
		return "only HTTP/1.0 and HTTP/1.1 are spoken here";
	case ERR_HEAD_TOO_LARGE:
		return "the request's head is too large";
	case ERR_TARGET_TOO_LONG:
		return "the request's target is too long";
	case ERR_NOT_BUILT:
		return "this method is not known here";
	default:
		return "the request breaks the rules of HTTP/1.1";
	}
}

static void exchange_open(struct http_conn *conn)
{
	const char *detail;
	enum err_code code = http_head_complete(conn, &detail);
	if (code != ERR_NONE) {
		conn_refuse(conn, code, detail);
		return;
	}
	conn->is_parser_due = !conn->open->x.head.has_content;
	conn_enter(conn, CONN_EXCHANGE, HTTP_NEVER);
	if (!conn->is_parser_due && conn->in_length == 0)
		http_conn_acknowledge(conn);
	conn->server->handler->on_head(&conn->open->x);
}

static bool step_head(struct http_conn *conn)
{
	if (conn->is_at_end || conn->is_broken) {
		exchange_free(conn);
		http_conn_close(conn);
		return false;
	}
	if (conn->is_late) {
		conn_refuse(conn, ERR_REQUEST_TIMEOUT, "the head took too long to arrive");
		return true;
	}
	if (conn->in_length == 0)
		return false;
	switch (http_parse_feed(conn)) {
	case PARSE_HEAD:
		exchange_open(conn);
		break;
	case PARSE_REFUSED:
		conn_refuse(conn, conn->refusal, refusal_detail(conn->refusal));
		break;
	default:
		break;
	}
	return true;
}

/* The response has gone out. */
static void exchange_finish(struct http_conn *conn)
{
	bool is_request_complete = conn->open->is_request_complete;
	exchange_free(conn);
	if (!conn->is_keep_alive)
		conn_linger(conn);
	else if (is_request_complete)
		http_conn_enter_idle(conn);
	else
		conn_enter(conn, CONN_DROP, conn->server->limits->content_timeout_ms);
}

/* What ends an exchange early. True: it did. */
static bool exchange_broke(struct http_conn *conn)
{
	struct http_open *open = conn->open;
	if (open->is_aborted) {
		exchange_free(conn);
		http_conn_reset(conn);
	} else if (conn->is_broken || conn->is_at_end) {
		exchange_gone(conn, ERR_CLIENT_GONE, NULL);
	} else if (conn->is_late) {
		bool is_sending = http_write_queued(conn) > 0;
		exchange_gone(conn, is_sending ? ERR_CLIENT_GONE : ERR_REQUEST_TIMEOUT,
		              "the content took too long to arrive");
	} else {
		return false;
	}
	return true;
}

bool http_conn_may_read(const struct http_conn *conn)
{
	const struct http_open *open = conn->open;
	return !open->is_request_complete && !open->is_paused && !open->is_response_ended;
}

static void exchange_feed(struct http_conn *conn)
{
	struct http_open *open = conn->open;
	switch (http_parse_feed(conn)) {
	case PARSE_END:
		open->is_request_complete = true;
		if (!open->is_response_ended && !open->is_aborted &&
		    conn->server->handler->on_end != NULL)
			conn->server->handler->on_end(&open->x);
		break;
	case PARSE_REFUSED:
		if (!open->is_aborted)
			exchange_gone(conn, conn->refusal, refusal_detail(conn->refusal));
		break;
	default:
		break;
	}
}

static bool step_exchange(struct http_conn *conn)
{
	struct http_open *open = conn->open;
	if (exchange_broke(conn))
		return true;
	http_write_flush(open);
	if (http_write_queued(conn) == 0 && !conn->is_broken) {
		if (open->is_response_ended) {
			exchange_finish(conn);
			return true;
		}
		if (open->is_full) {
			open->is_full = false;
			if (conn->server->handler->on_drained != NULL)
				conn->server->handler->on_drained(&open->x);
			return true;
		}
	}
	if (!http_conn_may_read(conn))
		return conn->is_broken;
	if (open->is_continue_due && open->x.status == 0) {
		open->is_continue_due = false;
		http_write_continue(conn);
	}
	if (conn->in_length == 0 && !conn->is_parser_due)
		return conn->is_broken;
	exchange_feed(conn);
	return true;
}

static bool step_drop(struct http_conn *conn)
{
	if (conn->is_at_end || conn->is_broken || conn->is_late) {
		http_conn_close(conn);
		return false;
	}
	if (conn->in_length == 0 && !conn->is_parser_due)
		return false;
	switch (http_parse_feed(conn)) {
	case PARSE_END:
		http_conn_enter_idle(conn);
		break;
	case PARSE_REFUSED:
		conn_linger(conn);
		break;
	default:
		if (conn->dropped_bytes > DROP_MAX_BYTES)
			conn_linger(conn);
		break;
	}
	return true;
}

static bool step_linger(struct http_conn *conn)
{
	if (conn->in_length > 0)
		conn->deadline_ms = MIN_OF(conn_now(conn) + LINGER_MS, conn->linger_until_ms);
	conn->in_length = 0;
	if (conn->is_at_end || conn->is_broken || conn->is_late)
		http_conn_close(conn);
	return false;
}

static bool step_closed(struct http_conn *conn)
{
	conn->in_length = 0;
	return false;
}

/* Make one move; false: nothing more can be done now. */
static bool (*const STEPS[CONN_STATES])(struct http_conn *conn) = {
	[CONN_IDLE] = step_idle, [CONN_HEAD] = step_head,     [CONN_EXCHANGE] = step_exchange,
	[CONN_DROP] = step_drop, [CONN_LINGER] = step_linger, [CONN_CLOSED] = step_closed,
};

void http_conn_tick(struct http_conn *conn)
{
	if (conn->is_ticking || conn->state == CONN_CLOSED)
		return;
	conn->is_ticking = true;
	while (STEPS[conn->state](conn))
		;
	conn->is_ticking = false;
	if (conn->state == CONN_CLOSED)
		return;
	http_conn_settle(conn);
}

void http_conn_schedule(struct http_conn *conn)
{
	if (conn->is_ticking || conn->is_due || conn->state == CONN_CLOSED)
		return;
	conn->is_due = true;
	TAILQ_INSERT_TAIL(&conn->server->due, conn, due);
	http_server_wake(conn->server);
}

void http_content_pause(struct http_exchange *x)
{
	struct http_open *open = CONTAINER_OF(x, struct http_open, x);
	open->is_paused = true;
	http_conn_schedule(open->conn);
}

void http_content_resume(struct http_exchange *x)
{
	struct http_open *open = CONTAINER_OF(x, struct http_open, x);
	open->is_paused = false;
	http_conn_schedule(open->conn);
}
