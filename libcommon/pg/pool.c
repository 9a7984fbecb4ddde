#include "pg/pool.h"

#include "base/base.h"
#include "pg/share.h"

#include <stdlib.h>

/* Statements share one connection as long as they wait there no longer than this for earlier ones.
 * Short statements cost least in one deep pipeline; long ones run on several connections. */
#define PACK_US  500
#define PACK_MAX 32
/* No more than this many are sent on one connection; the rest waits in the pool's queue, from where
 * any connection may take them. */
#define DEPTH_MAX 128
/* A connection whose oldest statement has run that long is slow: it gets no new ones while another
 * can take them. */
#define SLOW_MS      3
#define WAIT_STEP_MS 10 /* granularity of the waiting limit */

static bool is_shared(const struct pooled_conn *conn)
{
	return pooled_conn_is_ready(conn) && !conn->transaction && !conn->is_rolling_back &&
	       !conn->is_read_only;
}

static bool is_slow(const struct pooled_conn *conn)
{
	return conn->in_flight > 0 && uv_now(conn->pool->loop) - conn->progress_ms > SLOW_MS;
}

/* Open another connection if the pool may have more; returns whether one is being opened. None is
 * opened while one backs off after a failure, since the server may refuse all. */
static bool pool_grow(struct pg_pool *pool)
{
	struct pooled_conn *closed = NULL;
	for (each_conn(conn, pool)) {
		switch (pg_link_state(conn->link)) {
		case PG_LINK_RESOLVING:
		case PG_LINK_CONNECTING:
			return true;
		case PG_LINK_BROKEN:
			return false;
		case PG_LINK_CLOSED:
			closed = closed ? closed : conn;
			break;
		default:
			break;
		}
	}
	if (!closed || pool->is_freed)
		return false;
	pg_link_connect(closed->link);
	return pg_link_state(closed->link) != PG_LINK_BROKEN;
}

/* How many statements of the average length take PACK_US. */
static size_t pool_pack_depth(const struct pg_pool *pool)
{
	return MIN_OF(MAX_OF(PACK_US / MAX_OF(pool->usual_us, 1), 1), PACK_MAX);
}

static bool takes_singles(const struct pooled_conn *conn)
{
	return is_shared(conn) && !conn->is_reserved && conn->in_flight < DEPTH_MAX &&
	       !pooled_conn_is_stuck(conn);
}

/* The server answers, if not on all connections. */
static bool is_heard(const struct pg_pool *pool)
{
	return uv_now(pool->loop) - pool->heard_ms < PG_SILENCE_MS;
}

/* Of two slow ones, that of an account that holds fewer is rather done soon. */
static bool is_better(struct pg_pool *pool, const struct pooled_conn *conn,
                      const struct pooled_conn *than)
{
	if (!than)
		return true;
	if (is_slow(conn) != is_slow(than))
		return is_slow(than);
	if (is_slow(conn)) {
		int held = pg_share_of_running(pool, conn);
		int than_held = pg_share_of_running(pool, than);
		if (held != than_held)
			return held < than_held;
	}
	return conn->in_flight < than->in_flight;
}

/* The first connection with room in its pipeline, so that later ones become idle. Else the one with
 * the fewest statements in flight, unless it is slow and another connection is being made. An
 * account that may hold no further connection waits behind none of its own long statements, since
 * another one may be done before, unless the server answers none. */
static struct pooled_conn *conn_for_single(struct pg_pool *pool, const struct pg_statement *st)
{
	const struct uuid *account = &st->fair.account;
	bool may_spread = pg_share_may_spread(pool, account);
	bool may_be_slow = may_spread || !is_heard(pool);
	struct pooled_conn *best = NULL;
	for (each_conn(conn, pool)) {
		if (!takes_singles(conn) || (!may_spread && !pg_share_carries(conn, account)))
			continue;
		if (conn->in_flight < pool_pack_depth(pool) && !is_slow(conn))
			return conn;
		if (may_be_slow && is_better(pool, conn, best))
			best = conn;
	}
	if (!may_spread)
		return best;
	bool is_late = !best || is_slow(best);
	if (is_late)
		pg_share_check_singles(pool, account);
	if (pool_grow(pool) && is_late)
		return NULL;
	return best && pooled_conn_is_ready(best) ? best : NULL;
}

/* The last idle connection of the array, because single statements use it last. When none is idle,
 * another one is opened, or else a busy one is reserved. */
static struct pooled_conn *conn_for_transaction(struct pg_pool *pool)
{
	struct pooled_conn *idle = NULL, *busy = NULL;
	int taken = 0, reserved = 0;
	for (each_conn(conn, pool)) {
		taken += conn->transaction || conn->is_rolling_back;
		reserved += conn->is_reserved;
		if (is_shared(conn) && conn->in_flight == 0)
			idle = conn;
		else if (is_shared(conn) && !conn->is_reserved &&
		         (!busy || conn->in_flight <= busy->in_flight))
			busy = conn;
	}
	if (taken >= pg_share_transactions_max(pool))
		return NULL;
	if (idle)
		return idle;
	if (busy && taken + reserved < pg_share_transactions_max(pool) && !pool_grow(pool) &&
	    pooled_conn_is_ready(busy))
		busy->is_reserved = true;
	else if (!busy)
		pool_grow(pool);
	return NULL;
}

static void note_waiting(struct pg_pool *pool, int change)
{
	pool->waiting += (size_t)change;
	pg_metrics_gauge(PG_GAUGE_WAITING, change);
}

/* Remove a statement that gets no connection. */
static void pool_unqueue(struct pg_pool *pool, struct pg_statement *st)
{
	fair_queue_remove(st->kind == PG_BEGIN ? &pool->begins : &pool->singles, &st->fair);
	note_waiting(pool, -1);
}

/* The next single statement that can be sent, which stays in the queue, and where to; NULL: none.
 * Of an account whose first one cannot, no other can. */
static struct pg_statement *next_single(struct pg_pool *pool, struct pooled_conn **ret_conn)
{
	struct fair_entry *entry = fair_queue_first(&pool->singles);
	while (entry && !(*ret_conn = conn_for_single(pool, pg_statement_of(entry))))
		entry = fair_queue_next_account(entry);
	return pg_statement_of(entry);
}

static void pool_serve(struct pg_pool *pool)
{
	struct pooled_conn *conn;
	struct pg_statement *st;
	while ((st = pg_share_next_begin(pool)) && (conn = conn_for_transaction(pool))) {
		pg_share_serve_begin(pool, st);
		note_waiting(pool, -1);
		pooled_conn_check_out(conn, st);
	}
	pg_share_check_begins(pool);
	for (each_conn(one, pool))
		one->is_reserved = one->is_reserved && st;
	while ((st = next_single(pool, &conn))) {
		fair_queue_serve(&pool->singles, &st->fair);
		note_waiting(pool, -1);
		pooled_conn_send(conn, st);
	}
}

/* Wake the fibers of the statements that are done; whether there were any. */
static bool pool_wake(struct pg_pool *pool)
{
	struct pg_statement *st;
	bool has_woken = false;
	while ((st = TAILQ_FIRST(&pool->done))) {
		TAILQ_REMOVE(&pool->done, st, entry);
		st->state = PG_STATEMENT_WOKEN;
		fiber_wake(st->fiber);
		has_woken = true;
	}
	return has_woken;
}

void pg_pool_run(struct pg_pool *pool)
{
	if (pool->is_running)
		return;
	pool->is_running = true;
	do {
		if (!pool->is_freed)
			pool_serve(pool);
	} while (pool_wake(pool));
	pool->is_running = false;
}

void pg_pool_finish(struct pg_pool *pool, struct pg_statement *st, const struct fault *fault)
{
	if (!st->fiber) {
		pg_statement_free(st);
		return;
	}
	pg_metrics_statement(fault ? fault->code : ERR_NONE, st->started_us);
	st->state = PG_STATEMENT_DONE;
	st->fault = fault;
	TAILQ_INSERT_TAIL(&pool->done, st, entry);
}

/* Why statements get no connection. */
static const struct fault *pool_obstacle(const struct pg_pool *pool)
{
	bool has_silent = false, has_ready = false;
	for (each_conn(conn, pool)) {
		bool is_ready = pooled_conn_is_ready(conn);
		if (!is_ready && pg_link_fault(conn->link))
			return pg_link_fault(conn->link);
		has_ready |= is_ready;
		has_silent |=
			is_ready && (pooled_conn_is_stuck(conn) || pooled_conn_is_silent(conn));
	}
	if (has_silent)
		return pg_fault(PG_FAULT_SILENT);
	return pg_fault(has_ready ? PG_FAULT_POOL_FULL : PG_FAULT_UNREACHABLE);
}

/* Its account holds all that it may: what it waits for is no fault of the server or the pool. */
static bool is_limited_by_share(struct pg_pool *pool, const struct pg_statement *st)
{
	return st->kind == PG_SINGLE && is_heard(pool) &&
	       !pg_share_may_spread(pool, &st->fair.account);
}

/* Whether a statement has waited for too long; else note when it will have. */
static bool is_expired(struct pg_pool *pool, struct pg_statement *st, uint64_t *earliest_ms)
{
	if (st->wait_until_ms <= uv_now(pool->loop) && is_limited_by_share(pool, st))
		st->wait_until_ms = uv_now(pool->loop) + pool->settings.pool_wait_ms;
	if (st->wait_until_ms <= uv_now(pool->loop))
		return true;
	*earliest_ms = MIN_OF(*earliest_ms, st->wait_until_ms);
	return false;
}

static void fail_expired(struct pg_pool *pool, struct pg_statement *st)
{
	const struct fault *fault = pool_obstacle(pool);
	pg_fault_report(fault, NULL, "a statement got no connection in time");
	pool_unqueue(pool, st);
	pg_pool_finish(pool, st, fault);
}

/* The queue is walked before any leaves it, which changes its order. */
static void expire_all(struct pg_pool *pool, struct fair_queue *queue, uint64_t *earliest_ms)
{
	struct fair_entry *entry = fair_queue_first(queue);
	struct pg_statement_list late = TAILQ_HEAD_INITIALIZER(late);
	struct pg_statement *st;
	for (; entry; entry = fair_queue_next(entry)) {
		st = pg_statement_of(entry);
		if (is_expired(pool, st, earliest_ms))
			TAILQ_INSERT_TAIL(&late, st, entry);
	}
	while ((st = TAILQ_FIRST(&late))) {
		TAILQ_REMOVE(&late, st, entry);
		fail_expired(pool, st);
	}
}

static void on_wait_timer(uv_timer_t *timer)
{
	struct pg_pool *pool = CONTAINER_OF(timer, struct pg_pool, wait_timer);
	uint64_t now_ms = uv_now(pool->loop), earliest_ms = UINT64_MAX;
	expire_all(pool, &pool->singles, &earliest_ms);
	expire_all(pool, &pool->begins, &earliest_ms);
	if (earliest_ms != UINT64_MAX)
		uv_timer_start(timer, on_wait_timer, MAX_OF(earliest_ms - now_ms, WAIT_STEP_MS), 0);
	pg_pool_run(pool);
}

static void pool_enqueue(struct pg_pool *pool, struct pg_statement *st, bool in_front)
{
	uint64_t now_ms = uv_now(pool->loop);
	st->state = PG_STATEMENT_WAITING;
	if (in_front)
		fair_queue_put_back(st->kind == PG_BEGIN ? &pool->begins : &pool->singles,
		                    &st->fair);
	else if (st->kind == PG_BEGIN)
		pg_share_add_begin(pool, st);
	else
		fair_queue_add(&pool->singles, &st->fair, &st->fair.account, 0);
	note_waiting(pool, 1);
	if (!uv_is_active((uv_handle_t *)&pool->wait_timer) && !pool->is_freed)
		uv_timer_start(&pool->wait_timer, on_wait_timer,
		               MAX_OF(st->wait_until_ms, now_ms + WAIT_STEP_MS) - now_ms, 0);
}

void pg_pool_submit(struct pg_pool *pool, struct pg_statement *st)
{
	if (pool->is_freed) {
		pg_pool_finish(pool, st, pg_fault(PG_FAULT_UNAVAILABLE));
		return;
	}
	st->wait_until_ms = uv_now(pool->loop) + pool->settings.pool_wait_ms;
	pool_enqueue(pool, st, false);
	pg_pool_run(pool);
}

bool pg_pool_retry(struct pg_pool *pool, struct pg_statement *st)
{
	uint64_t now_ms = uv_now(pool->loop);
	if (!st->fiber || pool->is_freed)
		return false;
	if (st->kind != PG_SINGLE && st->kind != PG_BEGIN)
		return false;
	if (st->retry_until_ms == 0)
		st->retry_until_ms = now_ms + pool->settings.pool_wait_ms;
	if (now_ms >= st->retry_until_ms)
		return false;
	st->wait_until_ms = st->retry_until_ms;
	for (struct pg_statement *part = st; part; part = part->next_part) {
		PQclear(part->result);
		part->result = NULL;
		part->is_preparing = false;
		part->began_ms = part->ended_ms = 0;
	}
	st->is_synced = st->may_be_done = false;
	pool_enqueue(pool, st, true);
	return true;
}

/* The fiber is cancelled. Drop the statement if it was not sent; otherwise its answer is
 * dropped. */
static void statement_leave(struct pg_pool *pool, struct pg_statement *st, enum err_code reason)
{
	pg_metrics_statement(reason, st->started_us);
	st->fiber = NULL;
	if (st->state != PG_STATEMENT_WAITING)
		return;
	pool_unqueue(pool, st);
	pg_statement_free(st);
}

/* ERR_UNAVAILABLE, by which a process ends its requests, says that nothing was done. */
static const struct fault *fault_of_leaving(const struct pg_statement *st, enum err_code reason)
{
	if (reason == ERR_UNAVAILABLE && st->kind == PG_SINGLE && !st->is_read &&
	    st->state == PG_STATEMENT_SENT)
		return pg_fault(PG_FAULT_UNCERTAIN);
	return pg_fault_of_code(reason);
}

const struct fault *pg_pool_wait(struct pg_pool *pool, struct pg_statement *st, bool is_cancellable,
                                 PGresult **ret_result)
{
	while (st->state < PG_STATEMENT_DONE) {
		if (!is_cancellable) {
			fiber_wait_uncancelled();
			continue;
		}
		enum err_code reason = fiber_wait();
		if (reason != ERR_NONE && st->state < PG_STATEMENT_DONE) {
			const struct fault *fault = fault_of_leaving(st, reason);
			pg_slow_check(pool, st);
			statement_leave(pool, st, reason);
			return fault;
		}
	}
	if (st->state == PG_STATEMENT_DONE)
		TAILQ_REMOVE(&pool->done, st, entry);
	pg_slow_check(pool, st);
	const struct fault *fault = st->fault;
	*ret_result = st->result;
	st->result = NULL;
	pg_statement_free(st);
	return fault;
}

static void on_flush(uv_prepare_t *prepare)
{
	struct pg_pool *pool = CONTAINER_OF(prepare, struct pg_pool, flusher);
	uv_prepare_stop(prepare);
	uv_idle_stop(&pool->flush_hurry);
	for (each_conn(conn, pool)) {
		if (conn->needs_flush) {
			conn->needs_flush = false;
			pg_link_flush(conn->link);
		}
	}
}

static void on_hurry(uv_idle_t *idle)
{
	(void)idle;
}

/* A prepare handle that another one has started runs in the next turn of the loop, which must not
 * wait for an event before. */
void pg_pool_flush_soon(struct pg_pool *pool)
{
	if (pool->is_freed)
		return;
	uv_prepare_start(&pool->flusher, on_flush);
	uv_idle_start(&pool->flush_hurry, on_hurry);
}

/* When nothing was heard from the server, ask on an idle connection whether it answers. */
static void pool_probe(struct pg_pool *pool)
{
	if (uv_now(pool->loop) - pool->heard_ms < PG_PROBE_MS)
		return;
	for (each_conn(conn, pool)) {
		if (is_shared(conn) && conn->in_flight == 0) {
			pooled_conn_probe(conn);
			return;
		}
	}
}

/* Close idle connections other than the first, and those whose server does not answer. */
static void on_sweep(uv_timer_t *timer)
{
	struct pg_pool *pool = CONTAINER_OF(timer, struct pg_pool, sweep_timer);
	uint64_t now_ms = uv_now(pool->loop);
	for (each_conn(conn, pool)) {
		if (!pooled_conn_is_ready(conn))
			continue;
		if (conn->in_flight > 0) {
			pooled_conn_check_overdue(conn);
		} else if (conn != pool->conns && is_shared(conn) &&
		           now_ms - conn->used_ms > pool->settings.idle_close_ms) {
			pg_link_close(conn->link);
		}
	}
	pool_probe(pool);
	pg_batch_sweep(pool);
	pg_pool_run(pool);
}

static uint64_t or_default(uint64_t value, uint64_t fallback)
{
	return value ? value : fallback;
}

struct pg_pool *pg_pool_new(uv_loop_t *loop, const struct pg_settings *settings)
{
	uint64_t statement_timeout_ms = or_default(settings->statement_timeout_ms, 30000);
	struct pg_target *target = pg_target_new(settings->url);
	const char *direct_url = settings->direct_url ? settings->direct_url : settings->url;
	struct pg_target *direct = target ? pg_target_new(direct_url) : NULL;
	if (!direct) {
		pg_target_free(target);
		return NULL;
	}
	struct pg_pool *pool = calloc(1, sizeof(*pool));
	require(pool);
	pool->loop = loop;
	pool->target = target;
	pool->direct = direct;
	pool->is_unprepared = settings->is_unprepared;
	pool->settings = (struct pg_settings){
		.connections = settings->connections > 0 ? settings->connections : 4,
		.connect_timeout_ms = or_default(settings->connect_timeout_ms, 5000),
		.pool_wait_ms = or_default(settings->pool_wait_ms, 2000),
		.idle_close_ms = or_default(settings->idle_close_ms, 60000),
		.statement_timeout_ms = statement_timeout_ms,
		.slow_ms = settings->slow_ms,
		.stuck_ms = or_default(settings->stuck_ms, 5000),
	};
	fair_queue_init(&pool->singles);
	fair_queue_init(&pool->begins);
	TAILQ_INIT(&pool->done);
	uv_timer_init(loop, &pool->wait_timer);
	uv_timer_init(loop, &pool->sweep_timer);
	uv_prepare_init(loop, &pool->flusher);
	uv_idle_init(loop, &pool->flush_hurry);
	pool->heard_ms = uv_now(loop);
	uv_timer_start(&pool->sweep_timer, on_sweep, PG_PROBE_MS, PG_PROBE_MS);
	uv_unref((uv_handle_t *)&pool->sweep_timer);
	pool->handles = 4;
	pool->conns = calloc((size_t)pool->settings.connections, sizeof(*pool->conns));
	require(pool->conns);
	for (each_conn(conn, pool)) {
		pooled_conn_init(conn, pool);
		pool->handles++;
	}
	pg_link_connect(pool->conns[0].link);
	return pool;
}

void pg_pool_handle_closed(struct pg_pool *pool)
{
	if (--pool->handles > 0)
		return;
	pg_target_free(pool->target);
	pg_target_free(pool->direct);
	free(pool->conns);
	free(pool);
}

static void on_listener_freed(void *context)
{
	pg_pool_handle_closed(context);
}

void pg_listen(struct pg_pool *pool, const char *channel, pg_listen_cb *cb, void *context)
{
	if (!pool->listener) {
		pool->listener =
			pg_listener_new(pool->loop, pool->direct, pool->settings.connect_timeout_ms,
		                        on_listener_freed, pool);
		pool->handles++;
	}
	pg_listener_add(pool->listener, channel, cb, context);
}

void pg_on_notices(struct pg_pool *pool, const struct pg_notice *notices, void *context)
{
	pool->notices = notices;
	pool->notice_context = context;
}

static void on_wait_timer_closed(uv_handle_t *handle)
{
	pg_pool_handle_closed(CONTAINER_OF(handle, struct pg_pool, wait_timer));
}

static void on_sweep_timer_closed(uv_handle_t *handle)
{
	pg_pool_handle_closed(CONTAINER_OF(handle, struct pg_pool, sweep_timer));
}

static void on_flusher_closed(uv_handle_t *handle)
{
	pg_pool_handle_closed(CONTAINER_OF(handle, struct pg_pool, flusher));
}

static void on_flush_hurry_closed(uv_handle_t *handle)
{
	pg_pool_handle_closed(CONTAINER_OF(handle, struct pg_pool, flush_hurry));
}

static void refuse_all(struct pg_pool *pool, struct fair_queue *queue)
{
	struct pg_statement *st;
	while ((st = pg_statement_of(fair_queue_first(queue)))) {
		pool_unqueue(pool, st);
		pg_pool_finish(pool, st, pg_fault(PG_FAULT_UNAVAILABLE));
	}
}

void pg_pool_free(struct pg_pool *pool)
{
	if (!pool)
		return;
	pool->is_freed = true;
	pg_listener_free(pool->listener);
	for (each_conn(conn, pool))
		pg_link_free(conn->link);
	refuse_all(pool, &pool->singles);
	refuse_all(pool, &pool->begins);
	uv_close((uv_handle_t *)&pool->wait_timer, on_wait_timer_closed);
	uv_close((uv_handle_t *)&pool->sweep_timer, on_sweep_timer_closed);
	uv_close((uv_handle_t *)&pool->flusher, on_flusher_closed);
	uv_close((uv_handle_t *)&pool->flush_hurry, on_flush_hurry_closed);
	pg_pool_run(pool);
}

const char *pg_pool_fault(const struct pg_pool *pool)
{
	for (each_conn(conn, pool)) {
		if (pooled_conn_is_ready(conn) && !pooled_conn_is_stuck(conn) &&
		    !pooled_conn_is_silent(conn))
			return NULL;
	}
	return pool_obstacle(pool)->summary;
}
