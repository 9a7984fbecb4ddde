#include "pg/batch.h"

#include "base/base.h"
#include "pg/pool.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* An item: on the stack of the fiber that waits for it. */
struct batch_item {
	STAILQ_ENTRY(batch_item) entry; /* of the waiting ones */
	struct request *rq;
	const char *json;
	size_t length;
	struct batch_item **slot; /* where its batch has it; NULL: it waits for a batch */
	bool is_over;             /* the members below are set */
	enum err_code code;
	const struct fault *fault;
	const char *constraint; /* this and the next: in the arena of `rq` */
	struct pg_rows *rows;
};

struct batch_key {
	const char *sql;
	struct uuid account;
};

/* The items of an account for a statement. Exists while a batch of them runs. */
struct pg_batch_queue {
	UT_hash_handle hh;
	struct batch_key key;
	struct worker *worker;
	STAILQ_HEAD(, batch_item) waiting;
};

/* The items that a statement runs for. */
struct batch {
	struct pg_batch_queue *queue;
	struct batch_item *items[PG_BATCH_MAX]; /* NULL: its request no longer waits */
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

/* Let the request of the slot go on with the outcome. */
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

/* Whether the failure may be that of one item: the others did nothing, and can succeed without
 * it. */
static bool is_of_one(enum err_code code)
{
	return code == ERR_CONFLICT || code == ERR_INVALID || code == ERR_CONTENTION ||
	       code == ERR_INTERNAL;
}

/* Run the statement for `count` items. False: it failed because of one of them, and they wait
 * on. */
static bool run_items(struct request *rq, const struct batch *batch, struct batch_item **slots,
                      size_t count)
{
	struct buf json = {.arena = rq->arena};
	for (size_t i = 0; i < count; i++) {
		buf_puts(&json, i == 0 ? "[" : ",");
		buf_add(&json, slots[i]->json, slots[i]->length);
	}
	buf_puts(&json, "]");
	struct pg_rows *rows;
	const char *constraint = NULL;
	rq->has_effects = false;
	enum err_code code = pg_try(rq, &rows, &constraint, batch->queue->key.sql,
	                            pg_uuid(batch->queue->key.account), pg_text(json.data));
	if (count > 1 && is_of_one(code))
		return false;
	for (size_t i = 0; i < count; i++) {
		struct batch_item *item = item_end(&slots[i], code, rq->pg_fault);
		if (!item)
			continue;
		item->rq->has_effects |= rq->has_effects;
		if (code)
			item->constraint = arena_strdup(item->rq->arena, constraint);
		else
			item->rows = copy_row(item->rq->arena, rows, i + 1);
	}
	return true;
}

static void batch_main(struct request *rq)
{
	struct batch *batch = rq->user;
	if (run_items(rq, batch, batch->items, batch->count))
		return;
	for (size_t i = 0; i < batch->count; i++) {
		request_page_begin(rq);
		if (batch->items[i])
			run_items(rq, batch, &batch->items[i], 1);
		request_page_end(rq);
	}
}

static void batch_start(struct pg_batch_queue *queue);

static void batch_over(struct request *rq)
{
	struct batch *batch = rq->user;
	struct pg_batch_queue *queue = batch->queue;
	enum err_code code = rq->problem.code ? rq->problem.code : ERR_UNAVAILABLE;
	for (size_t i = 0; i < batch->count; i++)
		item_end(&batch->items[i], code, pg_fault_of_code(code));
	free(batch);
	if (!STAILQ_EMPTY(&queue->waiting)) {
		batch_start(queue);
		return;
	}
	HASH_DEL(queue->worker->pg->batch_queues, queue);
	free(queue);
}

static void batch_start(struct pg_batch_queue *queue)
{
	const struct pg_settings *settings = &queue->worker->pg->settings;
	struct batch *batch = calloc(1, sizeof(*batch));
	require(batch);
	batch->queue = queue;
	struct batch_item *item;
	size_t bytes = 0;
	while ((item = STAILQ_FIRST(&queue->waiting)) && batch->count < PG_BATCH_MAX &&
	       bytes < PG_BATCH_BYTES_MAX) {
		STAILQ_REMOVE_HEAD(&queue->waiting, entry);
		item->slot = &batch->items[batch->count++];
		*item->slot = item;
		bytes += item->length;
	}
	request_spawn(queue->worker, batch->items[0]->rq->id,
	              settings->pool_wait_ms + settings->statement_timeout_ms, batch_main,
	              batch_over, batch);
}

static struct pg_batch_queue *queue_find(struct worker *worker, const struct batch_key *key)
{
	struct pg_batch_queue *queue;
	HASH_FIND(hh, worker->pg->batch_queues, key, sizeof(*key), queue);
	return queue;
}

static struct pg_batch_queue *queue_add(struct worker *worker, const struct batch_key *key)
{
	struct pg_batch_queue *queue = calloc(1, sizeof(*queue));
	require(queue);
	queue->key = *key;
	queue->worker = worker;
	STAILQ_INIT(&queue->waiting);
	HASH_ADD(hh, worker->pg->batch_queues, key, sizeof(queue->key), queue);
	return queue;
}

/* The request was cancelled: its item leaves the batch, or the queue. */
static void item_leave(struct pg_batch_queue *queue, struct batch_item *item, enum err_code reason)
{
	if (item->slot) {
		item->rq->has_effects = true; /* the statement may still be done */
		item_end(item->slot, reason, pg_fault_of_code(reason));
		return;
	}
	STAILQ_REMOVE(&queue->waiting, item, batch_item, entry);
	item_end(&item, reason, pg_fault_of_code(reason));
}

/* Wait as an item of the queue, whose next batch starts at once if none runs. */
static void item_wait(struct batch_item *item, const struct batch_key *key)
{
	struct worker *worker = item->rq->worker;
	struct pg_batch_queue *queue = queue_find(worker, key);
	bool is_running = queue != NULL;
	queue = queue ? queue : queue_add(worker, key);
	STAILQ_INSERT_TAIL(&queue->waiting, item, entry);
	if (!is_running)
		batch_start(queue);
	while (!item->is_over) {
		enum err_code reason = fiber_wait();
		if (reason != ERR_NONE && !item->is_over)
			item_leave(queue, item, reason);
	}
}

/* Run the statement for one item now. */
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
	if (pg_in_transaction(rq) || fiber_cancelled(rq->fiber))
		return run_alone(rq, ret_rows, ret_constraint, sql, json);
	struct batch_item item = {.rq = rq, .json = json, .length = strlen(json)};
	struct batch_key key;
	memset(&key, 0, sizeof(key)); /* it is compared as bytes */
	key.sql = sql;
	key.account = rq->caller.account;
	item_wait(&item, &key);
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
