#include "pg/batch.h"

#include "base/base.h"
#include "pg/pool.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* A queue whose newest statement runs for so long starts another one beside it. */
#define SLOW_MS 20

/* An item: on the stack of the fiber that waits for it. */
struct batch_item {
	TAILQ_ENTRY(batch_item) entry; /* of the waiting ones */
	struct request *rq;
	const char *json;
	size_t length;
	struct batch_item **slot; /* its place in a batch; NULL: it waits for one */
	bool is_over;             /* it has left its batch, and the members below are set */
	bool is_alone;            /* it is to run alone; the outcome is not set */
	enum err_code code;
	const struct fault *fault;
	const char *constraint; /* this and the next: in the arena of `rq` */
	struct pg_rows *rows;
};

struct batch_key {
	const char *sql;
	struct uuid account;
};

/* The items of an account for a statement. Exists while the statement runs for some. */
struct pg_batch_queue {
	UT_hash_handle hh;
	struct batch_key key;
	struct worker *worker;
	TAILQ_HEAD(, batch_item) waiting;
	int running;         /* statements */
	uint64_t started_ms; /* uv_now() of the newest */
};

/* The items that one statement runs for. */
struct batch {
	struct pg_batch_queue *queue;
	struct batch_item *items[PG_BATCH_MAX]; /* NULL: it has left */
	size_t count;
};

/* Copy the row of an item, if it has one, without its number, which is the first column. Items are
 * counted from 1. */
static struct pg_rows *copy_row(struct arena *arena, const struct pg_rows *rows, size_t number)
{
	struct pg_rows *copy = arena_new_of(arena, struct pg_rows);
	int row = 0;
	while (row < rows->count && pg_value_int(rows, row, 0) != (int64_t)number)
		row++;
	copy->columns = rows->columns - 1;
	copy->count = row < rows->count;
	size_t columns = copy->count ? (size_t)copy->columns : 0;
	copy->values = arena_array(arena, columns, sizeof(*copy->values));
	copy->lengths = arena_array(arena, columns, sizeof(*copy->lengths));
	for (size_t i = 0; i < columns; i++) {
		size_t from = (size_t)row * (size_t)rows->columns + 1 + i;
		copy->values[i] = arena_strdup(arena, rows->values[from]);
		copy->lengths[i] = rows->lengths[from];
	}
	return copy;
}

/* Take the item from its slot, and let its request go on. NULL: it has left before. */
static struct batch_item *item_end(struct batch_item **slot, enum err_code code,
                                   const struct fault *fault)
{
	struct batch_item *item = *slot;
	if (!item)
		return NULL;
	*slot = NULL;
	item->is_over = true;
	item->code = code;
	item->fault = fault;
	fiber_wake(item->rq->fiber);
	return item;
}

/* Whether a statement for several items failed in a way that it may not fail for each alone. The
 * server has rolled it back. */
static bool may_be_of_one(const struct request *rq, enum err_code code)
{
	if (code == ERR_TIMEOUT)
		return !fiber_cancelled(rq->fiber); /* the server's limit, not the deadline */
	return code == ERR_CONFLICT || code == ERR_INVALID || code == ERR_CONTENTION ||
	       code == ERR_INTERNAL;
}

static const char *batch_json(struct arena *arena, const struct batch *batch)
{
	struct buf json = {.arena = arena};
	for (size_t i = 0; i < batch->count; i++) {
		buf_puts(&json, i == 0 ? "[" : ",");
		buf_add(&json, batch->items[i]->json, batch->items[i]->length);
	}
	buf_puts(&json, "]");
	return json.data;
}

static void batch_main(struct request *rq)
{
	struct batch *batch = rq->user;
	const struct batch_key *key = &batch->queue->key;
	struct pg_rows *rows;
	const char *constraint = NULL;
	enum err_code code = pg_try(rq, &rows, &constraint, key->sql, pg_uuid(key->account),
	                            pg_text(batch_json(rq->arena, batch)));
	bool is_alone = batch->count > 1 && may_be_of_one(rq, code);
	for (size_t i = 0; i < batch->count; i++) {
		struct batch_item *item = item_end(&batch->items[i], code, rq->pg_fault);
		if (!item)
			continue;
		item->is_alone = is_alone;
		item->rq->has_effects |= rq->has_effects && !is_alone;
		if (code)
			item->constraint = arena_strdup(item->rq->arena, constraint);
		else
			item->rows = copy_row(item->rq->arena, rows, i + 1);
	}
}

static void queue_leave(struct pg_batch_queue *queue);

static void batch_over(struct request *rq)
{
	struct batch *batch = rq->user;
	struct pg_batch_queue *queue = batch->queue;
	enum err_code code = rq->problem.code ? rq->problem.code : ERR_UNAVAILABLE;
	for (size_t i = 0; i < batch->count; i++)
		item_end(&batch->items[i], code, pg_fault_of_code(code));
	free(batch);
	queue_leave(queue);
}

/* Move the items that wait to a batch, as many as it takes. Cancelled ones end here: nothing is
 * sent for them. */
static void batch_fill(struct batch *batch, struct pg_batch_queue *queue)
{
	struct batch_item *item;
	size_t bytes = 0;
	while ((item = TAILQ_FIRST(&queue->waiting)) && batch->count < PG_BATCH_MAX &&
	       bytes < PG_BATCH_BYTES_MAX) {
		TAILQ_REMOVE(&queue->waiting, item, entry);
		enum err_code reason = fiber_cancelled(item->rq->fiber);
		if (reason) {
			item_end(&item, reason, pg_fault_of_code(reason));
			continue;
		}
		item->slot = &batch->items[batch->count++];
		*item->slot = item;
		bytes += item->length;
	}
}

/* Run the statement for items that wait. The queue must be held: a batch may end within this
 * call. */
static void batch_start(struct pg_batch_queue *queue)
{
	const struct pg_pool *pool = queue->worker->pg;
	struct batch *batch = calloc(1, sizeof(*batch));
	require(batch);
	batch->queue = queue;
	batch_fill(batch, queue);
	if (batch->count == 0) {
		free(batch);
		return;
	}
	queue->running++;
	queue->started_ms = uv_now(pool->loop);
	request_spawn(queue->worker, batch->items[0]->rq->id,
	              pool->settings.pool_wait_ms + pool->settings.statement_timeout_ms, batch_main,
	              batch_over, batch);
}

static bool queue_is_slow(const struct pg_batch_queue *queue)
{
	return uv_now(queue->worker->pg->loop) - queue->started_ms > SLOW_MS;
}

/* A statement of the queue is over. It holds the queue until the next one has started. */
static void queue_leave(struct pg_batch_queue *queue)
{
	while (!TAILQ_EMPTY(&queue->waiting) && (queue->running == 1 || queue_is_slow(queue)))
		batch_start(queue);
	if (--queue->running > 0)
		return;
	HASH_DEL(queue->worker->pg->batch_queues, queue);
	free(queue);
}

static struct pg_batch_queue *queue_find(struct worker *worker, const struct batch_key *key)
{
	struct pg_batch_queue *queue;
	HASH_FIND(hh, worker->pg->batch_queues, key, sizeof(*key), queue);
	return queue;
}

/* A queue for which a statement starts. */
static struct pg_batch_queue *queue_add(struct worker *worker, const struct batch_key *key)
{
	struct pg_batch_queue *queue = calloc(1, sizeof(*queue));
	require(queue);
	queue->key = *key;
	queue->worker = worker;
	queue->running = 1;
	queue->started_ms = uv_now(worker->pg->loop);
	TAILQ_INIT(&queue->waiting);
	HASH_ADD(hh, worker->pg->batch_queues, key, sizeof(queue->key), queue);
	return queue;
}

void pg_batch_sweep(struct pg_pool *pool)
{
	for (struct pg_batch_queue *queue = pool->batch_queues; queue; queue = queue->hh.next) {
		if (!TAILQ_EMPTY(&queue->waiting) && queue_is_slow(queue))
			batch_start(queue);
	}
}

/* The request was cancelled: its item leaves the batch, or the queue. ERR_UNAVAILABLE, by which a
 * process ends its requests, says that nothing was done. */
static void item_leave(struct pg_batch_queue *queue, struct batch_item *item, enum err_code reason)
{
	bool may_be_done = item->slot && !pg_statement_is_read(queue->key.sql);
	if (may_be_done && reason == ERR_UNAVAILABLE)
		reason = ERR_UNCERTAIN;
	item->rq->has_effects |= may_be_done;
	if (!item->slot)
		TAILQ_REMOVE(&queue->waiting, item, entry);
	item_end(item->slot ? item->slot : &item, reason, pg_fault_of_code(reason));
}

static void item_wait(struct pg_batch_queue *queue, struct batch_item *item)
{
	TAILQ_INSERT_TAIL(&queue->waiting, item, entry);
	if (queue_is_slow(queue))
		batch_start(queue);
	while (!item->is_over) {
		enum err_code reason = fiber_wait();
		if (reason != ERR_NONE && !item->is_over)
			item_leave(queue, item, reason);
	}
}

/* Run the statement for one item, in the fiber of its request. */
static enum err_code run_alone(struct request *rq, struct pg_rows **ret_rows,
                               const char **ret_constraint, const char *sql, const char *json)
{
	struct pg_rows *rows;
	enum err_code code = pg_try(rq, &rows, ret_constraint, sql, pg_uuid(rq->caller.account),
	                            pg_text(arena_printf(rq->arena, "[%s]", json)));
	if (!code)
		*ret_rows = copy_row(rq->arena, rows, 1);
	return code;
}

enum err_code pg_batch_try(struct request *rq, struct pg_rows **ret_rows,
                           const char **ret_constraint, const char *sql, const char *json)
{
	if (pg_in_transaction(rq))
		return run_alone(rq, ret_rows, ret_constraint, sql, json);
	struct batch_key key;
	memset(&key, 0, sizeof(key)); /* it is compared as bytes */
	key.sql = sql;
	key.account = rq->caller.account;
	struct pg_batch_queue *queue = queue_find(rq->worker, &key);
	if (!queue) {
		queue = queue_add(rq->worker, &key);
		enum err_code code = run_alone(rq, ret_rows, ret_constraint, sql, json);
		queue_leave(queue);
		return code;
	}
	struct batch_item item = {.rq = rq, .json = json, .length = strlen(json)};
	item_wait(queue, &item);
	if (item.is_alone)
		return run_alone(rq, ret_rows, ret_constraint, sql, json);
	if (item.code)
		rq->pg_fault = item.fault;
	else
		*ret_rows = item.rows;
	if (ret_constraint)
		*ret_constraint = item.constraint;
	return item.code;
}

struct pg_rows *pg_batch_query(struct request *rq, const char *sql, const char *json)
{
	struct pg_rows *rows;
	enum err_code code = pg_batch_try(rq, &rows, NULL, sql, json);
	if (code)
		pg_raise(rq, code);
	return rows;
}
