/* The state machine of a connection.
 *
 *     OPENING ──► IDLE: the PROXY header has come and the TLS handshake is over, if there are any
 *        │ the first byte is not that of a handshake
 *        └──────► LINGER
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
 *     any ──► CLOSED: the client closed or reset it, the response was aborted, a deadline passed
 *
 * state     lasts at most           reads                        after that time
 * OPENING   head_timeout            yes                          CLOSED
 * IDLE      idle_timeout            yes                          CLOSED; while draining 408, LINGER
 * HEAD      head_timeout            yes                          408, LINGER
 * EXCHANGE  content_timeout since   unless the handler paused,   on_gone; 408 when no response
 *           the last bytes, and     or bytes of the next         was started
 *           what content_total and  request are in `held`
 *           content_rate_min allow,
 *           while waiting for the
 *           client
 * DROP      content_timeout         yes                          CLOSED
 * LINGER    LINGER_MS a read,       yes                          CLOSED
 *           LINGER_ALL_MS in all
 *
 * http_conn_tick() makes all transitions, one step at a time; event callbacks only set members.
 * There is an exchange in HEAD and EXCHANGE and in no other state. The next request is not parsed
 * before the response to this one has been sent, so a client that sends requests and does not read
 * cannot make the server queue responses. */
#include "base/base.h"
#include "base/timefmt.h"
#include "http/internal.h"

#include <stdlib.h>

#define LINGER_MS      2000        /* longest wait for the next bytes */
#define LINGER_ALL_MS  30000       /* longest wait in all */
#define DRAIN_IDLE_MS  1000        /* while draining, longest wait for a request already sent */
#define DROP_MAX_BYTES (256 << 10) /* most content read after the response; more closes */
#define STALLED_MS     1000        /* without an event: the exchange may be replaced */

static const enum conn_class CLASS_OF[CONN_STATES] = {
	[CONN_OPENING] = CLASS_IDLE,  [CONN_IDLE] = CLASS_IDLE, [CONN_HEAD] = CLASS_HEAD,
	[CONN_EXCHANGE] = CLASS_BUSY, [CONN_DROP] = CLASS_IDLE, [CONN_LINGER] = CLASS_IDLE,
};

static void enter_state(struct http_conn *conn, enum conn_state state, uint64_t time_ms)
{
	conn->state = state;
	conn->deadline_ms = time_ms == HTTP_NEVER ? HTTP_NEVER : conn_now(conn) + time_ms;
	conn->is_late = false;
	http_socket_classify(conn, CLASS_OF[state]);
}

static void enter_idle(struct http_conn *conn)
{
	enter_state(conn, CONN_IDLE, conn->server->limits->idle_timeout_ms);
}

/* While draining, wait only briefly for requests that were already sent on idle connections. */
static void shorten_idle(struct http_conn *conn)
{
	if (conn->server->is_draining)
		conn->deadline_ms = MIN_OF(conn->deadline_ms, conn_now(conn) + DRAIN_IDLE_MS);
}

static void exchange_free(struct http_conn *conn)
{
	struct server_exchange *exchange = conn->exchange;
	struct arena *arena =
		exchange->x.arena; /* NULL: the handler took it; on_done may free it */
	conn->exchange = NULL;
	if (conn->state == CONN_EXCHANGE)
		exchange->x.handler->on_done(&exchange->x);
	arena_free(arena);
	if (conn->memory_bytes > 0)
		(void)http_socket_count_memory(conn);
}

/* Shut down our side and wait until the client closes. If there are unread bytes when a socket is
 * closed, the kernel resets the connection and the client can lose the response (RFC 9112
 * section 9.6). */
static void enter_linger(struct http_conn *conn)
{
	enter_state(conn, CONN_LINGER, LINGER_MS);
	conn->linger_until_ms = conn_now(conn) + LINGER_ALL_MS;
	if (conn->is_broken || conn->is_at_end || !http_socket_end(conn))
		http_socket_close(conn);
}

/* Answer an invalid request with a problem, and close. */
static void refuse(struct http_conn *conn, enum err_code code, const char *detail)
{
	http_response_refuse(conn, code, detail);
	if (conn->exchange)
		exchange_free(conn);
	enter_linger(conn);
}

/* End an exchange that cannot be finished. The client gets a problem reply if it may still read and
 * no response was started. */
static void exchange_fail(struct http_conn *conn, enum err_code code, const char *detail)
{
	struct server_exchange *exchange = conn->exchange;
	bool is_answerable = code != ERR_CLIENT_GONE && exchange->x.status == 0;
	if (exchange->x.handler->on_gone)
		exchange->x.handler->on_gone(&exchange->x, code);
	if (is_answerable) {
		refuse(conn, code, detail);
		return;
	}
	exchange_free(conn);
	http_socket_reset(conn);
}

void http_conn_kill(struct http_conn *conn)
{
	if (conn->state == CONN_EXCHANGE)
		exchange_fail(conn, ERR_CLIENT_GONE, NULL);
	else if (conn->exchange)
		exchange_free(conn);
	http_socket_close(conn);
}

/* Skip one CRLF before a request (RFC 9112 section 2.2). False: there are other line ends. */
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

/* Close a connection without a request. A drain may cross a request that is on its way: its client
 * learns that it was not handled. */
static void end_idle(struct http_conn *conn)
{
	if (!conn->server->is_draining || conn->is_at_end || conn->is_broken) {
		http_socket_close(conn);
		return;
	}
	http_response_408(conn);
	enter_linger(conn);
}

static bool step_opening(struct http_conn *conn)
{
	if (conn->is_not_tls) {
		refuse(conn, ERR_MALFORMED, "this address takes HTTPS only");
		return true;
	}
	if (conn->is_at_end || conn->is_broken || conn->is_late) {
		http_secure_give_up(conn);
		http_socket_close(conn);
		return false;
	}
	if (conn->is_open) {
		enter_idle(conn);
		return true;
	}
	shorten_idle(conn);
	return false;
}

static bool step_idle(struct http_conn *conn)
{
	if (conn->is_at_end || conn->is_broken || conn->is_late) {
		end_idle(conn);
		return false;
	}
	if (conn->in_length == 0) {
		shorten_idle(conn);
		return false;
	}
	if (!skip_blank_line(conn)) {
		refuse(conn, ERR_MALFORMED, "line ends before the request");
		return true;
	}
	if (conn->in_length == 0)
		return false;
	http_parse_begin(conn);
	enter_state(conn, CONN_HEAD, conn->server->limits->head_timeout_ms);
	return true;
}

static const char *refusal_detail(enum err_code code)
{
	switch (code) {
	case ERR_VERSION:
		return "only HTTP/1.0 and HTTP/1.1 are supported";
	case ERR_HEAD_TOO_LARGE:
		return "the request's head is too large";
	case ERR_TARGET_TOO_LONG:
		return "the request's target is too long";
	case ERR_NOT_IMPLEMENTED:
		return "the method is not known";
	case ERR_UNAVAILABLE:
		return "too many large heads are in progress; nothing was done, try again";
	default:
		return "the request is not valid HTTP/1.1";
	}
}

static void head_done(struct http_conn *conn)
{
	const char *detail;
	enum err_code code = http_head_complete(conn, &detail);
	if (code != ERR_NONE) {
		refuse(conn, code, detail);
		return;
	}
	conn->is_parser_due = !conn->exchange->x.head.has_content;
	enter_state(conn, CONN_EXCHANGE, HTTP_NEVER);
	if (conn->server->is_retired)
		conn->server->last_request_ms = time_monotonic_ms();
	if (!conn->is_parser_due && conn->in_length == 0)
		http_socket_acknowledge(conn);
	conn->exchange->x.handler->on_head(&conn->exchange->x);
}

static bool step_head(struct http_conn *conn)
{
	if (conn->is_at_end || conn->is_broken) {
		exchange_free(conn);
		http_socket_close(conn);
		return false;
	}
	if (conn->is_late) {
		refuse(conn, ERR_REQUEST_TIMEOUT, "the head took too long to arrive");
		return true;
	}
	if (conn->in_length == 0)
		return false;
	switch (http_parse_feed(conn)) {
	case PARSE_HEAD:
		head_done(conn);
		break;
	case PARSE_REFUSED:
		refuse(conn, conn->refusal, refusal_detail(conn->refusal));
		break;
	default:
		break;
	}
	return true;
}

/* Choose the next state when the response has been sent. */
static void exchange_finish(struct http_conn *conn)
{
	bool is_request_complete = conn->exchange->is_request_complete;
	exchange_free(conn);
	if (!conn->is_keep_alive)
		enter_linger(conn);
	else if (is_request_complete)
		enter_idle(conn);
	else
		enter_state(conn, CONN_DROP, conn->server->limits->content_timeout_ms);
}

/* End the exchange if it was aborted, failed or timed out. True: it was. A client that only shut
 * down its sending side still waits for the response. */
static bool exchange_check(struct http_conn *conn)
{
	struct server_exchange *exchange = conn->exchange;
	if (conn->is_at_end)
		conn->is_keep_alive = false;
	if (exchange->is_aborted) {
		exchange_free(conn);
		http_socket_reset(conn);
	} else if (conn->is_broken || (conn->is_at_end && !exchange->is_request_complete)) {
		exchange_fail(conn, ERR_CLIENT_GONE, NULL);
	} else if (conn->is_late) {
		bool is_sending = http_socket_queued(conn) > 0;
		exchange_fail(conn, is_sending ? ERR_CLIENT_GONE : ERR_REQUEST_TIMEOUT,
		              "the content took too long to arrive");
	} else {
		return false;
	}
	return true;
}

static void exchange_feed(struct http_conn *conn)
{
	struct server_exchange *exchange = conn->exchange;
	switch (http_parse_feed(conn)) {
	case PARSE_END:
		exchange->is_request_complete = true;
		if (!exchange->is_response_ended && !exchange->is_aborted &&
		    exchange->x.handler->on_end)
			exchange->x.handler->on_end(&exchange->x);
		break;
	case PARSE_REFUSED:
		if (!exchange->is_aborted)
			exchange_fail(conn, conn->refusal, refusal_detail(conn->refusal));
		break;
	default:
		break;
	}
}

static bool step_exchange(struct http_conn *conn)
{
	struct server_exchange *exchange = conn->exchange;
	if (exchange_check(conn))
		return true;
	http_response_flush(exchange);
	if (exchange->rest)
		http_response_write_rest(exchange);
	if (http_socket_queued(conn) == 0 && !conn->is_broken) {
		if (exchange->is_response_ended) {
			exchange_finish(conn);
			return true;
		}
		if (exchange->is_full) {
			exchange->is_full = false;
			if (exchange->x.handler->on_drained)
				exchange->x.handler->on_drained(&exchange->x);
			return true;
		}
	}
	if (!http_socket_may_read(conn))
		return conn->is_broken;
	if (exchange->is_continue_due && exchange->x.status == 0) {
		exchange->is_continue_due = false;
		http_response_continue(conn);
	}
	if (conn->in_length == 0 && !conn->is_parser_due)
		return conn->is_broken;
	exchange_feed(conn);
	return true;
}

static bool step_drop(struct http_conn *conn)
{
	if (conn->is_at_end || conn->is_broken || conn->is_late) {
		http_socket_close(conn);
		return false;
	}
	if (conn->in_length == 0 && !conn->is_parser_due)
		return false;
	switch (http_parse_feed(conn)) {
	case PARSE_END:
		enter_idle(conn);
		break;
	case PARSE_REFUSED:
		enter_linger(conn);
		break;
	default:
		if (conn->dropped_bytes > DROP_MAX_BYTES)
			enter_linger(conn);
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
		http_socket_close(conn);
	return false;
}

static bool step_closed(struct http_conn *conn)
{
	conn->in_length = 0;
	return false;
}

/* Each makes one step; false: nothing more can be done now. */
static bool (*const STEPS[CONN_STATES])(struct http_conn *conn) = {
	[CONN_OPENING] = step_opening,   [CONN_IDLE] = step_idle, [CONN_HEAD] = step_head,
	[CONN_EXCHANGE] = step_exchange, [CONN_DROP] = step_drop, [CONN_LINGER] = step_linger,
	[CONN_CLOSED] = step_closed,
};

/* What http_respond_later() has put off in an earlier turn is due. */
static void take_later(struct http_conn *conn)
{
	struct server_exchange *exchange = conn->exchange;
	if (!exchange || !exchange->is_later)
		return;
	exchange->is_later = false;
	exchange->is_full = true;
}

void http_conn_tick(struct http_conn *conn)
{
	if (conn->is_ticking || conn->state == CONN_CLOSED)
		return;
	conn->is_ticking = true;
	take_later(conn);
	while (STEPS[conn->state](conn))
		;
	conn->is_ticking = false;
	if (conn->state == CONN_CLOSED)
		return;
	if (conn->exchange && conn->exchange->is_later)
		http_socket_schedule(conn);
	http_socket_wait(conn);
}

void http_conn_new(struct http_listener *listener, int fd, const struct sockaddr_storage *from)
{
	struct http_server *server = listener->server;
	struct http_conn *conn = calloc(1, sizeof(*conn));
	require(conn);
	conn->server = server;
	conn->tls_context = listener->tls;
	conn->scheme = listener->tls ? "https" : "http";
	conn->is_keep_alive = true;
	server->handle_count++;
	if (server->handle_peak < server->handle_count)
		server->handle_peak = server->handle_count;
	server->conn_count++;
	TAILQ_INSERT_TAIL(&server->conns[CLASS_IDLE], conn, all);
	http_parse_init(conn);
	conn->is_broken = !http_socket_open(conn, fd, from, http_conn_tick);
	conn->awaits_header = server->handler->awaits_header &&
	                      server->handler->awaits_header(server, conn->peer);
	conn->is_open = !conn->awaits_header && !conn->tls_context;
	enter_state(conn, CONN_OPENING, server->limits->head_timeout_ms);
	http_conn_tick(conn);
}

/* The exchange that has waited for its client for longest. */
static struct http_conn *longest_stalled(const struct http_server *server)
{
	struct http_conn *conn, *stalled = NULL;
	uint64_t until_ms = uv_now(server->loop) - STALLED_MS;
	TAILQ_FOREACH (conn, &server->conns[CLASS_BUSY], all) {
		if (conn->deadline_ms != HTTP_NEVER && conn->waited_ms <= until_ms) {
			stalled = conn;
			until_ms = conn->waited_ms;
		}
	}
	return stalled;
}

struct http_conn *http_conn_replaceable(const struct http_server *server)
{
	struct http_conn *conn = TAILQ_FIRST(&server->conns[CLASS_IDLE]);
	if (!conn)
		conn = TAILQ_FIRST(&server->conns[CLASS_HEAD]);
	return conn ? conn : longest_stalled(server);
}

void http_content_pause(struct http_exchange *x)
{
	struct server_exchange *exchange = CONTAINER_OF(x, struct server_exchange, x);
	exchange->is_paused = true;
	http_socket_schedule(exchange->conn);
}

void http_content_resume(struct http_exchange *x)
{
	struct server_exchange *exchange = CONTAINER_OF(x, struct server_exchange, x);
	exchange->is_paused = false;
	http_socket_schedule(exchange->conn);
}
