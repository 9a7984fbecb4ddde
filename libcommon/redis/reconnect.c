#include "redis/reconnect.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "loop/resolver.h"
#include "observe/log.h"
#include "pacing/backoff.h"
#include "redis/conn.h"
#include "redis/fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define CONNECT_TIMEOUT_MS 5000
#define BACKOFF_MIN_MS     50
#define BACKOFF_MAX_MS     5000
#define STEADY_MS          1000 /* a connection that was READY for so long is reopened at once */

enum state { LINK_IDLE, LINK_CONNECTING, LINK_READY, LINK_BROKEN, LINK_CLOSED };

/* A command that waits for READY or is in flight. */
struct op {
	redis_reply_cb *reply; /* may be NULL */
	void *arg;
	char *wire; /* as hiredis formatted it; NULL once sent */
	size_t wire_length;
	STAILQ_ENTRY(op) entry;
};

STAILQ_HEAD(op_list, op);

struct redis_link {
	uv_loop_t *loop;
	const struct redis_url *url;
	struct tls_context *tls; /* NULL: no TLS */
	struct redis_conn *conn; /* NULL: none */
	enum state state;
	struct op_list waiting;  /* for READY */
	struct op_list sent;     /* in the order of their replies */
	redis_reply_cb *message; /* of the subscription: it gets all replies; NULL: none */
	void *message_arg;
	uv_timer_t timer; /* CONNECTING: timeout; READY: silence; BROKEN: backoff */
	uint64_t silence_ms;
	unsigned failures;       /* attempts in a row that failed */
	unsigned addresses_left; /* of the host, that this round of attempts has not tried */
	uint64_t ready_since_ms;
	bool is_too_old; /* the last server that answered is older than REDIS_VERSION_MIN */
	redis_change_cb *change;
	void *arg;
	struct resolver *resolver;
};

static void link_connect(struct redis_link *link);
static resolver_cb on_resolved;

struct redis_link *redis_link_new(uv_loop_t *loop, const struct redis_url *url,
                                  struct tls_context *tls, uint64_t silence_ms,
                                  redis_change_cb *change, void *arg)
{
	struct redis_link *link = calloc(1, sizeof(*link));
	require(link);
	link->loop = loop;
	link->url = url;
	link->tls = tls;
	link->silence_ms = silence_ms;
	link->change = change;
	link->arg = arg;
	STAILQ_INIT(&link->waiting);
	STAILQ_INIT(&link->sent);
	link->resolver = resolver_new(loop, on_resolved, link);
	uv_timer_init(loop, &link->timer);
	link->timer.data = link;
	return link;
}

static void on_timer_closed(uv_handle_t *handle)
{
	free(handle->data);
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

static struct op *op_take(struct op_list *list)
{
	struct op *op = STAILQ_FIRST(list);
	if (op)
		STAILQ_REMOVE_HEAD(list, entry);
	return op;
}

/* A callback may send other commands, which are not for this list. */
static void ops_fail(struct op_list *list)
{
	struct op_list failed = STAILQ_HEAD_INITIALIZER(failed);
	struct op *op;
	STAILQ_CONCAT(&failed, list);
	while ((op = op_take(&failed)))
		op_end(op, NULL);
}

/* End the connection, and the commands and the subscription that it carried. */
static void conn_end(struct redis_link *link)
{
	redis_reply_cb *message = link->message;
	redis_conn_close(link->conn);
	link->conn = NULL;
	link->message = NULL;
	ops_fail(&link->sent);
	if (message)
		message(link->message_arg, NULL);
}

void redis_link_free(struct redis_link *link)
{
	if (!link)
		return;
	link->state = LINK_CLOSED;
	conn_end(link);
	ops_fail(&link->waiting);
	resolver_free(link->resolver);
	uv_close((uv_handle_t *)&link->timer, on_timer_closed);
}

static void on_backoff_over(uv_timer_t *timer)
{
	link_connect(timer->data);
}

/* `fault`: NULL: that of the state. */
static void log_loss(struct redis_link *link, const struct fault *fault, const char *why)
{
	bool was_ready = link->state == LINK_READY;
	const struct fault *of_state =
		redis_fault(was_ready ? REDIS_FAULT_LOST : REDIS_FAULT_UNREACHABLE);
	redis_fault_report(fault ? fault : of_state, why);
}

/* While connecting: try the host's next address, if there is one. */
static bool try_next_address(struct redis_link *link)
{
	if (link->state != LINK_CONNECTING || link->addresses_left == 0)
		return false;
	link->failures++;
	conn_end(link);
	link_connect(link);
	return true;
}

/* The attempt failed or the connection was lost: try again, at once when it had lasted STEADY_MS.
 * `fault`: NULL: that of the state. */
static void link_lost(struct redis_link *link, const struct fault *fault, const char *why)
{
	if (link->state == LINK_CLOSED || try_next_address(link))
		return;
	bool was_ready = link->state == LINK_READY;
	log_loss(link, fault, why);
	if (was_ready && time_monotonic_ms() - link->ready_since_ms >= STEADY_MS)
		link->failures = 0;
	else
		link->failures++;
	link->state = LINK_BROKEN;
	uv_timer_stop(&link->timer);
	conn_end(link);
	ops_fail(&link->waiting);
	if (was_ready && link->change)
		link->change(link->arg, false);
	if (link->state != LINK_BROKEN)
		return;
	if (link->failures == 0)
		link_connect(link);
	else
		uv_timer_start(&link->timer, on_backoff_over,
		               backoff_ms(link->failures, BACKOFF_MIN_MS, BACKOFF_MAX_MS), 0);
}

static void on_conn_end(void *owner, const struct fault *fault, const char *reason)
{
	link_lost(owner, fault, reason);
}

static void on_silence(uv_timer_t *timer)
{
	redis_fault_report(redis_fault(REDIS_FAULT_SILENT), NULL);
	redis_link_drop(timer->data);
}

static void watch_silence(struct redis_link *link)
{
	if (!STAILQ_EMPTY(&link->sent))
		uv_timer_start(&link->timer, on_silence, link->silence_ms, 0);
	else
		uv_timer_stop(&link->timer);
}

static void on_conn_reply(void *owner, const redisReply *reply)
{
	struct redis_link *link = owner;
	struct redis_conn *conn = link->conn;
	bool is_of_replica =
		reply->type == REDIS_REPLY_ERROR && redis_fault_is_of_replica(reply->str);
	struct op *op = link->message ? NULL : op_take(&link->sent);
	if (link->message) {
		link->message(link->message_arg, reply);
	} else if (op) {
		if (link->state == LINK_READY)
			watch_silence(link);
		op_end(op, reply);
	} else {
		link_lost(link, NULL, "the server sent a reply that was not asked for");
	}
	/* A demoted master answers on: the next connection may reach the new one. */
	if (is_of_replica && link->conn == conn)
		redis_link_drop(link);
}

static void op_send(struct redis_link *link, struct op *op)
{
	bool is_first = STAILQ_EMPTY(&link->sent);
	redis_conn_send(link->conn, op->wire, op->wire_length);
	redisFreeCommand(op->wire);
	op->wire = NULL;
	STAILQ_INSERT_TAIL(&link->sent, op, entry);
	if (is_first && link->state == LINK_READY)
		watch_silence(link);
}

static struct op *op_new(const char *const *argv, size_t argc, redis_reply_cb *reply, void *arg)
{
	struct op *op = calloc(1, sizeof(*op));
	require(op);
	*op = (struct op){.reply = reply, .arg = arg};
	long long length =
		redisFormatCommandArgv(&op->wire, (int)argc, (const char **)(uintptr_t)argv, NULL);
	require(length > 0);
	op->wire_length = (size_t)length;
	return op;
}

static void link_ready(struct redis_link *link)
{
	link->state = LINK_READY;
	link->addresses_left = 0;
	link->ready_since_ms = time_monotonic_ms();
	uv_timer_stop(&link->timer);
	log_debug("connected");
	struct op *op;
	while ((op = op_take(&link->waiting)))
		op_send(link, op);
	if (link->change)
		link->change(link->arg, true);
}

/* The version in a reply to HELLO: `server`, `redis`, `version`, `6.2.7`, ... NULL: none. */
static const char *version_in(const redisReply *reply)
{
	for (size_t i = 0; reply->type == REDIS_REPLY_ARRAY && i + 1 < reply->elements; i += 2) {
		if (reply->element[i]->str && strcmp(reply->element[i]->str, "version") == 0)
			return reply->element[i + 1]->str;
	}
	return NULL;
}

/* Versions before 6.0 have no HELLO. A user who may not send it (NOPERM) is let through. */
static bool is_too_old(const redisReply *reply)
{
	const char *version = version_in(reply);
	if (!version)
		return reply->type == REDIS_REPLY_ERROR &&
		       strstr(reply->str, "unknown command") != NULL;
	char *end;
	unsigned long major = strtoul(version, &end, 10);
	unsigned long minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
	return major < 6 || (major == 6 && minor < 2);
}

/* Reply to HELLO. The log says once that a server is too old, however often it is tried again. */
static void on_version(void *arg, const redisReply *reply)
{
	struct redis_link *link = arg;
	if (!reply)
		return;
	bool was_too_old = link->is_too_old;
	link->is_too_old = is_too_old(reply);
	if (!link->is_too_old)
		return;
	const char *version = version_in(reply);
	if (!was_too_old)
		log_error(REDIS_TOO_OLD, f_text("version", version ? version : "before 6.0"));
	redis_link_drop(link);
}

/* Reply to AUTH, SELECT or PING. A server that is LOADING its data is not ready yet. Whether the
 * link still is what it was. */
static bool is_welcome(struct redis_link *link, const redisReply *reply)
{
	if (!reply)
		return false;
	if (reply->type != REDIS_REPLY_ERROR)
		return true;
	const struct fault *fault = redis_fault_of(reply->str);
	redis_fault_report(fault ? fault : redis_fault(REDIS_FAULT_REFUSED), reply->str);
	redis_link_drop(link);
	return false;
}

static void on_greeting(void *arg, const redisReply *reply)
{
	(void)is_welcome(arg, reply);
}

static void on_pong(void *arg, const redisReply *reply)
{
	if (is_welcome(arg, reply))
		link_ready(arg);
}

static void greet(struct redis_link *link)
{
	const struct redis_url *url = link->url;
	char db[16];
	const char *const login[] = {"AUTH", url->user, url->password};
	const char *const password[] = {"AUTH", url->password};
	const char *const select[] = {"SELECT", db}, *const hello[] = {"HELLO"},
			  *const ping[] = {"PING"};
	snprintf(db, sizeof(db), "%d", url->db);
	if (url->user)
		op_send(link, op_new(login, ARRAY_LEN(login), on_greeting, link));
	else if (url->password)
		op_send(link, op_new(password, ARRAY_LEN(password), on_greeting, link));
	if (url->db)
		op_send(link, op_new(select, ARRAY_LEN(select), on_greeting, link));
	op_send(link, op_new(hello, ARRAY_LEN(hello), on_version, link));
	op_send(link, op_new(ping, ARRAY_LEN(ping), on_pong, link));
}

/* `address`: NULL: the unix socket. */
static void connect_to(struct redis_link *link, const struct sockaddr *address)
{
	static const struct redis_conn_handler HANDLER = {on_conn_reply, on_conn_end};
	const char *reason;
	link->conn =
		redis_conn_new(link->loop, link->url, address, link->tls, &HANDLER, link, &reason);
	if (link->conn)
		greet(link);
	else
		link_lost(link, NULL, reason);
}

/* Without addresses there is no next one to be tried at once. */
static void look_up_failed(struct redis_link *link, const char *why)
{
	link->addresses_left = 0;
	link_lost(link, NULL, why);
}

static void on_connect_timeout(uv_timer_t *timer)
{
	struct redis_link *link = timer->data;
	if (link->conn)
		link_lost(link, NULL, redis_conn_delay(link->conn));
	else
		look_up_failed(link, "name lookup took too long");
}

/* Each attempt takes the next address, since some may not answer. */
static void on_resolved(void *context, int status, const struct sockaddr_storage *addresses,
                        int count)
{
	struct redis_link *link = context;
	if (link->state != LINK_CONNECTING)
		return;
	if (status < 0) {
		look_up_failed(link, uv_strerror(status));
		return;
	}
	if (link->addresses_left == 0)
		link->addresses_left = (unsigned)count;
	link->addresses_left--;
	connect_to(link, (const struct sockaddr *)&addresses[link->failures % (unsigned)count]);
}

static void look_up(struct redis_link *link)
{
	if (resolver_is_busy(link->resolver)) /* an earlier attempt's look-up: use its answer */
		return;
	int status = resolver_start(link->resolver, link->url->host, link->url->port);
	if (status < 0)
		look_up_failed(link, uv_strerror(status));
}

static void link_connect(struct redis_link *link)
{
	const char *host = link->url->host;
	union {
		struct sockaddr any;
		struct sockaddr_in ip4;
		struct sockaddr_in6 ip6;
	} address;
	link->state = LINK_CONNECTING;
	uv_timer_start(&link->timer, on_connect_timeout, CONNECT_TIMEOUT_MS, 0);
	if (!host)
		connect_to(link, NULL);
	else if (uv_ip4_addr(host, link->url->port, &address.ip4) == 0 ||
	         uv_ip6_addr(host, link->url->port, &address.ip6) == 0)
		connect_to(link, &address.any);
	else
		look_up(link);
}

void redis_link_start(struct redis_link *link)
{
	if (link->state == LINK_IDLE)
		link_connect(link);
}

bool redis_link_is_too_old(const struct redis_link *link)
{
	return link->is_too_old;
}

bool redis_link_is_ready(const struct redis_link *link)
{
	return link->state == LINK_READY;
}

bool redis_link_send(struct redis_link *link, const char *const *argv, size_t argc,
                     redis_reply_cb *reply, void *arg)
{
	redis_link_start(link);
	if (link->state != LINK_CONNECTING && link->state != LINK_READY)
		return false;
	struct op *op = op_new(argv, argc, reply, arg);
	if (link->state == LINK_READY)
		op_send(link, op);
	else
		STAILQ_INSERT_TAIL(&link->waiting, op, entry);
	return true;
}

void redis_link_subscribe(struct redis_link *link, const char *channel, redis_reply_cb *message,
                          void *arg)
{
	const char *const argv[] = {"SUBSCRIBE", channel};
	require(link->state == LINK_READY && STAILQ_EMPTY(&link->sent));
	struct op *op = op_new(argv, ARRAY_LEN(argv), NULL, NULL);
	link->message = message;
	link->message_arg = arg;
	redis_conn_send(link->conn, op->wire, op->wire_length);
	op_end(op, NULL);
}

void redis_link_drop(struct redis_link *link)
{
	if (link->conn)
		link_lost(link, NULL, "closed");
}
