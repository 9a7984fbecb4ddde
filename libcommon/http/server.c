#include "base/base.h"
#include "base/log.h"
#include "base/timefmt.h"
#include "http/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define ACCEPT_BURST    32  /* connections taken before the others' requests have their turn */
#define ACCEPT_PAUSE_MS 100 /* after running out of descriptors or memory */

const struct http_limits http_limits_default = {
	.head_max_bytes = 64 << 10,
	.fields_max = 128,
	.head_timeout_ms = 10000,
	.content_timeout_ms = 30000,
	.idle_timeout_ms = 60000,
	.connections_max = 10000,
	.send_high_bytes = 256 << 10,
};

static void accept_update(struct http_server *server);

static void on_pause_over(uv_timer_t *timer)
{
	struct http_server *server = timer->data;
	accept_update(server);
}

/* Out of descriptors or memory: connections wait in the kernel's queue for a moment. */
static void accept_pause(struct http_server *server)
{
	log_warn(LOG_GROUP_HTTP, "cannot accept, pausing", f_text("reason", uv_strerror(-errno)),
	         f_int("connections", server->conn_count));
	server->is_accepting = false;
	uv_poll_stop(&server->listener);
	uv_timer_start(&server->timer, on_pause_over, ACCEPT_PAUSE_MS, 0);
}

/* Take one waiting connection; false: none is, or it cannot be taken. */
static bool accept_one(struct http_server *server)
{
	struct sockaddr_storage from = {.ss_family = AF_UNIX};
	socklen_t length = sizeof(from);
	int fd = accept4(server->listen_fd, (struct sockaddr *)&from, &length,
	                 SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0) {
		if (server->is_unix)
			from.ss_family = AF_UNIX;
		http_conn_new(server, fd, &from);
		return true;
	}
	if (errno == ECONNABORTED || errno == EINTR || errno == EPROTO || errno == EPERM)
		return true;
	if (errno != EAGAIN && errno != EWOULDBLOCK && server->is_accepting)
		accept_pause(server);
	return false;
}

static void on_connections(uv_poll_t *poll, int status, int events)
{
	struct http_server *server = poll->data;
	(void)status;
	(void)events;
	for (int i = 0; i < ACCEPT_BURST && server->is_accepting; i++) {
		if (!accept_one(server))
			return;
		accept_update(server);
	}
}

/* Accept while there is room. */
static void accept_update(struct http_server *server)
{
	bool is_wanted = server->listen_fd >= 0 && !server->is_draining &&
	                 server->conn_count < server->limits->connections_max &&
	                 !uv_is_active((uv_handle_t *)&server->timer);
	if (is_wanted == server->is_accepting)
		return;
	server->is_accepting = is_wanted;
	if (is_wanted)
		uv_poll_start(&server->listener, UV_READABLE, on_connections);
	else
		uv_poll_stop(&server->listener);
}

/* Tick what was due when this began; what falls due meanwhile waits for the next turn. */
static void on_check(uv_check_t *check)
{
	struct http_server *server = check->data;
	struct http_conn *last = TAILQ_LAST(&server->due, http_conn_list), *conn;
	bool is_last = last == NULL;
	while (!is_last && (conn = TAILQ_FIRST(&server->due)) != NULL) {
		is_last = conn == last;
		TAILQ_REMOVE(&server->due, conn, due);
		conn->is_due = false;
		http_conn_tick(conn);
	}
	if (TAILQ_EMPTY(&server->due))
		uv_idle_stop(&server->idle);
}

static void on_idle(uv_idle_t *idle)
{
	(void)idle;
}

void http_server_wake(struct http_server *server)
{
	uv_idle_start(&server->idle, on_idle);
}

struct http_server *http_server_new(uv_loop_t *loop, const struct http_handler *handler,
                                    const struct http_limits *limits, void *context)
{
	struct http_server *server = calloc(1, sizeof(*server));
	require(server != NULL);
	http_write_register();
	server->loop = loop;
	server->handler = handler;
	server->limits = limits;
	server->context = context;
	server->listen_fd = -1;
	server->handle_count = 3;
	TAILQ_INIT(&server->conns);
	TAILQ_INIT(&server->due);
	uv_timer_init(loop, &server->timer);
	uv_idle_init(loop, &server->idle);
	uv_check_init(loop, &server->check);
	server->timer.data = server->idle.data = server->check.data = server;
	uv_check_start(&server->check, on_check);
	uv_unref((uv_handle_t *)&server->check);
	return server;
}

void *http_server_context(const struct http_server *server)
{
	return server->context;
}

enum err_code http_server_listen_fd(struct http_server *server, int fd)
{
	require(server->listen_fd < 0);
	struct sockaddr_storage name = {0};
	socklen_t length = sizeof(name);
	int failure = getsockname(fd, (struct sockaddr *)&name, &length) == 0 ? 0 : -errno;
	if (failure == 0)
		failure = uv_poll_init(server->loop, &server->listener, fd);
	if (failure != 0) {
		close(fd);
		errno = -failure;
		return ERR_UNAVAILABLE;
	}
	server->listener.data = server;
	server->handle_count++;
	server->listen_fd = fd;
	server->is_unix = name.ss_family == AF_UNIX;
	accept_update(server);
	return ERR_NONE;
}

enum err_code http_server_listen(struct http_server *server, const struct address *address,
                                 const struct http_server *other)
{
	int fd;
	enum err_code code;
	if (other != NULL && (address->is_unix || address->port == 0)) {
		fd = fcntl(other->listen_fd, F_DUPFD_CLOEXEC, 0);
		code = fd < 0 ? ERR_UNAVAILABLE : ERR_NONE;
	} else {
		code = http_listen_open(address, &fd);
	}
	return code == ERR_NONE ? http_server_listen_fd(server, fd) : code;
}

uint16_t http_server_port(const struct http_server *server)
{
	struct sockaddr_storage name = {0};
	socklen_t length = sizeof(name);
	if (server->listen_fd < 0 ||
	    getsockname(server->listen_fd, (struct sockaddr *)&name, &length) != 0)
		return 0;
	if (name.ss_family == AF_INET)
		return ntohs(((struct sockaddr_in *)&name)->sin_port);
	return name.ss_family == AF_INET6 ? ntohs(((struct sockaddr_in6 *)&name)->sin6_port) : 0;
}

size_t http_server_connections(const struct http_server *server)
{
	return server->conn_count;
}

static void on_closed(uv_handle_t *handle)
{
	http_server_handle_closed(handle->data);
}

void http_server_handle_closed(struct http_server *server)
{
	if (--server->handle_count == 0 && server->is_freed)
		free(server);
}

static void server_unlisten(struct http_server *server)
{
	if (server->listen_fd < 0)
		return;
	server->is_accepting = false;
	uv_close((uv_handle_t *)&server->listener, on_closed);
	close(server->listen_fd);
	server->listen_fd = -1;
}

static void drain_done(struct http_server *server)
{
	void (*drained)(void *) = server->drained;
	server->drained = NULL;
	uv_timer_stop(&server->timer);
	if (drained != NULL)
		drained(server->drained_context);
}

static void on_drain_timer(uv_timer_t *timer)
{
	drain_done(timer->data);
}

void http_server_conn_closed(struct http_server *server)
{
	server->conn_count--;
	accept_update(server);
	if (server->is_draining && server->conn_count == 0 && !server->is_freed)
		uv_timer_start(&server->timer, on_drain_timer, 0, 0);
}

void http_server_drain(struct http_server *server, uint64_t deadline_ms, void (*drained)(void *),
                       void *context)
{
	require(!server->is_draining);
	/* Whoever has been let in by the kernel is served, else closing would reset it. */
	server->is_accepting = false;
	while (server->listen_fd >= 0 && accept_one(server))
		;
	server_unlisten(server);
	server->is_draining = true;
	server->drained = drained;
	server->drained_context = context;
	uv_timer_start(&server->timer, on_drain_timer, server->conn_count == 0 ? 0 : deadline_ms,
	               0);
	struct http_conn *conn;
	TAILQ_FOREACH(conn, &server->conns, all)
	http_conn_schedule(conn);
}

void http_server_free(struct http_server *server)
{
	if (server == NULL)
		return;
	server->is_freed = true;
	server_unlisten(server);
	while (!TAILQ_EMPTY(&server->conns))
		http_conn_kill(TAILQ_FIRST(&server->conns));
	uv_close((uv_handle_t *)&server->timer, on_closed);
	uv_close((uv_handle_t *)&server->idle, on_closed);
	uv_close((uv_handle_t *)&server->check, on_closed);
}

const char *http_server_date_line(struct http_server *server)
{
	int64_t now_s = time_now_ms() / 1000;
	if (server->date_s != now_s) {
		time_t time = (time_t)now_s;
		struct tm parts;
		server->date_s = now_s;
		strftime(server->date, sizeof(server->date), "Date: %a, %d %b %Y %H:%M:%S GMT\r\n",
		         gmtime_r(&time, &parts));
	}
	return server->date;
}
