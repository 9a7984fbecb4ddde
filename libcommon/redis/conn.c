#include "redis/conn.h"

#include "base/backoff.h"
#include "base/base.h"
#include "base/log.h"
#include "base/timefmt.h"
#include "redis/uv.h"

#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_TIMEOUT_MS 5000
#define BACKOFF_MIN_MS     50
#define BACKOFF_MAX_MS     5000
#define STEADY_MS          1000 /* a connection that lived so long is replaced without a pause */

enum state { CONN_IDLE, CONN_CONNECTING, CONN_UP, CONN_AWAY, CONN_CLOSED };

/* A command: waiting for the connection, then under way. */
struct op {
	struct redis_conn *conn;
	redis_reply_cb *reply;
	void *arg;
	char *wire; /* as hiredis formatted it; NULL once sent */
	size_t wire_length;
	struct op *next; /* while it waits */
};

struct redis_conn {
	uv_loop_t *loop;
	const struct redis_url *url;
	redisAsyncContext *context; /* NULL: none */
	enum state state;
	struct op *waiting, **waiting_tail;
	size_t under_way;
	uv_timer_t timer; /* of the state: connect time-out, silence, backoff */
	uint64_t silence_ms;
	unsigned failures; /* attempts in a row that failed */
	unsigned untried;  /* addresses of the host that this round has left */
	uint64_t up_since_ms;
	redis_change_cb *change;
	void *arg;
	uv_getaddrinfo_t lookup;
	bool is_looking_up, is_timer_closed;
};

static void connect_start(struct redis_conn *conn);

struct redis_conn *redis_conn_new(uv_loop_t *loop, const struct redis_url *url, uint64_t silence_ms,
                                  redis_change_cb *change, void *arg)
{
	struct redis_conn *conn = calloc(1, sizeof(*conn));
	require(conn);
	conn->loop = loop;
	conn->url = url;
	conn->silence_ms = silence_ms;
	conn->change = change;
	conn->arg = arg;
	conn->waiting_tail = &conn->waiting;
	uv_timer_init(loop, &conn->timer);
	conn->timer.data = conn;
	return conn;
}

static void free_when_closed(struct redis_conn *conn)
{
	if (conn->is_timer_closed && !conn->is_looking_up)
		free(conn);
}

static void on_timer_closed(uv_handle_t *handle)
{
	struct redis_conn *conn = handle->data;
	conn->is_timer_closed = true;
	free_when_closed(conn);
}

static void op_end(struct op *op, const redisReply *reply)
{
	redis_reply_cb *cb = op->reply;
	void *arg = op->arg;
	redisFreeCommand(op->wire);
	free(op);
	if (cb)
		cb(arg, reply);
}

static void fail_waiting(struct redis_conn *conn)
{
	struct op *op = conn->waiting;
	conn->waiting = NULL;
	conn->waiting_tail = &conn->waiting;
	while (op) {
		struct op *next = op->next;
		op_end(op, NULL);
		op = next;
	}
}

void redis_conn_free(struct redis_conn *conn)
{
	if (!conn)
		return;
	conn->state = CONN_CLOSED;
	if (conn->context)
		redisAsyncFree(conn->context);
	fail_waiting(conn);
	if (conn->is_looking_up)
		uv_cancel((uv_req_t *)&conn->lookup);
	uv_close((uv_handle_t *)&conn->timer, on_timer_closed);
}

static void on_backoff_over(uv_timer_t *timer)
{
	connect_start(timer->data);
}

static void note_lost(struct redis_conn *conn, const char *why)
{
	if (conn->failures == 0 || conn->state == CONN_UP)
		log_warn(LOG_GROUP_REDIS, "connection lost", f_text("why", why));
	else
		log_debug(LOG_GROUP_REDIS, "connection failed", f_text("why", why),
		          f_int("failures", conn->failures));
}

/* Go on with the host's next address, as if nothing had happened, when there is one. */
static bool try_next_address(struct redis_conn *conn)
{
	if (conn->state != CONN_CONNECTING || conn->untried == 0)
		return false;
	conn->failures++;
	connect_start(conn);
	return true;
}

/* The attempt or the connection is over: try again, at once when it had been steady. */
static void conn_lost(struct redis_conn *conn, const char *why)
{
	if (conn->state == CONN_CLOSED || try_next_address(conn))
		return;
	bool was_up = conn->state == CONN_UP;
	note_lost(conn, why);
	if (was_up && time_monotonic_ms() - conn->up_since_ms >= STEADY_MS)
		conn->failures = 0;
	else
		conn->failures++;
	conn->state = CONN_AWAY;
	uv_timer_stop(&conn->timer);
	fail_waiting(conn);
	if (was_up && conn->change)
		conn->change(conn->arg, false);
	if (conn->state != CONN_AWAY)
		return;
	if (conn->failures == 0)
		connect_start(conn);
	else
		uv_timer_start(&conn->timer, on_backoff_over,
		               backoff_ms(conn->failures, BACKOFF_MIN_MS, BACKOFF_MAX_MS), 0);
}

static void on_gone(void *arg, const redisAsyncContext *context)
{
	struct redis_conn *conn = arg;
	conn->context = NULL;
	conn->under_way = 0;
	conn_lost(conn, context->errstr && context->errstr[0] ? context->errstr : "closed");
}

static void on_silence(uv_timer_t *timer)
{
	struct redis_conn *conn = timer->data;
	log_warn(LOG_GROUP_REDIS, "no answer in time");
	redisAsyncFree(conn->context);
}

static void watch_silence(struct redis_conn *conn)
{
	if (conn->under_way > 0)
		uv_timer_start(&conn->timer, on_silence, conn->silence_ms, 0);
	else
		uv_timer_stop(&conn->timer);
}

static void on_reply(redisAsyncContext *context, void *reply, void *arg)
{
	struct op *op = arg;
	struct redis_conn *conn = op->conn;
	(void)context;
	if (reply && conn->state == CONN_UP) {
		conn->under_way--;
		watch_silence(conn);
	}
	op_end(op, reply);
}

static void op_send(struct redis_conn *conn, struct op *op)
{
	if (redisAsyncFormattedCommand(conn->context, on_reply, op, op->wire, op->wire_length) !=
	    REDIS_OK) {
		op_end(op, NULL);
		return;
	}
	redisFreeCommand(op->wire);
	op->wire = NULL;
	if (conn->under_way++ == 0)
		watch_silence(conn);
}

static void conn_up(struct redis_conn *conn)
{
	conn->state = CONN_UP;
	conn->untried = 0;
	conn->up_since_ms = time_monotonic_ms();
	uv_timer_stop(&conn->timer);
	log_debug(LOG_GROUP_REDIS, "connected");
	struct op *op = conn->waiting;
	conn->waiting = NULL;
	conn->waiting_tail = &conn->waiting;
	while (op) {
		struct op *next = op->next;
		op_send(conn, op);
		op = next;
	}
	if (conn->change)
		conn->change(conn->arg, true);
}

/* Reply to AUTH, SELECT or PING; `arg` marks the last. A LOADING server is not up yet. */
static void on_greeting(redisAsyncContext *context, void *reply_ptr, void *arg)
{
	struct redis_conn *conn = context->data;
	const redisReply *reply = reply_ptr;
	if (!reply)
		return;
	if (reply->type == REDIS_REPLY_ERROR) {
		if (strncmp(reply->str, "LOADING", 7) != 0)
			log_error(LOG_GROUP_REDIS, "refused", f_text("why", reply->str));
		redisAsyncFree(context);
	} else if (arg && conn->state == CONN_CONNECTING) {
		conn_up(conn);
	}
}

static void greet(struct redis_conn *conn)
{
	const struct redis_url *url = conn->url;
	redisAsyncContext *context = conn->context;
	if (url->user)
		redisAsyncCommand(context, on_greeting, NULL, "AUTH %s %s", url->user,
		                  url->password);
	else if (url->password)
		redisAsyncCommand(context, on_greeting, NULL, "AUTH %s", url->password);
	if (url->db)
		redisAsyncCommand(context, on_greeting, NULL, "SELECT %d", url->db);
	redisAsyncCommand(context, on_greeting, conn, "PING");
}

/* Notice within ten seconds that the other end vanished, also where nothing is under way. */
static void keep_alive(int fd)
{
	static const struct {
		int level, name, value;
	} OPTIONS[] = {
		{SOL_SOCKET, SO_KEEPALIVE, 1},
		{IPPROTO_TCP, TCP_KEEPIDLE, 5},
		{IPPROTO_TCP, TCP_KEEPINTVL, 2},
		{IPPROTO_TCP, TCP_KEEPCNT, 2},
	};
	for (size_t i = 0; i < ARRAY_LEN(OPTIONS); i++)
		setsockopt(fd, OPTIONS[i].level, OPTIONS[i].name, &OPTIONS[i].value, sizeof(int));
}

static void connect_to(struct redis_conn *conn, const char *ip)
{
	redisAsyncContext *context = ip ? redisAsyncConnect(ip, conn->url->port)
	                                : redisAsyncConnectUnix(conn->url->path);
	require(context);
	if (context->err || redis_uv_attach(context, conn->loop, on_gone, conn) != ERR_NONE) {
		char why[128];
		snprintf(why, sizeof(why), "%s", context->err ? context->errstr : "no watcher");
		redisAsyncFree(context);
		conn_lost(conn, why);
		return;
	}
	conn->context = context;
	context->data = conn;
	if (ip)
		keep_alive(context->c.fd);
	greet(conn);
}

static void on_connect_late(uv_timer_t *timer)
{
	struct redis_conn *conn = timer->data;
	if (conn->context)
		redisAsyncFree(conn->context);
	else
		conn_lost(conn, "name lookup took too long");
}

/* One address of the list, another with each failure. */
static void connect_to_one_of(struct redis_conn *conn, const struct addrinfo *list)
{
	unsigned count = 0;
	for (const struct addrinfo *item = list; item; item = item->ai_next)
		count++;
	require(count > 0);
	if (conn->untried == 0)
		conn->untried = count;
	conn->untried--;
	for (unsigned skip = conn->failures % count; skip > 0; skip--)
		list = list->ai_next;
	char ip[INET6_ADDRSTRLEN];
	int status = list->ai_family == AF_INET6
	                     ? uv_ip6_name((void *)list->ai_addr, ip, sizeof(ip))
	                     : uv_ip4_name((void *)list->ai_addr, ip, sizeof(ip));
	require(status == 0);
	connect_to(conn, ip);
}

static void on_looked_up(uv_getaddrinfo_t *lookup, int status, struct addrinfo *list)
{
	struct redis_conn *conn = CONTAINER_OF(lookup, struct redis_conn, lookup);
	conn->is_looking_up = false;
	if (conn->state == CONN_CLOSED)
		free_when_closed(conn);
	else if (conn->state == CONN_CONNECTING && status < 0)
		conn_lost(conn, uv_strerror(status));
	else if (conn->state == CONN_CONNECTING)
		connect_to_one_of(conn, list);
	uv_freeaddrinfo(list);
}

static void look_up(struct redis_conn *conn)
{
	static const struct addrinfo HINTS = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	if (conn->is_looking_up) /* an earlier attempt's, late: it will do */
		return;
	int status = uv_getaddrinfo(conn->loop, &conn->lookup, on_looked_up, conn->url->host, NULL,
	                            &HINTS);
	conn->is_looking_up = status == 0;
	if (status < 0)
		conn_lost(conn, uv_strerror(status));
}

static void connect_start(struct redis_conn *conn)
{
	const char *host = conn->url->host;
	struct in6_addr address;
	conn->state = CONN_CONNECTING;
	uv_timer_start(&conn->timer, on_connect_late, CONNECT_TIMEOUT_MS, 0);
	if (!host)
		connect_to(conn, NULL);
	else if (uv_inet_pton(AF_INET, host, &address) == 0 ||
	         uv_inet_pton(AF_INET6, host, &address) == 0)
		connect_to(conn, host);
	else
		look_up(conn);
}

void redis_conn_start(struct redis_conn *conn)
{
	if (conn->state == CONN_IDLE)
		connect_start(conn);
}

bool redis_conn_is_up(const struct redis_conn *conn)
{
	return conn->state == CONN_UP;
}

bool redis_conn_send(struct redis_conn *conn, const char *const *argv, size_t argc,
                     redis_reply_cb *reply, void *arg)
{
	redis_conn_start(conn);
	if (conn->state != CONN_CONNECTING && conn->state != CONN_UP)
		return false;
	struct op *op = calloc(1, sizeof(*op));
	require(op);
	*op = (struct op){.conn = conn, .reply = reply, .arg = arg};
	long long length =
		redisFormatCommandArgv(&op->wire, (int)argc, (const char **)(uintptr_t)argv, NULL);
	require(length > 0);
	op->wire_length = (size_t)length;
	if (conn->state == CONN_UP) {
		op_send(conn, op);
	} else {
		*conn->waiting_tail = op;
		conn->waiting_tail = &op->next;
	}
	return true;
}

/* hiredis keeps the callback for every message; an op of its own would be freed with the first. */
struct subscription {
	redis_reply_cb *message;
	void *arg;
};

static void on_message(redisAsyncContext *context, void *reply, void *arg)
{
	struct subscription *subscription = arg;
	(void)context;
	subscription->message(subscription->arg, reply);
	if (!reply)
		free(subscription);
}

void redis_conn_subscribe(struct redis_conn *conn, const char *channel, redis_reply_cb *message,
                          void *arg)
{
	require(conn->state == CONN_UP);
	struct subscription *subscription = malloc(sizeof(*subscription));
	require(subscription);
	*subscription = (struct subscription){message, arg};
	if (redisAsyncCommand(conn->context, on_message, subscription, "SUBSCRIBE %s", channel) !=
	    REDIS_OK)
		free(subscription);
}

void redis_conn_drop(struct redis_conn *conn)
{
	if (conn->context)
		redisAsyncFree(conn->context);
}
