#include "base/base.h"
#include "pg/internal.h"

#include <stdlib.h>

/* Statements are packed onto one connection as long as they wait there no longer than this for
 * those before them: short ones cost least in one deep pipeline, long ones run side by side. */
#define PACK_US  500
#define PACK_MAX 32
/* No more than this many are sent on one connection; the rest waits in the pool's queue, from where
 * any connection may take them. */
#define DEPTH_MAX 128
/* A connection whose oldest statement has run that long gets no new ones while there is another. */
#define STALL_MS     3
#define SWEEP_MS     1000
#define WAIT_STEP_MS 10 /* granularity of giving up */

static bool line_is_shared(const struct pg_line *line)
{
	return pg_line_is_ready(line) && line->transaction == NULL && !line->is_ending &&
	       !line->is_standby;
}

static bool line_is_stalled(const struct pg_line *line)
{
	return line->in_flight > 0 && uv_now(line->pool->loop) - line->progress_ms > STALL_MS;
}

/* Whether one more connection is on its way, made now if there may be one. None is while the server
 * refuses: the lines that back off come first. */
static bool pool_grow(struct pg_pool *pool)
{
	struct pg_line *closed = NULL;
	for (each_line(line, pool)) {
		switch (pg_conn_state(line->conn)) {
		case PG_CONN_RESOLVING:
		case PG_CONN_CONNECTING:
			return true;
		case PG_CONN_BROKEN:
			return false;
		case PG_CONN_CLOSED:
			closed = closed == NULL ? line : closed;
			break;
		default:
			break;
		}
	}
	if (closed == NULL || pool->is_freed)
		return false;
	pg_conn_connect(closed->conn);
	return pg_conn_state(closed->conn) != PG_CONN_BROKEN;
}

/* How many statements of the usual length make PACK_US. */
static size_t pool_pack_depth(const struct pg_pool *pool)
{
	return MIN_OF(MAX_OF(PACK_US / MAX_OF(pool->usual_us, 1), 1), PACK_MAX);
}

static bool line_is_better(const struct pg_line *line, const struct pg_line *than)
{
	if (than == NULL || line_is_stalled(line) != line_is_stalled(than))
		return than == NULL || line_is_stalled(than);
	return line->in_flight < than->in_flight;
}

/* The first line with room in its pack, so that the later ones fall idle; else, until there is
 * another, the one with the least under way. */
static struct pg_line *pool_line_for_statement(struct pg_pool *pool)
{
	struct pg_line *best = NULL;
	for (each_line(line, pool)) {
		if (!line_is_shared(line) || line->is_reserved || line->in_flight >= DEPTH_MAX ||
		    pg_line_is_stuck(line))
			continue;
		if (line->in_flight < pool_pack_depth(pool) && !line_is_stalled(line))
			return line;
		if (line_is_better(line, best))
			best = line;
	}
	if (pool_grow(pool) && (best == NULL || line_is_stalled(best)))
		return NULL;
	return best != NULL && pg_line_is_ready(best) ? best : NULL;
}

/* All but one may belong to transactions, so that single statements always get through. */
static int pool_transactions_max(const struct pg_pool *pool)
{
	return MAX_OF(1, pool->settings.connections - 1);
}

/* An idle line for a transaction, from the end, where single statements come last. Where there is
 * none, one is made or kept free. */
static struct pg_line *pool_line_for_transaction(struct pg_pool *pool)
{
	struct pg_line *idle = NULL, *busy = NULL;
	int taken = 0, reserved = 0;
	for (each_line(line, pool)) {
		taken += line->transaction != NULL || line->is_ending;
		reserved += line->is_reserved;
		if (line_is_shared(line) && line->in_flight == 0)
			idle = line;
		else if (line_is_shared(line) && !line->is_reserved &&
		         (busy == NULL || line->in_flight <= busy->in_flight))
			busy = line;
	}
	if (taken >= pool_transactions_max(pool))
		return NULL;
	if (idle != NULL)
		return idle;
	if (busy != NULL && taken + reserved < pool_transactions_max(pool) && !pool_grow(pool) &&
	    pg_line_is_ready(busy))
		busy->is_reserved = true;
	else if (busy == NULL)
		pool_grow(pool);
	return NULL;
}

static void pool_serve(struct pg_pool *pool)
{
	struct pg_line *line;
	while (!pg_link_empty(&pool->begins) && (line = pool_line_for_transaction(pool)) != NULL) {
		struct pg_statement *st = pg_queue_first(&pool->begins);
		pg_pool_unqueue(pool, st);
		pg_transaction_start(st->transaction, line, st);
	}
	for (each_line(one, pool))
		one->is_reserved = one->is_reserved && !pg_link_empty(&pool->begins);
	while (!pg_link_empty(&pool->statements) &&
	       (line = pool_line_for_statement(pool)) != NULL) {
		struct pg_statement *st = pg_queue_first(&pool->statements);
		pg_pool_unqueue(pool, st);
		pg_line_send(line, st);
	}
}

/* Whether there was one to wake. */
static bool pool_wake(struct pg_pool *pool)
{
	bool has_woken = false;
	while (!pg_link_empty(&pool->done)) {
		struct pg_statement *st = pg_queue_first(&pool->done);
		pg_link_remove(&st->link);
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

/* Give up on those that have waited for too long. */
static void queue_expire(struct pg_pool *pool, struct pg_link *queue, uint64_t *earliest_ms)
{
	uint64_t now_ms = uv_now(pool->loop);
	for (struct pg_link *link = queue->next, *next; link != queue; link = next) {
		struct pg_statement *st = CONTAINER_OF(link, struct pg_statement, link);
		next = link->next;
		if (st->wait_until_ms > now_ms) {
			*earliest_ms = MIN_OF(*earliest_ms, st->wait_until_ms);
			continue;
		}
		pg_pool_unqueue(pool, st);
		pg_statement_done(pool, st, ERR_UNAVAILABLE);
	}
}

static void on_wait_timer(uv_timer_t *timer)
{
	struct pg_pool *pool = CONTAINER_OF(timer, struct pg_pool, wait_timer);
	uint64_t now_ms = uv_now(pool->loop), earliest_ms = UINT64_MAX;
	queue_expire(pool, &pool->statements, &earliest_ms);
	queue_expire(pool, &pool->begins, &earliest_ms);
	if (earliest_ms != UINT64_MAX)
		uv_timer_start(timer, on_wait_timer, MAX_OF(earliest_ms - now_ms, WAIT_STEP_MS), 0);
	pg_pool_run(pool);
}

static void pool_enqueue(struct pg_pool *pool, struct pg_statement *st, bool in_front)
{
	struct pg_link *queue = st->kind == PG_BEGIN ? &pool->begins : &pool->statements;
	uint64_t now_ms = uv_now(pool->loop);
	st->state = PG_STATEMENT_WAITING;
	pg_link_after(in_front ? queue : queue->prev, &st->link);
	pool->waiting++;
	pg_metrics_gauge(PG_GAUGE_WAITING, 1);
	if (!uv_is_active((uv_handle_t *)&pool->wait_timer) && !pool->is_freed)
		uv_timer_start(&pool->wait_timer, on_wait_timer,
		               MAX_OF(st->wait_until_ms, now_ms + WAIT_STEP_MS) - now_ms, 0);
}

void pg_pool_requeue(struct pg_pool *pool, struct pg_statement *st)
{
	pg_link_remove(&st->link);
	pool_enqueue(pool, st, true);
}

void pg_pool_unqueue(struct pg_pool *pool, struct pg_statement *st)
{
	pg_link_remove(&st->link);
	pool->waiting--;
	pg_metrics_gauge(PG_GAUGE_WAITING, -1);
}

void pg_pool_submit(struct pg_pool *pool, struct pg_statement *st)
{
	if (pool->is_freed) {
		pg_statement_done(pool, st, ERR_UNAVAILABLE);
		return;
	}
	st->wait_until_ms = uv_now(pool->loop) + pool->settings.pool_wait_ms;
	pool_enqueue(pool, st, false);
	pg_pool_run(pool);
}

static void on_flush(uv_prepare_t *prepare)
{
	struct pg_pool *pool = CONTAINER_OF(prepare, struct pg_pool, flusher);
	uv_prepare_stop(prepare);
	for (each_line(line, pool)) {
		if (!line->is_dirty)
			continue;
		line->is_dirty = false;
		pg_conn_flush(line->conn);
	}
}

void pg_pool_flush_soon(struct pg_pool *pool)
{
	if (!pool->is_freed)
		uv_prepare_start(&pool->flusher, on_flush);
}

/* Close idle connections past the first, and those whose server has gone silent. */
static void on_sweep(uv_timer_t *timer)
{
	struct pg_pool *pool = CONTAINER_OF(timer, struct pg_pool, sweep_timer);
	uint64_t now_ms = uv_now(pool->loop);
	for (each_line(line, pool)) {
		if (!pg_line_is_ready(line))
			continue;
		if (line->in_flight > 0) {
			pg_line_check_silence(line);
		} else if (line != pool->lines && line_is_shared(line) &&
		           now_ms - line->used_ms > pool->settings.idle_close_ms) {
			pg_conn_close(line->conn);
		}
	}
	pg_pool_run(pool);
}

static uint64_t or_default(uint64_t value, uint64_t fallback)
{
	return value == 0 ? fallback : value;
}

static void pool_init_handles(struct pg_pool *pool)
{
	uv_timer_init(pool->loop, &pool->wait_timer);
	uv_timer_init(pool->loop, &pool->sweep_timer);
	uv_prepare_init(pool->loop, &pool->flusher);
	uv_timer_start(&pool->sweep_timer, on_sweep, SWEEP_MS, SWEEP_MS);
	uv_unref((uv_handle_t *)&pool->sweep_timer);
	pool->handles = 3;
}

struct pg_pool *pg_pool_new(uv_loop_t *loop, const struct pg_settings *settings)
{
	uint64_t statement_timeout_ms = or_default(settings->statement_timeout_ms, 30000);
	struct pg_target *target =
		pg_target_new(settings->url, settings->schema, statement_timeout_ms);
	if (target == NULL)
		return NULL;
	struct pg_pool *pool = calloc(1, sizeof(*pool));
	require(pool != NULL);
	pool->loop = loop;
	pool->target = target;
	pool->settings = (struct pg_settings){
		.connections = settings->connections > 0 ? settings->connections : 4,
		.connect_timeout_ms = or_default(settings->connect_timeout_ms, 5000),
		.pool_wait_ms = or_default(settings->pool_wait_ms, 2000),
		.idle_close_ms = or_default(settings->idle_close_ms, 60000),
		.statement_timeout_ms = statement_timeout_ms,
		.stuck_ms = or_default(settings->stuck_ms, 5000),
	};
	pg_metrics_register();
	pg_link_init(&pool->statements);
	pg_link_init(&pool->begins);
	pg_link_init(&pool->done);
	pool_init_handles(pool);
	pool->lines = calloc((size_t)pool->settings.connections, sizeof(*pool->lines));
	require(pool->lines != NULL);
	for (each_line(line, pool)) {
		line->pool = pool;
		pg_link_init(&line->sent);
		line->conn = pg_conn_new(loop, target, pool->settings.connect_timeout_ms,
		                         &pg_line_owner, line);
		pool->handles++;
	}
	pg_conn_connect(pool->lines[0].conn);
	return pool;
}

void pg_pool_handle_closed(struct pg_pool *pool)
{
	if (--pool->handles > 0)
		return;
	pg_target_free(pool->target);
	free(pool->lines);
	free(pool);
}

#define pool_of(handle, member) CONTAINER_OF(handle, struct pg_pool, member)

static void on_wait_timer_closed(uv_handle_t *handle)
{
	pg_pool_handle_closed(pool_of(handle, wait_timer));
}

static void on_sweep_timer_closed(uv_handle_t *handle)
{
	pg_pool_handle_closed(pool_of(handle, sweep_timer));
}

static void on_flusher_closed(uv_handle_t *handle)
{
	pg_pool_handle_closed(pool_of(handle, flusher));
}

static void queue_refuse(struct pg_pool *pool, struct pg_link *queue)
{
	while (!pg_link_empty(queue)) {
		struct pg_statement *st = pg_queue_first(queue);
		pg_pool_unqueue(pool, st);
		pg_statement_done(pool, st, ERR_UNAVAILABLE);
	}
}

void pg_pool_free(struct pg_pool *pool)
{
	if (pool == NULL)
		return;
	pool->is_freed = true;
	pg_listener_free(pool->listener);
	for (each_line(line, pool))
		pg_conn_free(line->conn);
	queue_refuse(pool, &pool->statements);
	queue_refuse(pool, &pool->begins);
	uv_close((uv_handle_t *)&pool->wait_timer, on_wait_timer_closed);
	uv_close((uv_handle_t *)&pool->sweep_timer, on_sweep_timer_closed);
	uv_close((uv_handle_t *)&pool->flusher, on_flusher_closed);
	pg_pool_run(pool);
}

bool pg_pool_is_up(const struct pg_pool *pool)
{
	for (each_line(line, pool)) {
		if (pg_line_is_ready(line) && !pg_line_is_stuck(line))
			return true;
	}
	return false;
}
