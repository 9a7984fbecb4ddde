#include "base/base.h"
#include "http/internal.h"
#include "observe/log.h"
#include "observe/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG   1024
#define UNIX_MODE 0660

#define ACCEPT_BURST    32  /* most connections accepted before other events are handled */
#define ACCEPT_PAUSE_MS 100 /* after running out of descriptors or memory */

const struct http_limits http_limits_default = {
	.head_max_bytes = 64 << 10,
	.fields_max = 128,
	.head_timeout_ms = 10000,
	.content_timeout_ms = 30000,
	.content_total_ms = 300000,
	.content_rate_min = 4 << 10,
	.idle_timeout_ms = 60000,
	.connections_max = 10000,
	.head_memory_bytes = 16 << 20,
	.send_high_bytes = 256 << 10,
	.send_memory_bytes = 64 << 20,
};

METRIC_COUNTER(replaced_total, "expops_http_connections_replaced_total",
               "Idle or stalled connections closed to make room for new ones.");

METRIC_COUNTER(pauses_total, "expops_http_accept_pauses_total",
               "Pauses of accepting, because no connection, descriptor or memory was left.");

static void accept_update(struct http_server *server);

static void on_pause_over(uv_timer_t *timer)
{
	struct http_server *server = timer->data;
	server->is_full = false;
	accept_update(server);
}

/* Stop accepting for a moment; new connections wait in the kernel's queue. */
static void accept_pause(struct http_server *server)
{
	metric_add(&pauses_total, NULL, NULL, 1);
	uv_timer_start(&server->timer, on_pause_over, ACCEPT_PAUSE_MS, 0);
	accept_update(server);
}

static void conn_replace(struct http_conn *conn)
{
	metric_add(&replaced_total, NULL, NULL, 1);
	http_conn_kill(conn);
}

static int accept_fd(const struct http_listener *listener, struct sockaddr_storage *ret_from)
{
	socklen_t length = sizeof(*ret_from);
	return accept4(listener->fd, (struct sockaddr *)ret_from, &length,
	               SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/* As accept_fd(). Closes a connection that may be replaced when no descriptor is left. */
static int accept_replacing(const struct http_listener *listener, struct sockaddr_storage *ret_from)
{
	int fd = accept_fd(listener, ret_from);
	if (fd >= 0 || (errno != EMFILE && errno != ENFILE))
		return fd;
	int failure = errno;
	struct http_conn *replaceable = http_conn_replaceable(listener->server);
	if (replaceable) {
		conn_replace(replaceable);
		return accept_fd(listener, ret_from);
	}
	errno = failure;
	return -1;
}

/* Returns whether to go on: only that connection failed. */
static bool accept_failed(struct http_server *server)
{
	if (errno == ECONNABORTED || errno == EINTR || errno == EPROTO || errno == EPERM)
		return true;
	if (errno == EAGAIN || errno == EWOULDBLOCK || !server->is_accepting)
		return false;
	log_warn("cannot accept, pausing", f_text("reason", uv_strerror(-errno)),
	         f_int("connections", server->conn_count));
	accept_pause(server);
	return false;
}

/* Accept one connection; false: none is waiting, or accepting failed. */
static bool accept_one(struct http_listener *listener)
{
	struct http_server *server = listener->server;
	struct sockaddr_storage from = {.ss_family = AF_UNIX};
	bool is_full = server->conn_count >= server->limits->connections_max;
	struct http_conn *replaceable = is_full ? http_conn_replaceable(server) : NULL;
	if (is_full && !replaceable) {
		server->is_full = true;
		if (server->is_accepting)
			accept_pause(server);
		return false;
	}
	int fd = accept_replacing(listener, &from);
	if (fd < 0)
		return accept_failed(server);
	if (listener->is_unix)
		from.ss_family = AF_UNIX;
	if (server->conn_count >= server->limits->connections_max)
		conn_replace(replaceable);
	http_conn_new(listener, fd, &from);
	return true;
}

static void on_connections(uv_poll_t *poll, int status, int events)
{
	struct http_listener *listener = poll->data;
	(void)status;
	(void)events;
	for (int i = 0; i < ACCEPT_BURST && listener->server->is_accepting; i++)
		if (!accept_one(listener))
			return;
}

/* Start or stop accepting. */
static void accept_update(struct http_server *server)
{
	server->is_accepting = server->listener_count > 0 && !server->is_draining &&
	                       !uv_is_active((uv_handle_t *)&server->timer);
	for (size_t i = 0; i < server->listener_count; i++) {
		uv_poll_t *poll = &server->listeners[i]->poll;
		if (!server->is_accepting)
			uv_poll_stop(poll);
		else if (!uv_is_active((uv_handle_t *)poll))
			uv_poll_start(poll, UV_READABLE, on_connections);
	}
}

/* Tick the connections that are due now. Those that a tick makes due are left for the next turn. */
static void on_check(uv_check_t *check)
{
	struct http_server *server = check->data;
	unsigned turn = ++server->turn;
	struct http_conn *conn;
	while ((conn = TAILQ_FIRST(&server->due)) && conn->due_turn != turn) {
		TAILQ_REMOVE(&server->due, conn, due);
		conn->is_due = false;
		http_conn_tick(conn);
	}
	if (TAILQ_EMPTY(&server->due))
		uv_idle_stop(&server->idle);
}

static void on_drain_timer(uv_timer_t *timer)
{
	struct http_server *server = timer->data;
	void (*drained)(void *) = server->drained;
	server->drained = NULL;
	uv_timer_stop(&server->timer);
	if (drained)
		drained(server->drained_context);
}

static void on_conn_closed(struct http_server *server)
{
	server->conn_count--;
	if (server->is_full && !server->is_draining) {
		server->is_full = false;
		uv_timer_stop(&server->timer);
		accept_update(server);
	}
	if (server->is_draining && server->conn_count == 0 && !server->is_freed)
		uv_timer_start(&server->timer, on_drain_timer, 0, 0);
}

struct http_server *http_server_new(uv_loop_t *loop, const struct http_handler *handler,
                                    const struct http_limits *limits, void *context)
{
	struct http_server *server = calloc(1, sizeof(*server));
	require(server);
	server->loop = loop;
	server->handler = handler;
	server->limits = limits;
	server->context = context;
	server->on_conn_closed = on_conn_closed;
	server->handle_count = 3;
	for (int class = 0; class < CONN_CLASSES; class ++)
		TAILQ_INIT(&server->conns[class]);
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

void http_exchange_hand_over(struct http_exchange *x, const struct http_handler *handler)
{
	x->handler = handler;
	handler->on_head(x);
}

/* Close `fd` and preserve errno, which says why listening failed. */
static enum err_code listen_failed(int fd)
{
	int saved = errno;
	if (fd >= 0)
		close(fd);
	errno = saved;
	return ERR_UNAVAILABLE;
}

static int socket_new(int family)
{
	return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static enum err_code listen_tcp_at(const struct addrinfo *info, int *ret_fd)
{
	static const int ON = 1;
	int fd = socket_new(info->ai_family);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &ON, sizeof(ON)) != 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &ON, sizeof(ON)) != 0 ||
	    bind(fd, info->ai_addr, info->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0)
		return listen_failed(fd);
	*ret_fd = fd;
	return ERR_NONE;
}

static enum err_code listen_tcp(const struct address *address, int *ret_fd)
{
	const struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
	};
	struct addrinfo *infos;
	char port[8];
	snprintf(port, sizeof(port), "%u", address->port);
	errno = 0;
	int failure = getaddrinfo(address->host, port, &hints, &infos);
	if (failure != 0) {
		if (failure != EAI_SYSTEM)
			errno = EADDRNOTAVAIL;
		return ERR_UNAVAILABLE;
	}
	enum err_code code = ERR_UNAVAILABLE;
	for (struct addrinfo *info = infos; info && code != ERR_NONE; info = info->ai_next)
		code = listen_tcp_at(info, ret_fd);
	int saved = errno;
	freeaddrinfo(infos);
	errno = saved;
	return code;
}

/* Remove a socket file on which no process listens; false, with errno set: the path is in use. */
static bool remove_stale_socket(const struct sockaddr_un *name)
{
	struct stat st;
	if (lstat(name->sun_path, &st) != 0)
		return errno == ENOENT;
	errno = EADDRINUSE;
	if (!S_ISSOCK(st.st_mode))
		return false;
	int fd = socket_new(AF_UNIX);
	if (fd < 0)
		return false;
	bool is_stale = connect(fd, (const struct sockaddr *)name, sizeof(*name)) != 0 &&
	                errno == ECONNREFUSED;
	close(fd);
	errno = EADDRINUSE;
	return is_stale && unlink(name->sun_path) == 0;
}

static enum err_code listen_unix(const struct address *address, int *ret_fd)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	size_t length = strlen(address->host);
	require(length < sizeof(name.sun_path));
	memcpy(name.sun_path, address->host, length);
	int fd = socket_new(AF_UNIX);
	if (fd < 0 || !remove_stale_socket(&name) ||
	    bind(fd, (const struct sockaddr *)&name, sizeof(name)) != 0 ||
	    chmod(name.sun_path, UNIX_MODE) != 0 || listen(fd, BACKLOG) != 0)
		return listen_failed(fd);
	*ret_fd = fd;
	return ERR_NONE;
}

enum err_code http_listen_open(const struct address *address, int *ret_fd)
{
	return address->is_unix ? listen_unix(address, ret_fd) : listen_tcp(address, ret_fd);
}

static enum err_code listen_fd(struct http_server *server, int fd, struct tls_context *tls)
{
	require(server->listener_count < LISTEN_MAX);
	struct sockaddr_storage name = {0};
	socklen_t length = sizeof(name);
	struct http_listener *listener = calloc(1, sizeof(*listener));
	require(listener);
	int failure = getsockname(fd, (struct sockaddr *)&name, &length) == 0 ? 0 : -errno;
	if (failure == 0)
		failure = uv_poll_init(server->loop, &listener->poll, fd);
	if (failure != 0) {
		free(listener);
		close(fd);
		errno = -failure;
		return ERR_UNAVAILABLE;
	}
	listener->poll.data = listener;
	listener->server = server;
	listener->fd = fd;
	listener->is_unix = name.ss_family == AF_UNIX;
	listener->tls = tls;
	server->handle_count++;
	server->listeners[server->listener_count++] = listener;
	accept_update(server);
	return ERR_NONE;
}

enum err_code http_server_listen_fd(struct http_server *server, int fd)
{
	return listen_fd(server, fd, NULL);
}

enum err_code http_server_listen_tls(struct http_server *server, const struct address *address,
                                     const struct http_server *other, struct tls_context *context)
{
	int fd;
	enum err_code code;
	if (other && (address->is_unix || address->port == 0)) {
		require(server->listener_count < other->listener_count);
		fd = fcntl(other->listeners[server->listener_count]->fd, F_DUPFD_CLOEXEC, 0);
		code = fd < 0 ? ERR_UNAVAILABLE : ERR_NONE;
	} else {
		code = http_listen_open(address, &fd);
	}
	return code == ERR_NONE ? listen_fd(server, fd, context) : code;
}

enum err_code http_server_listen(struct http_server *server, const struct address *address,
                                 const struct http_server *other)
{
	return http_server_listen_tls(server, address, other, NULL);
}

uint16_t http_server_port(const struct http_server *server)
{
	struct sockaddr_storage name = {0};
	socklen_t length = sizeof(name);
	if (server->listener_count == 0 ||
	    getsockname(server->listeners[0]->fd, (struct sockaddr *)&name, &length) != 0)
		return 0;
	if (name.ss_family == AF_INET)
		return ntohs(((struct sockaddr_in *)&name)->sin_port);
	return name.ss_family == AF_INET6 ? ntohs(((struct sockaddr_in6 *)&name)->sin6_port) : 0;
}

size_t http_server_queued(const struct http_server *server)
{
	size_t queued = 0;
	const struct http_conn *conn;
	for (int class = 0; class < CONN_CLASSES; class ++)
		TAILQ_FOREACH (conn, &server->conns[class], all)
			queued += http_socket_queued(conn);
	return queued;
}

size_t http_server_connections(const struct http_server *server)
{
	return server->conn_count;
}

static void on_closed(uv_handle_t *handle)
{
	http_server_handle_closed(handle->data);
}

static void on_listener_closed(uv_handle_t *handle)
{
	struct http_listener *listener = handle->data;
	struct http_server *server = listener->server;
	free(listener);
	http_server_handle_closed(server);
}

static void server_unlisten(struct http_server *server)
{
	server->is_accepting = false;
	for (size_t i = 0; i < server->listener_count; i++) {
		struct http_listener *listener = server->listeners[i];
		uv_close((uv_handle_t *)&listener->poll, on_listener_closed);
		close(listener->fd);
	}
	server->listener_count = 0;
}

void http_server_retire(struct http_server *server)
{
	server->is_retired = true;
}

uint64_t http_server_last_request_ms(const struct http_server *server)
{
	return server->last_request_ms;
}

void http_server_drain(struct http_server *server, uint64_t deadline_ms, void (*drained)(void *),
                       void *context)
{
	require(!server->is_draining);
	/* Accept what is in the kernel's queue: closing the listener would reset it. */
	server->is_accepting = false;
	for (size_t i = 0; i < server->listener_count; i++)
		while (accept_one(server->listeners[i]))
			;
	server_unlisten(server);
	server->is_retired = server->is_draining = true;
	server->drained = drained;
	server->drained_context = context;
	uv_timer_start(&server->timer, on_drain_timer, server->conn_count == 0 ? 0 : deadline_ms,
	               0);
	struct http_conn *conn;
	for (int class = 0; class < CONN_CLASSES; class ++)
		TAILQ_FOREACH (conn, &server->conns[class], all)
			http_socket_schedule(conn);
}

void http_server_free(struct http_server *server)
{
	if (!server)
		return;
	server->is_freed = true;
	server_unlisten(server);
	for (int class = 0; class < CONN_CLASSES; class ++)
		while (!TAILQ_EMPTY(&server->conns[class]))
			http_conn_kill(TAILQ_FIRST(&server->conns[class]));
	uv_close((uv_handle_t *)&server->timer, on_closed);
	uv_close((uv_handle_t *)&server->idle, on_closed);
	uv_close((uv_handle_t *)&server->check, on_closed);
}
