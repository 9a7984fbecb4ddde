#include "pg/conn.h"

#include "base/base.h"
#include "base/crypto.h"
#include "base/log.h"
#include "base/timefmt.h"

#include <netdb.h>
#include <stdlib.h>

#define BACKOFF_FIRST_MS 50
#define BACKOFF_MAX_MS   1000
#define SLOW_CALL_MS     100 /* a call of libpq that took longer held up the whole loop */

struct pg_conn {
	uv_loop_t *loop;
	const struct pg_target *target;
	const struct pg_conn_owner *owner;
	void *context;
	uint64_t connect_timeout_ms;
	enum pg_conn_state state;
	PGconn *pg;
	struct watch *watch;
	struct lookup *lookup;
	uv_timer_t timer;
	unsigned failures; /* attempts in a row */
	bool was_lost;     /* since the last READY: the recovery is worth a line */
};

/* A watcher is closed, and freed later, each time that libpq may change the socket. */
struct watch {
	uv_poll_t poll;
	struct pg_conn *conn; /* NULL: closed */
	int events;
};

struct lookup {
	uv_getaddrinfo_t request;
	struct pg_conn *conn; /* NULL: nobody wants the answer any more */
	uint64_t started_ms;
};

#define MOVE(state) (1u << PG_CONN_##state)

static const unsigned ALLOWED[PG_CONN_STATES] = {
	[PG_CONN_CLOSED] = MOVE(RESOLVING),
	[PG_CONN_RESOLVING] = MOVE(CONNECTING) | MOVE(BROKEN) | MOVE(CLOSED),
	[PG_CONN_CONNECTING] = MOVE(READY) | MOVE(BROKEN) | MOVE(CLOSED),
	[PG_CONN_READY] = MOVE(BROKEN) | MOVE(CLOSED),
	[PG_CONN_BROKEN] = MOVE(RESOLVING) | MOVE(CLOSED),
};

static void conn_move(struct pg_conn *conn, enum pg_conn_state state)
{
	require((ALLOWED[conn->state] & (1u << state)) != 0);
	conn->state = state;
}

static void on_watch_closed(uv_handle_t *handle)
{
	free(handle);
}

static void conn_unwatch(struct pg_conn *conn)
{
	if (conn->watch == NULL)
		return;
	conn->watch->conn = NULL;
	uv_close((uv_handle_t *)&conn->watch->poll, on_watch_closed);
	conn->watch = NULL;
}

static void on_turn(uv_poll_t *poll, int status, int events);
static void on_event(uv_poll_t *poll, int status, int events);

/* Watch the socket as it is now. */
static void conn_watch(struct pg_conn *conn, int events)
{
	if (conn->watch == NULL) {
		struct watch *watch = calloc(1, sizeof(*watch));
		require(watch != NULL);
		watch->conn = conn;
		if (uv_poll_init(conn->loop, &watch->poll, PQsocket(conn->pg)) != 0) {
			free(watch);
			pg_conn_down(conn, "the socket cannot be watched");
			return;
		}
		conn->watch = watch;
	}
	if (conn->watch->events != events) {
		conn->watch->events = events;
		uv_poll_start(&conn->watch->poll, events,
		              conn->state == PG_CONN_READY ? on_event : on_turn);
	}
}

/* Leave the state: socket, watcher, look-up and timer. */
static void conn_release(struct pg_conn *conn)
{
	uv_timer_stop(&conn->timer);
	conn_unwatch(conn);
	if (conn->lookup != NULL) {
		conn->lookup->conn = NULL;
		uv_cancel((uv_req_t *)&conn->lookup->request);
		conn->lookup = NULL;
	}
	if (conn->state == PG_CONN_READY)
		conn->owner->lost(conn->context);
	PQfinish(conn->pg);
	conn->pg = NULL;
}

/* Half to all of an exponential step, so that many clients do not come back together. */
static uint64_t backoff_ms(unsigned failures)
{
	uint64_t step = (uint64_t)BACKOFF_FIRST_MS << MIN_OF(failures, 8u);
	uint32_t random;
	random_bytes(&random, sizeof(random));
	step = MIN_OF(step, BACKOFF_MAX_MS);
	return step / 2 + random % (step / 2 + 1);
}

static void conn_begin(struct pg_conn *conn);

static void on_backoff(uv_timer_t *timer)
{
	struct pg_conn *conn = CONTAINER_OF(timer, struct pg_conn, timer);
	if (conn->owner->wanted(conn->context))
		conn_begin(conn);
	else
		conn_move(conn, PG_CONN_CLOSED);
}

static void on_connect_timeout(uv_timer_t *timer)
{
	pg_conn_down(CONTAINER_OF(timer, struct pg_conn, timer), "connecting took too long");
}

static void log_down(const struct pg_conn *conn, bool was_ready, const char *why)
{
	struct arena *arena = arena_new();
	log_warn(LOG_GROUP_PG,
	         was_ready ? "database connection lost" : "database cannot be reached",
	         f_text("reason", why == NULL ? pg_error_line(arena, conn->pg) : why));
	arena_free(arena);
}

void pg_conn_down(struct pg_conn *conn, const char *why)
{
	if (conn->state == PG_CONN_CLOSED || conn->state == PG_CONN_BROKEN)
		return;
	bool was_ready = conn->state == PG_CONN_READY;
	if (was_ready || !conn->was_lost)
		log_down(conn, was_ready, why);
	conn->was_lost = true;
	conn_release(conn);
	conn_move(conn, PG_CONN_BROKEN);
	uv_timer_start(&conn->timer, on_backoff, backoff_ms(conn->failures), 0);
	conn->failures++;
	conn->owner->broken(conn->context);
}

static void conn_ready(struct pg_conn *conn)
{
	uv_timer_stop(&conn->timer);
	if (PQsetnonblocking(conn->pg, 1) != 0) {
		pg_conn_down(conn, NULL);
		return;
	}
	if (conn->was_lost)
		log_info(LOG_GROUP_PG, "database connection made again",
		         f_int("attempts", conn->failures));
	conn->was_lost = false;
	conn->failures = 0;
	conn_move(conn, PG_CONN_READY);
	conn_watch(conn, UV_READABLE);
	if (conn->state == PG_CONN_READY)
		conn->owner->ready(conn->context);
}

static void on_turn(uv_poll_t *poll, int status attr_unused, int events attr_unused)
{
	struct pg_conn *conn = CONTAINER_OF(poll, struct watch, poll)->conn;
	/* Before the call: it may close the socket and open another under the same number. */
	conn_unwatch(conn);
	switch (PQconnectPoll(conn->pg)) {
	case PGRES_POLLING_READING:
		conn_watch(conn, UV_READABLE);
		break;
	case PGRES_POLLING_WRITING:
		conn_watch(conn, UV_WRITABLE);
		break;
	case PGRES_POLLING_OK:
		conn_ready(conn);
		break;
	default:
		pg_conn_down(conn, NULL);
	}
}

static void on_event(uv_poll_t *poll, int status, int events)
{
	struct pg_conn *conn = CONTAINER_OF(poll, struct watch, poll)->conn;
	if ((events & UV_WRITABLE) != 0)
		pg_conn_flush(conn);
	/* libuv reports a reset as a failure of its own; there may be something to read even so. */
	if (((events & UV_READABLE) != 0 || status < 0) && conn->state == PG_CONN_READY)
		conn->owner->readable(conn->context);
	if (status < 0)
		pg_conn_down(conn, uv_strerror(status));
}

static void warn_if_slow(const char *what, uint64_t started_ms)
{
	uint64_t took_ms = time_monotonic_ms() - started_ms;
	if (took_ms > SLOW_CALL_MS)
		log_warn(LOG_GROUP_PG, "database connection was slow to begin",
		         f_text("step", what), f_int("duration_ms", took_ms));
}

/* Notices and warnings of the server, among them its reasons for ending a connection. */
static void on_notice(void *context attr_unused, const char *message)
{
	log_debug(LOG_GROUP_PG, "the server remarks", f_text("notice", message));
}

static void conn_dial(struct pg_conn *conn, const char *address)
{
	uint64_t started_ms = time_monotonic_ms();
	conn_move(conn, PG_CONN_CONNECTING);
	conn->pg = pg_target_connect(conn->target, address);
	warn_if_slow("connect", started_ms);
	require(conn->pg != NULL);
	PQsetNoticeProcessor(conn->pg, on_notice, NULL);
	if (PQstatus(conn->pg) == CONNECTION_BAD)
		pg_conn_down(conn, NULL);
	else
		conn_watch(conn, UV_WRITABLE);
}

/* The address that this attempt takes: another one each time, as some may be dead. */
static const struct addrinfo *lookup_choose(const struct addrinfo *first, unsigned attempt)
{
	unsigned count = 0;
	for (const struct addrinfo *one = first; one != NULL; one = one->ai_next)
		count++;
	require(count > 0);
	for (unsigned skip = attempt % count; skip > 0; skip--)
		first = first->ai_next;
	return first;
}

static void on_looked_up(uv_getaddrinfo_t *request, int status, struct addrinfo *found)
{
	struct lookup *lookup = CONTAINER_OF(request, struct lookup, request);
	struct pg_conn *conn = lookup->conn;
	uint64_t started_ms = lookup->started_ms;
	free(lookup);
	if (conn != NULL) {
		char address[NI_MAXHOST];
		conn->lookup = NULL;
		warn_if_slow("name lookup", started_ms);
		const struct addrinfo *one =
			status == 0 ? lookup_choose(found, conn->failures) : NULL;
		if (one == NULL)
			pg_conn_down(conn, uv_strerror(status));
		else if (getnameinfo(one->ai_addr, one->ai_addrlen, address, sizeof(address), NULL,
		                     0, NI_NUMERICHOST) != 0)
			pg_conn_down(conn, "the host's address cannot be written");
		else
			conn_dial(conn, address);
	}
	uv_freeaddrinfo(found);
}

static void conn_resolve(struct pg_conn *conn, const char *name)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
	struct lookup *lookup = calloc(1, sizeof(*lookup));
	require(lookup != NULL);
	lookup->conn = conn;
	lookup->started_ms = time_monotonic_ms();
	int status = uv_getaddrinfo(conn->loop, &lookup->request, on_looked_up, name, NULL, &hints);
	if (status == 0) {
		conn->lookup = lookup;
		return;
	}
	free(lookup);
	pg_conn_down(conn, uv_strerror(status));
}

static void conn_begin(struct pg_conn *conn)
{
	const char *name = pg_target_name(conn->target);
	conn_move(conn, PG_CONN_RESOLVING);
	uv_timer_start(&conn->timer, on_connect_timeout, conn->connect_timeout_ms, 0);
	if (name != NULL)
		conn_resolve(conn, name);
	else
		conn_dial(conn, NULL);
}

void pg_conn_connect(struct pg_conn *conn)
{
	if (conn->state == PG_CONN_CLOSED)
		conn_begin(conn);
}

void pg_conn_close(struct pg_conn *conn)
{
	if (conn->state == PG_CONN_CLOSED)
		return;
	conn_release(conn);
	conn_move(conn, PG_CONN_CLOSED);
}

void pg_conn_flush(struct pg_conn *conn)
{
	if (conn->state != PG_CONN_READY)
		return;
	switch (PQflush(conn->pg)) {
	case 0:
		conn_watch(conn, UV_READABLE);
		break;
	case 1:
		conn_watch(conn, UV_READABLE | UV_WRITABLE);
		break;
	default:
		pg_conn_down(conn, NULL);
	}
}

struct pg_conn *pg_conn_new(uv_loop_t *loop, const struct pg_target *target,
                            uint64_t connect_timeout_ms, const struct pg_conn_owner *owner,
                            void *context)
{
	struct pg_conn *conn = calloc(1, sizeof(*conn));
	require(conn != NULL);
	*conn = (struct pg_conn){.loop = loop,
	                         .target = target,
	                         .owner = owner,
	                         .context = context,
	                         .connect_timeout_ms = connect_timeout_ms};
	uv_timer_init(loop, &conn->timer);
	return conn;
}

static void on_timer_closed(uv_handle_t *handle)
{
	struct pg_conn *conn = CONTAINER_OF(handle, struct pg_conn, timer);
	conn->owner->freed(conn->context);
	free(conn);
}

void pg_conn_free(struct pg_conn *conn)
{
	pg_conn_close(conn);
	uv_close((uv_handle_t *)&conn->timer, on_timer_closed);
}

enum pg_conn_state pg_conn_state(const struct pg_conn *conn)
{
	return conn->state;
}

PGconn *pg_conn_pg(const struct pg_conn *conn)
{
	return conn->state == PG_CONN_READY ? conn->pg : NULL;
}
