#include "pg/batch.h"

#include "base/base.h"
#include "pacing/fair_queue.h"
#include "pg/pool.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* A queue whose newest statement runs for twice as long as is usual, and for so long at least,
 * starts another one beside it. */
#define SLOW_MIN_MS 20
#define SLOW_MAX_MS 250

#define APART_MS  1000
#define APART_MAX 8 /* accounts; of more, the newest */

#define LIMITS_SQL \
	"SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true)"
#define LOCK_TIMEOUT_ALONE "1s"
#define STATEMENT_TIMEOUT  "2s"

const char *pg_batch_lock_timeout = "200ms";

/* An item: on the stack of the fiber that waits for it. */
struct batch_item {
	struct fair_entry entry; /* of the waiting ones */
	struct request *rq;
	const struct pg_call *first; /* NULL: none */
	const struct pg_call *call;
	size_t length;            /* bytes of its parameters */
	struct batch_item **slot; /* its place in a batch; NULL: it waits for one */
	bool is_over;             /* it has left its batch, and the members below are set */
	bool is_alone;            /* it is to run alone; the outcome is not set */
	enum err_code code;
	const struct fault *fault;
	const char *constraint; /* this and the next: in the arena of `rq` */
	struct pg_rows *rows;
};

/* The items for a statement. Exists while the statement runs for some. */
struct pg_batch_queue {
	UT_hash_handle hh;
	const char *sql;
	struct worker *worker;
	struct fair_queue waiting;
	int running;         /* statements */
	uint64_t started_ms; /* uv_now() of the newest */
	uint64_t usual_ms;   /* what its last statements took, on average */
	struct {
		struct uuid account;
		uint64_t until_ms; /* uv_now() */
	} apart[APART_MAX];        /* accounts whose items run alone, since one has failed */
	unsigned apart_count;
};

/* The items that one statement runs for. */
struct batch {
	struct pg_batch_queue *queue;
	struct batch_item *items[PG_BATCH_MAX]; /* NULL: it has left */
	size_t count;
};

/* --- The statement ---------------------------------------------------------------------------- */

/* Append an element to an array of texts: `{"a","b"` and so on. NULL: SQL NULL. */
static void array_add(struct buf *array, const char *text)
{
	buf_puts(array, array->length ? "," : "{");
	if (!text) {
		buf_puts(array, "NULL");
		return;
	}
	buf_puts(array, "\"");
	for (;;) {
		size_t plain = strcspn(text, "\"\\");
		buf_add(array, text, plain);
		text += plain;
		if (!*text)
			break;
		buf_puts(array, "\\");
		buf_add(array, text++, 1);
	}
	buf_puts(array, "\"");
}

/* The shared statement, each of whose parameters is the array of those of the items. */
static struct pg_call shared_call(struct arena *arena, struct batch_item *const *items,
                                  size_t count)
{
	const struct pg_call *shape = items[0]->call;
	struct pg_param *arrays = arena_array(arena, shape->count + 1, sizeof(*arrays));
	for (size_t param = 1; param <= shape->count; param++) {
		struct buf array = {.arena = arena};
		for (size_t i = 0; i < count; i++)
			array_add(&array, items[i]->call->params[param].text);
		buf_puts(&array, "}");
		arrays[param] = pg_text(array.data);
	}
	return (struct pg_call){.sql = shape->sql, .params = arrays, .count = shape->count};
}

/* A copy, since the item's request may end before the batch does. */
static struct pg_call call_copy(struct arena *arena, const struct pg_call *call)
{
	struct pg_param *params = arena_array(arena, call->count + 1, sizeof(*params));
	for (size_t i = 1; i <= call->count; i++)
		params[i] = pg_text(arena_strdup(arena, call->params[i].text));
	return (struct pg_call){.sql = call->sql, .params = params, .count = call->count};
}

/* Run the statement for the items, behind their own first ones, in one transaction. `lock_timeout`
 * NULL: the limits are those of any statement. */
static enum err_code run_items(struct request *rq, struct batch_item *const *items, size_t count,
                               const char *lock_timeout, struct pg_rows **ret_rows,
                               const char **ret_constraint)
{
	struct pg_call *calls = arena_array(rq->arena, count + 2, sizeof(*calls));
	const struct pg_param limits[] = {{NULL},
	                                  pg_text(lock_timeout),
	                                  pg_text(STATEMENT_TIMEOUT)};
	size_t calls_count = 0;
	if (lock_timeout)
		calls[calls_count++] =
			(struct pg_call){.sql = LIMITS_SQL, .params = limits, .count = 2};
	for (size_t i = 0; i < count; i++)
		if (items[i]->first)
			calls[calls_count++] = call_copy(rq->arena, items[i]->first);
	calls[calls_count++] = shared_call(rq->arena, items, count);
	if (calls_count == 1)
		return pg_try_call(rq, ret_rows, ret_constraint, calls);
	return pg_try_all(rq, ret_rows, ret_constraint, calls, calls_count);
}

/* The number of the item that a row is for, which is the first column. Items are counted from 1. */
static int64_t number_of_row(const struct pg_rows *rows, int row)
{
	return strtoll(rows->values[(size_t)row * (size_t)rows->columns], NULL, 10);
}

/* Copy the row of an item, if it has one, without its number. */
static struct pg_rows *copy_row(struct arena *arena, const struct pg_rows *rows, size_t number)
{
	struct pg_rows *copy = arena_new_of(arena, struct pg_rows);
	int row = 0;
	while (row < rows->count && number_of_row(rows, row) != (int64_t)number)
		row++;
	copy->columns = rows->columns - 1;
	copy->next = arena_new_of(arena, int);
	copy->names = arena_array(arena, (size_t)copy->columns, sizeof(*copy->names));
	for (int i = 0; i < copy->columns; i++)
		copy->names[i] = arena_strdup(arena, rows->names[i + 1]);
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

/* Run the statement for one item, in the fiber of its request. */
static enum err_code run_alone(struct request *rq, struct batch_item *item,
                               struct pg_rows **ret_rows, const char **ret_constraint)
{
	struct pg_rows *rows;
	enum err_code code = run_items(rq, &item, 1, item->first ? LOCK_TIMEOUT_ALONE : NULL, &rows,
	                               ret_constraint);
	if (!code)
		*ret_rows = copy_row(rq->arena, rows, 1);
	return code;
}

static enum err_code run_in_transaction(struct request *rq, struct batch_item *item,
                                        struct pg_rows **ret_rows, const char **ret_constraint)
{
	struct batch_item rest = *item;
	struct pg_rows *dropped;
	rest.first = NULL;
	enum err_code code =
		item->first ? pg_try_call(rq, &dropped, ret_constraint, item->first) : ERR_NONE;
	return code ? code : run_alone(rq, &rest, ret_rows, ret_constraint);
}

/* --- Batches ---------------------------------------------------------------------------------- */

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

/* Whether a statement failed in a way that may be due to one item. The server has rolled it
 * back. */
static bool may_be_of_one(const struct request *rq, enum err_code code)
{
	if (code == ERR_TIMEOUT)
		return !fiber_cancelled(rq->fiber); /* the server's limit, not the deadline */
	return code == ERR_CONFLICT || code == ERR_INVALID || code == ERR_CONTENTION ||
	       code == ERR_INTERNAL;
}

/* The account's item has failed by itself. */
static void set_apart(struct pg_batch_queue *queue, const struct uuid *account)
{
	unsigned i = queue->apart_count++ % APART_MAX;
	queue->apart[i].account = *account;
	queue->apart[i].until_ms = uv_now(queue->worker->pg->loop) + APART_MS;
}

/* The items of the batch that one run of the statement is for. */
struct part {
	struct batch_item **slots[PG_BATCH_MAX];
	struct batch_item *items[PG_BATCH_MAX];
	size_t count;
};

/* Those among `count` slots whose requests still wait. */
static struct part part_of(struct batch_item **slots, size_t count)
{
	struct part part = {0};
	for (size_t i = 0; i < count; i++) {
		if (!slots[i])
			continue;
		part.slots[part.count] = &slots[i];
		part.items[part.count++] = slots[i];
	}
	return part;
}

/* How long the statement may wait for a lock: less when it has several items to delay. */
static const char *lock_timeout_of(const struct batch *batch, const struct part *part)
{
	if (batch->count > 1 && !pg_statement_is_read(batch->queue->sql))
		return pg_batch_lock_timeout;
	return part->items[0]->first ? LOCK_TIMEOUT_ALONE : NULL;
}

static bool queue_is_slow(const struct pg_batch_queue *queue)
{
	uint64_t ran_ms = uv_now(queue->worker->pg->loop) - queue->started_ms;
	return ran_ms > SLOW_MAX_MS || ran_ms > MAX_OF(2 * queue->usual_ms, SLOW_MIN_MS);
}

/* A statement of the queue that succeeded took so long. Where the server is busy all take long, and
 * would take longer the more run at once. */
static void queue_learn(struct pg_batch_queue *queue, uint64_t took_ms)
{
	queue->usual_ms = (7 * queue->usual_ms + took_ms + 7) / 8;
}

/* Run the statement for `count` items of the batch. If one of them makes it fail, each half by
 * itself: the others are not held up, and an item that fails alone is to blame. */
static void batch_run(struct request *rq, struct batch *batch, size_t from, size_t count)
{
	struct part *part = arena_new_of(rq->arena, struct part);
	*part = part_of(batch->items + from, count);
	struct pg_rows *rows;
	const char *constraint = NULL;
	if (part->count == 0)
		return;
	rq->has_effects = false;
	uint64_t started_ms = uv_now(rq->worker->pg->loop);
	enum err_code code = run_items(rq, part->items, part->count, lock_timeout_of(batch, part),
	                               &rows, &constraint);
	if (!code)
		queue_learn(batch->queue, uv_now(rq->worker->pg->loop) - started_ms);
	bool is_of_one = batch->count > 1 && may_be_of_one(rq, code);
	if (is_of_one && part->count > 1) {
		batch_run(rq, batch, from, count / 2);
		batch_run(rq, batch, from + count / 2, count - count / 2);
		return;
	}
	for (size_t i = 0; i < part->count; i++) {
		struct batch_item *item = item_end(part->slots[i], code, rq->pg_fault);
		if (!item)
			continue;
		if (is_of_one)
			set_apart(batch->queue, &item->rq->caller.account);
		/* What has waited for a lock, or taken long, goes on without these limits, where it
		 * delays no others. */
		item->is_alone = is_of_one && (code == ERR_CONTENTION || code == ERR_TIMEOUT);
		item->rq->has_effects |= rq->has_effects && !item->is_alone;
		if (code)
			item->constraint = arena_strdup(item->rq->arena, constraint);
		else
			item->rows = copy_row(item->rq->arena, rows, i + 1);
	}
}

static void batch_main(struct request *rq)
{
	struct batch *batch = rq->user;
	batch_run(rq, batch, 0, batch->count);
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
	struct fair_entry *entry;
	size_t bytes = 0;
	while ((entry = fair_queue_first(&queue->waiting)) && batch->count < PG_BATCH_MAX &&
	       bytes < PG_BATCH_BYTES_MAX) {
		struct batch_item *item = CONTAINER_OF(entry, struct batch_item, entry);
		enum err_code reason = fiber_cancelled(item->rq->fiber);
		fair_queue_serve(&queue->waiting, entry);
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

/* Whether items of the account run alone now. */
static bool is_apart(const struct pg_batch_queue *queue, const struct uuid *account)
{
	uint64_t now_ms = uv_now(queue->worker->pg->loop);
	for (size_t i = 0; i < APART_MAX; i++) {
		if (queue->apart[i].until_ms > now_ms &&
		    uuid_equal(&queue->apart[i].account, account))
			return true;
	}
	return false;
}

/* A statement of the queue is over. It holds the queue until the next one has started. */
static void queue_leave(struct pg_batch_queue *queue)
{
	while (fair_queue_first(&queue->waiting) && (queue->running == 1 || queue_is_slow(queue)))
		batch_start(queue);
	if (--queue->running > 0)
		return;
	HASH_DEL(queue->worker->pg->batch_queues, queue);
	free(queue);
}

static struct pg_batch_queue *queue_find(struct worker *worker, const char *sql)
{
	struct pg_batch_queue *queue;
	HASH_FIND_PTR(worker->pg->batch_queues, &sql, queue);
	return queue;
}

/* A queue for which a statement starts. */
static struct pg_batch_queue *queue_add(struct worker *worker, const char *sql)
{
	struct pg_batch_queue *queue = calloc(1, sizeof(*queue));
	require(queue);
	queue->sql = sql;
	queue->worker = worker;
	queue->running = 1;
	queue->started_ms = uv_now(worker->pg->loop);
	fair_queue_init(&queue->waiting);
	HASH_ADD_PTR(worker->pg->batch_queues, sql, queue);
	return queue;
}

void pg_batch_sweep(struct pg_pool *pool)
{
	for (struct pg_batch_queue *queue = pool->batch_queues; queue; queue = queue->hh.next) {
		if (fair_queue_first(&queue->waiting) && queue_is_slow(queue))
			batch_start(queue);
	}
}

/* --- A request -------------------------------------------------------------------------------- */

/* The request was cancelled: its item leaves the batch, or the queue. ERR_UNAVAILABLE, by which a
 * process ends its requests, says that nothing was done. */
static void item_leave(struct pg_batch_queue *queue, struct batch_item *item, enum err_code reason)
{
	bool may_be_done = item->slot && !pg_statement_is_read(queue->sql);
	if (may_be_done && reason == ERR_UNAVAILABLE)
		reason = ERR_UNCERTAIN;
	item->rq->has_effects |= may_be_done;
	if (!item->slot)
		fair_queue_remove(&queue->waiting, &item->entry);
	item_end(item->slot ? item->slot : &item, reason, pg_fault_of_code(reason));
}

static void item_wait(struct pg_batch_queue *queue, struct batch_item *item)
{
	fair_queue_add(&queue->waiting, &item->entry, &item->rq->caller.account, 0);
	if (queue_is_slow(queue))
		batch_start(queue);
	while (!item->is_over) {
		enum err_code reason = fiber_wait();
		if (reason != ERR_NONE && !item->is_over)
			item_leave(queue, item, reason);
	}
}

static size_t bytes_of(const struct pg_call *call)
{
	size_t bytes = 0;
	for (size_t i = 1; i <= call->count; i++)
		bytes += call->params[i].text ? strlen(call->params[i].text) : 0;
	return bytes;
}

/* Run the item in a batch of the queue. */
static enum err_code run_shared(struct request *rq, struct pg_batch_queue *queue,
                                struct batch_item *item, struct pg_rows **ret_rows,
                                const char **ret_constraint)
{
	item->length = bytes_of(item->call);
	item_wait(queue, item);
	if (item->is_alone)
		return run_alone(rq, item, ret_rows, ret_constraint);
	if (item->code)
		rq->pg_fault = item->fault;
	else
		*ret_rows = item->rows;
	if (ret_constraint)
		*ret_constraint = item->constraint;
	return item->code;
}

enum err_code pg_batch_try_after(struct request *rq, struct pg_rows **ret_rows,
                                 const char **ret_constraint, const struct pg_call *first,
                                 const struct pg_call *item)
{
	struct batch_item own = {.rq = rq, .first = first, .call = item};
	if (pg_in_transaction(rq))
		return run_in_transaction(rq, &own, ret_rows, ret_constraint);
	struct pg_batch_queue *queue = queue_find(rq->worker, item->sql);
	if (queue && !is_apart(queue, &rq->caller.account))
		return run_shared(rq, queue, &own, ret_rows, ret_constraint);
	if (queue)
		return run_alone(rq, &own, ret_rows, ret_constraint);
	queue = queue_add(rq->worker, item->sql);
	enum err_code code = run_alone(rq, &own, ret_rows, ret_constraint);
	queue_leave(queue);
	return code;
}

struct pg_rows *pg_batch_query_after(struct request *rq, const struct pg_call *first,
                                     const struct pg_call *item)
{
	struct pg_rows *rows;
	enum err_code code = pg_batch_try_after(rq, &rows, NULL, first, item);
	if (code)
		pg_raise(rq, code);
	return rows;
}
