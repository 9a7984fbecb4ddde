#include "http/internal.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "tls/conn.h"

METRIC_COUNTER(
	handshakes_total, "expops_tls_handshakes_total",
	"TLS handshakes that ended: full, resumed (by a ticket), failed (also those that the "
	"client broke off or did not finish in time), refused (too many from one address).",
	"result");

static void on_send(void *owner, const void *data, size_t length)
{
	uv_buf_t buf = uv_buf_init((char *)data, (unsigned)length);
	http_socket_send(owner, &buf, 1);
}

/* Begin with the first byte. False: there is no TLS for it. */
static bool begin(struct http_conn *conn, const char *data, size_t length)
{
	const struct http_handler *handler = conn->server->handler;
	if (!tls_conn_is_hello(*data)) {
		conn->is_not_tls = true;
		conn->tls_context = NULL;
		conn->in = data;
		conn->in_length = length;
		return false;
	}
	if (handler->on_handshake && !handler->on_handshake(conn->server, conn->peer)) {
		metric_add(&handshakes_total, "refused", NULL, 1);
		conn->is_broken = true;
		return false;
	}
	conn->tls = tls_conn_new(conn->tls_context, on_send, conn);
	return true;
}

void http_secure_give_up(struct http_conn *conn)
{
	if (conn->tls && !conn->is_open)
		metric_add(&handshakes_total, "failed", NULL, 1);
}

static void report_failure(struct http_conn *conn)
{
	log_info("TLS failed", f_text("reason", tls_conn_fault(conn->tls)),
	         f_text("peer", conn->peer));
}

void http_secure_receive(struct http_conn *conn, const char *data, size_t length)
{
	if (!conn->tls && !begin(conn, data, length))
		return;
	enum tls_state state =
		tls_conn_receive(conn->tls, data, length, &conn->in, &conn->in_length);
	if (state == TLS_HANDSHAKE)
		return;
	conn->has_ended = state == TLS_ENDED;
	if (state == TLS_FAILED) {
		report_failure(conn);
		conn->is_broken = true;
	} else if (!conn->is_open) {
		const char *result = tls_conn_is_resumed(conn->tls) ? "resumed" : "full";
		metric_add(&handshakes_total, result, NULL, 1);
	}
	conn->is_open = state != TLS_FAILED;
}

void http_secure_write(struct http_conn *conn, const uv_buf_t *bufs, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		tls_conn_write(conn->tls, bufs[i].base, bufs[i].len);
	conn->is_broken |= !tls_conn_flush(conn->tls);
}
