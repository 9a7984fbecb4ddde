#include "redis/reconnect.h"

#include "base/base.h"
#include "base/tcp.h"
#include "base/timefmt.h"
#include "loop/resolver.h"
#include "observe/log.h"
#include "pacing/backoff.h"
#include "redis/fault.h"
#include "redis/uv.h"

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
	struct redis_link *link;
	redis_reply_cb *reply;
	void *arg;
	char *wire; /* as hiredis formatted it; NULL once sent */
	size_t wire_length;
	STAILQ_ENTRY(op) entry; /* in link->waiting */
};

struct redis_link {
	uv_loop_t *loop;
	const struct redis_url *url;
	redisAsyncContext *context; /* NULL: none */
	enum state state;
	STAILQ_HEAD(, op) waiting;
	size_t in_flight;
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

struct redis_link *redis_link_new(uv_loop_t *loop, const struct redis_url *url, uint64_t silence_ms,
                                  redis_change_cb *change, void *arg)
{
	struct redis_link *link = calloc(1, sizeof(*link));
	require(link);
	link->loop = loop;
	link->url = url;
	link->silence_ms = silence_ms;
	link->change = change;
	link->arg = arg;
	STAILQ_INIT(&link->waiting);
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

static struct op *next_waiting(struct redis_link *link)
{
	struct op *op = STAILQ_FIRST(&link->waiting);
	if (op)
		STAILQ_REMOVE_HEAD(&link->waiting, entry);
	return op;
}

static void fail_waiting(struct redis_link *link)
{
	struct op *op;
	while ((op = next_waiting(link)))
		op_end(op, NULL);
}

void redis_link_free(struct redis_link *link)
{
	if (!link)
		return;
	link->state = LINK_CLOSED;
	if (link->context)
		redisAsyncFree(link->context);
	fail_waiting(link);
	resolver_free(link->resolver);
	uv_close((uv_handle_t *)&link->timer, on_timer_closed);
}

static void on_backoff_over(uv_timer_t *timer)
{
	link_connect(timer->data);
}

static void log_loss(struct redis_link *link, const char *why)
{
	redis_fault_report(redis_fault(link->state == LINK_READY ? REDIS_FAULT_LOST
	                                                         : REDIS_FAULT_UNREACHABLE),
	                   why);
}

/* While connecting: try the host's next address, if there is one. */
static bool try_next_address(struct redis_link *link)
{
	if (link->state != LINK_CONNECTING || link->addresses_left == 0)
		return false;
	link->failures++;
	link_connect(link);
	return true;
}

/* The attempt failed or the connection was lost: try again, at once when it had lasted
 * STEADY_MS. */
static void link_lost(struct redis_link *link, const char *why)
{
	if (link->state == LINK_CLOSED || try_next_address(link))
		return;
	bool was_ready = link->state == LINK_READY;
	log_loss(link, why);
	if (was_ready && time_monotonic_ms() - link->ready_since_ms >= STEADY_MS)
		link->failures = 0;
	else
		link->failures++;
	link->state = LINK_BROKEN;
	uv_timer_stop(&link->timer);
	fail_waiting(link);
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

static void on_context_end(void *arg, const redisAsyncContext *context)
{
	struct redis_link *link = arg;
	link->context = NULL;
	link->in_flight = 0;
	link_lost(link, context->errstr && context->errstr[0] ? context->errstr : "closed");
}

static void on_silence(uv_timer_t *timer)
{
	struct redis_link *link = timer->data;
	redis_fault_report(redis_fault(REDIS_FAULT_SILENT), NULL);
	redisAsyncFree(link->context);
}

static void watch_silence(struct redis_link *link)
{
	if (link->in_flight > 0)
		uv_timer_start(&link->timer, on_silence, link->silence_ms, 0);
	else
		uv_timer_stop(&link->timer);
}

static void on_reply(redisAsyncContext *context, void *reply_ptr, void *arg)
{
	struct op *op = arg;
	struct redis_link *link = op->link;
	const redisReply *reply = reply_ptr;
	if (reply && link->state == LINK_READY) {
		link->in_flight--;
		watch_silence(link);
	}
	op_end(op, reply);
	/* A demoted master answers on: the next connection may reach the new one. */
	if (reply && reply->type == REDIS_REPLY_ERROR && redis_fault_is_of_replica(reply->str))
		redisAsyncFree(context);
}

static void op_send(struct redis_link *link, struct op *op)
{
	if (redisAsyncFormattedCommand(link->context, on_reply, op, op->wire, op->wire_length) !=
	    REDIS_OK) {
		op_end(op, NULL);
		return;
	}
	redisFreeCommand(op->wire);
	op->wire = NULL;
	if (link->in_flight++ == 0)
		watch_silence(link);
}

static void link_ready(struct redis_link *link)
{
	link->state = LINK_READY;
	link->addresses_left = 0;
	link->ready_since_ms = time_monotonic_ms();
	uv_timer_stop(&link->timer);
	log_debug(LOG_GROUP_REDIS, "connected");
	struct op *op;
	while ((op = next_waiting(link)))
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
static void on_version(redisAsyncContext *context, void *reply, void *arg)
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
		log_error(LOG_GROUP_REDIS, REDIS_TOO_OLD,
		          f_text("version", version ? version : "before 6.0"));
	redisAsyncFree(context);
}

/* Reply to AUTH, SELECT or PING; `arg` marks the last. A server that is LOADING its data is not
 * ready yet. */
static void on_greeting(redisAsyncContext *context, void *reply_ptr, void *arg)
{
	struct redis_link *link = context->data;
	const redisReply *reply = reply_ptr;
	if (!reply)
		return;
	if (reply->type == REDIS_REPLY_ERROR) {
		const struct fault *fault = redis_fault_of(reply->str);
		redis_fault_report(fault ? fault : redis_fault(REDIS_FAULT_REFUSED), reply->str);
		redisAsyncFree(context);
	} else if (arg && link->state == LINK_CONNECTING) {
		link_ready(link);
	}
}

static void greet(struct redis_link *link)
{
	const struct redis_url *url = link->url;
	redisAsyncContext *context = link->context;
	if (url->user)
		redisAsyncCommand(context, on_greeting, NULL, "AUTH %s %s", url->user,
		                  url->password);
	else if (url->password)
		redisAsyncCommand(context, on_greeting, NULL, "AUTH %s", url->password);
	if (url->db)
		redisAsyncCommand(context, on_greeting, NULL, "SELECT %d", url->db);
	redisAsyncCommand(context, on_version, link, "HELLO");
	redisAsyncCommand(context, on_greeting, link, "PING");
}

static void connect_to(struct redis_link *link, const char *ip)
{
	redisAsyncContext *context = ip ? redisAsyncConnect(ip, link->url->port)
	                                : redisAsyncConnectUnix(link->url->path);
	require(context);
	if (context->err ||
	    redis_uv_attach(context, link->loop, on_context_end, link) != ERR_NONE) {
		char why[128];
		snprintf(why, sizeof(why), "%s", context->err ? context->errstr : "no watcher");
		redisAsyncFree(context);
		link_lost(link, why);
		return;
	}
	link->context = context;
	context->data = link;
	tcp_detect_loss(context->c.fd);
	greet(link);
}

/* Without addresses there is no next one to be tried at once. */
static void look_up_failed(struct redis_link *link, const char *why)
{
	link->addresses_left = 0;
	link_lost(link, why);
}

static void on_connect_timeout(uv_timer_t *timer)
{
	struct redis_link *link = timer->data;
	if (link->context)
		redisAsyncFree(link->context);
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
	const struct sockaddr_storage *one = &addresses[link->failures % (unsigned)count];
	char ip[INET6_ADDRSTRLEN];
	status = one->ss_family == AF_INET6 ? uv_ip6_name((const void *)one, ip, sizeof(ip))
	                                    : uv_ip4_name((const void *)one, ip, sizeof(ip));
	require(status == 0);
	connect_to(link, ip);
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
	struct in6_addr address;
	link->state = LINK_CONNECTING;
	uv_timer_start(&link->timer, on_connect_timeout, CONNECT_TIMEOUT_MS, 0);
	if (!host)
		connect_to(link, NULL);
	else if (uv_inet_pton(AF_INET, host, &address) == 0 ||
	         uv_inet_pton(AF_INET6, host, &address) == 0)
		connect_to(link, host);
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
	struct op *op = calloc(1, sizeof(*op));
	require(op);
	*op = (struct op){.link = link, .reply = reply, .arg = arg};
	long long length =
		redisFormatCommandArgv(&op->wire, (int)argc, (const char **)(uintptr_t)argv, NULL);
	require(length > 0);
	op->wire_length = (size_t)length;
	if (link->state == LINK_READY) {
		op_send(link, op);
	} else {
		STAILQ_INSERT_TAIL(&link->waiting, op, entry);
	}
	return true;
}

/* Not an op, which is freed at its first reply: a subscription gets many. */
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

void redis_link_subscribe(struct redis_link *link, const char *channel, redis_reply_cb *message,
                          void *arg)
{
	require(link->state == LINK_READY);
	struct subscription *subscription = malloc(sizeof(*subscription));
	require(subscription);
	*subscription = (struct subscription){message, arg};
	if (redisAsyncCommand(link->context, on_message, subscription, "SUBSCRIBE %s", channel) !=
	    REDIS_OK)
		free(subscription);
}

void redis_link_drop(struct redis_link *link)
{
	if (link->context)
		redisAsyncFree(link->context);
}
