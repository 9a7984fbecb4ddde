#include "pg/reconnect.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "loop/resolver.h"
#include "observe/log.h"
#include "pacing/backoff.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>

#define BACKOFF_FIRST_MS 50
#define BACKOFF_MAX_MS   1000
#define CONNECT_GRACE_MS 500
#define SLOW_STEP_MS     100 /* a step of connecting that takes longer is logged */

struct pg_link {
	uv_loop_t *loop;
	const struct pg_target *target;
	const struct pg_link_owner *owner;
	void *context;
	uint64_t connect_timeout_ms;
	enum pg_link_state state;
	PGconn *pg;
	struct watch *watch;
	struct resolver *resolver;
	uint64_t lookup_started_ms;
	uv_timer_t timer;
	unsigned failures;         /* attempts in a row */
	bool is_other_tried;       /* both logins of the target, in this attempt */
	bool is_corked;            /* pg_link_cork(), and not flushed since */
	bool cannot_cork;          /* a unix socket */
	const struct fault *fault; /* of the last failure since READY; NULL: none */
};

/* A watcher is closed, and freed later, each time that libpq may change the socket. */
struct watch {
	uv_poll_t poll;
	struct pg_link *link; /* NULL: closed */
	int events;
};

#define MOVE(state) (1u << PG_LINK_##state)

static const unsigned ALLOWED[PG_LINK_STATES] = {
	[PG_LINK_CLOSED] = MOVE(RESOLVING),
	[PG_LINK_RESOLVING] = MOVE(CONNECTING) | MOVE(BROKEN) | MOVE(CLOSED),
	[PG_LINK_CONNECTING] = MOVE(READY) | MOVE(BROKEN) | MOVE(CLOSED),
	[PG_LINK_READY] = MOVE(BROKEN) | MOVE(CLOSED),
	[PG_LINK_BROKEN] = MOVE(RESOLVING) | MOVE(CLOSED),
};

static void link_move(struct pg_link *link, enum pg_link_state state)
{
	require((ALLOWED[link->state] & (1u << state)) != 0);
	link->state = state;
}

static void on_watch_closed(uv_handle_t *handle)
{
	free(handle);
}

static void link_unwatch(struct pg_link *link)
{
	if (!link->watch)
		return;
	link->watch->link = NULL;
	uv_close((uv_handle_t *)&link->watch->poll, on_watch_closed);
	link->watch = NULL;
}

static void on_connect_turn(uv_poll_t *poll, int status, int events);
static void on_event(uv_poll_t *poll, int status, int events);

/* Watch the socket that libpq has now. */
static void link_watch(struct pg_link *link, int events)
{
	if (!link->watch) {
		struct watch *watch = calloc(1, sizeof(*watch));
		require(watch);
		watch->link = link;
		if (uv_poll_init(link->loop, &watch->poll, PQsocket(link->pg)) != 0) {
			free(watch);
			pg_link_fail(link, "the socket cannot be watched");
			return;
		}
		link->watch = watch;
	}
	if (link->watch->events != events) {
		link->watch->events = events;
		uv_poll_start(&link->watch->poll, events,
		              link->state == PG_LINK_READY ? on_event : on_connect_turn);
	}
}

/* Release the resources of the current state: timer, watcher, look-up and PGconn. */
static void link_release(struct pg_link *link)
{
	uv_timer_stop(&link->timer);
	link_unwatch(link);
	resolver_stop(link->resolver);
	if (link->state == PG_LINK_READY)
		link->owner->lost(link->context);
	PQfinish(link->pg);
	link->pg = NULL;
	link->is_corked = link->cannot_cork = false;
}

static void link_begin(struct pg_link *link);

static void on_backoff_over(uv_timer_t *timer)
{
	struct pg_link *link = CONTAINER_OF(timer, struct pg_link, timer);
	if (link->owner->should_reconnect(link->context))
		link_begin(link);
	else
		link_move(link, PG_LINK_CLOSED);
}

static void link_break(struct pg_link *link, const struct fault *fault)
{
	link->fault = fault;
	link->is_other_tried = false;
	link_release(link);
	link_move(link, PG_LINK_BROKEN);
	link->failures++;
	uv_timer_start(&link->timer, on_backoff_over,
	               backoff_ms(link->failures, BACKOFF_FIRST_MS, BACKOFF_MAX_MS), 0);
	link->owner->broken(link->context);
}

/* Why libpq's connection failed or ended. */
static const struct fault *link_diagnose(const struct pg_link *link, const char *message,
                                         char ret_sqlstate[6])
{
	const struct fault *fault = pg_fault_of_message(message, ret_sqlstate);
	bool is_lost = link->state == PG_LINK_READY && !ret_sqlstate[0];
	return is_lost ? pg_fault(PG_FAULT_LOST) : fault;
}

/* The server refuses the login: connect with the other one. False: there is none, or it was
 * refused, too. */
static bool link_try_other(struct pg_link *link)
{
	const struct pg_target *other = pg_target_other(link->target);
	if (!other || link->is_other_tried)
		return false;
	log_info("the login is refused, trying the other one");
	link->target = other;
	link->is_other_tried = true;
	link_release(link);
	link_move(link, PG_LINK_BROKEN);
	link_begin(link);
	return true;
}

void pg_link_fail(struct pg_link *link, const char *why)
{
	if (link->state == PG_LINK_CLOSED || link->state == PG_LINK_BROKEN)
		return;
	struct arena *arena = arena_new();
	char sqlstate[6];
	const char *reason = why ? why : pg_error_line(arena, link->pg);
	const struct fault *fault = link_diagnose(link, reason, sqlstate);
	bool is_refused = link->state == PG_LINK_CONNECTING && pg_login_is_refused(sqlstate);
	if (!is_refused || !link_try_other(link)) {
		pg_fault_report(fault, sqlstate[0] ? sqlstate : NULL, reason);
		link_break(link, fault);
	}
	arena_free(arena);
}

void pg_link_fail_for(struct pg_link *link, const struct fault *fault, const char *why)
{
	if (link->state == PG_LINK_CLOSED || link->state == PG_LINK_BROKEN)
		return;
	pg_fault_report(fault, NULL, why);
	link_break(link, fault);
}

static void link_ready(struct pg_link *link)
{
	uv_timer_stop(&link->timer);
	if (PQsetnonblocking(link->pg, 1) != 0) {
		pg_link_fail(link, NULL);
		return;
	}
	if (link->fault)
		log_info("database connection restored", f_int("attempts", link->failures));
	link->fault = NULL;
	link->failures = 0;
	link->is_other_tried = false;
	link_move(link, PG_LINK_READY);
	link_watch(link, UV_READABLE);
	if (link->state == PG_LINK_READY)
		link->owner->ready(link->context);
}

static void on_connect_turn(uv_poll_t *poll, int status attr_unused, int events attr_unused)
{
	struct pg_link *link = CONTAINER_OF(poll, struct watch, poll)->link;
	/* Before the call: it may close the socket and open another under the same number. */
	link_unwatch(link);
	switch (PQconnectPoll(link->pg)) {
	case PGRES_POLLING_READING:
		link_watch(link, UV_READABLE);
		break;
	case PGRES_POLLING_WRITING:
		link_watch(link, UV_WRITABLE);
		break;
	case PGRES_POLLING_OK:
		link_ready(link);
		break;
	default:
		pg_link_fail(link, NULL);
	}
}

static void on_event(uv_poll_t *poll, int status, int events)
{
	struct pg_link *link = CONTAINER_OF(poll, struct watch, poll)->link;
	if (events & UV_WRITABLE)
		pg_link_flush(link);
	/* libuv reports a reset as an error status; there may still be bytes to read. */
	if (((events & UV_READABLE) || status < 0) && link->state == PG_LINK_READY)
		link->owner->readable(link->context);
	if (status < 0)
		pg_link_fail(link, uv_strerror(status));
}

static void warn_if_slow(const char *step, uint64_t started_ms)
{
	uint64_t took_ms = time_monotonic_ms() - started_ms;
	if (took_ms > SLOW_STEP_MS)
		log_warn("connecting to the database was slow", f_text("step", step),
		         f_int("duration_ms", took_ms));
}

/* Notices and warnings of the server, for example why it ends a connection. */
static void on_notice(void *context attr_unused, const char *message)
{
	log_debug("notice from the server", f_text("notice", message));
}

/* Begin to connect; `address` is what the name was resolved to, NULL with no name. A slow call of
 * libpq here blocks the whole loop. */
static void link_dial(struct pg_link *link, const char *address)
{
	uint64_t started_ms = time_monotonic_ms();
	link_move(link, PG_LINK_CONNECTING);
	link->pg = pg_target_connect(link->target, address, link->failures);
	warn_if_slow("connect", started_ms);
	PQsetNoticeProcessor(link->pg, on_notice, NULL);
	if (PQstatus(link->pg) == CONNECTION_BAD)
		pg_link_fail(link, NULL);
	else
		link_watch(link, UV_WRITABLE);
}

/* Each attempt takes the next address, since some may not answer. */
static void on_resolved(void *context, int status, const struct sockaddr_storage *addresses,
                        int count)
{
	struct pg_link *link = context;
	char address[NI_MAXHOST];
	warn_if_slow("name lookup", link->lookup_started_ms);
	if (status != 0) {
		pg_link_fail(link, uv_strerror(status));
		return;
	}
	const struct sockaddr_storage *one = &addresses[link->failures % (unsigned)count];
	if (getnameinfo((const struct sockaddr *)one, sizeof(*one), address, sizeof(address), NULL,
	                0, NI_NUMERICHOST) == 0)
		link_dial(link, address);
	else
		pg_link_fail(link, "the host's address cannot be written as text");
}

static void on_connect_too_late(uv_timer_t *timer)
{
	pg_link_fail(CONTAINER_OF(timer, struct pg_link, timer), "connecting took too long");
}

/* If this process was stopped meanwhile, the server's answer may be there to be read. */
static void on_connect_timeout(uv_timer_t *timer)
{
	uv_timer_start(timer, on_connect_too_late, CONNECT_GRACE_MS, 0);
}

static void link_begin(struct pg_link *link)
{
	const char *name = pg_target_name(link->target);
	link_move(link, PG_LINK_RESOLVING);
	uv_timer_start(&link->timer, on_connect_timeout, link->connect_timeout_ms, 0);
	if (!name) {
		link_dial(link, NULL);
		return;
	}
	link->lookup_started_ms = time_monotonic_ms();
	int status = resolver_start(link->resolver, name, 0);
	if (status != 0)
		pg_link_fail(link, uv_strerror(status));
}

void pg_link_connect(struct pg_link *link)
{
	if (link->state == PG_LINK_CLOSED)
		link_begin(link);
}

void pg_link_close(struct pg_link *link)
{
	if (link->state == PG_LINK_CLOSED)
		return;
	link_release(link);
	link_move(link, PG_LINK_CLOSED);
}

/* Whether the kernel has done it; it cannot for a unix socket. */
static bool set_cork(const struct pg_link *link, int value)
{
	return setsockopt(PQsocket(link->pg), IPPROTO_TCP, TCP_CORK, &value, sizeof(value)) == 0;
}

void pg_link_cork(struct pg_link *link)
{
	if (link->state != PG_LINK_READY || link->is_corked || link->cannot_cork)
		return;
	link->is_corked = set_cork(link, 1);
	link->cannot_cork = !link->is_corked;
}

void pg_link_flush(struct pg_link *link)
{
	if (link->state != PG_LINK_READY)
		return;
	int unsent = PQflush(link->pg);
	if (link->is_corked)
		set_cork(link, 0);
	link->is_corked = false;
	switch (unsent) {
	case 0:
		link_watch(link, UV_READABLE);
		break;
	case 1:
		link_watch(link, UV_READABLE | UV_WRITABLE);
		break;
	default:
		pg_link_fail(link, NULL);
	}
}

struct pg_link *pg_link_new(uv_loop_t *loop, const struct pg_target *target,
                            uint64_t connect_timeout_ms, const struct pg_link_owner *owner,
                            void *context)
{
	struct pg_link *link = calloc(1, sizeof(*link));
	require(link);
	*link = (struct pg_link){.loop = loop,
	                         .target = target,
	                         .owner = owner,
	                         .context = context,
	                         .connect_timeout_ms = connect_timeout_ms,
	                         .resolver = resolver_new(loop, on_resolved, link)};
	uv_timer_init(loop, &link->timer);
	return link;
}

static void on_timer_closed(uv_handle_t *handle)
{
	struct pg_link *link = CONTAINER_OF(handle, struct pg_link, timer);
	link->owner->freed(link->context);
	free(link);
}

void pg_link_free(struct pg_link *link)
{
	pg_link_close(link);
	resolver_free(link->resolver);
	uv_close((uv_handle_t *)&link->timer, on_timer_closed);
}

enum pg_link_state pg_link_state(const struct pg_link *link)
{
	return link->state;
}

const struct fault *pg_link_fault(const struct pg_link *link)
{
	return link->fault;
}

PGconn *pg_link_pg(const struct pg_link *link)
{
	return link->state == PG_LINK_READY ? link->pg : NULL;
}
