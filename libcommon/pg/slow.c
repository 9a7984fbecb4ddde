#include "base/base.h"
#include "base/timefmt.h"
#include "loop/request.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "pg/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#define PLAN_PAUSE_MS   60000 /* between two plans of one name */
#define PLAN_TIMEOUT_MS 5000

METRIC_COUNTER(slow_total, "expops_pg_slow_statements_total",
               "Statements that took the server longer than SLOW_MS, by name.", "statement");

/* A name that was slow once. Names come from the source, so there are few; they stay until the
 * process ends. */
struct slow_name {
	UT_hash_handle hh;
	uint64_t plan_due_ms; /* monotonic */
	char text[];
};

static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;
static struct slow_name *names; /* hash table; of all workers */

/* One plan at a time in a process: a server on which everything is slow is not kept busy with
 * them. */
static atomic_bool is_planning;

#define NAME_BEGIN "/* "
#define NAME_END   " */"

/* What comes after the mark of a read. */
static const char *unmarked(const char *sql)
{
	const char *text = pg_statement_is_read(sql) ? sql + strlen(PG_READ_MARK) : sql;
	return text + strspn(text, " ");
}

/* The name that sql_header.py has written in front; NULL: the text is none of a noun.sql. */
static const char *named(const char *sql, size_t *ret_length)
{
	const char *text = unmarked(sql), *end = strstr(text, NAME_END);
	if (strncmp(text, NAME_BEGIN, strlen(NAME_BEGIN)) != 0 || !end)
		return NULL;
	text += strlen(NAME_BEGIN);
	*ret_length = (size_t)(end - text);
	return text;
}

static struct slow_name *name_find(const char *text, size_t length)
{
	struct slow_name *name;
	HASH_FIND(hh, names, text, length, name);
	if (name)
		return name;
	name = calloc(1, sizeof(*name) + length + 1);
	require(name);
	memcpy(name->text, text, length);
	HASH_ADD(hh, names, text, length, name);
	return name;
}

/* The name of a statement, and whether its plan is due. A text without a name, such as COMMIT, goes
 * by its first word, and has no plan. */
static const char *name_of(const char *sql, bool *ret_is_plan_due)
{
	size_t length;
	uint64_t now_ms = time_monotonic_us() / 1000;
	const char *text = named(sql, &length);
	bool has_plan = text != NULL;
	if (!text) {
		text = unmarked(sql);
		length = strcspn(text, " ");
	}
	pthread_mutex_lock(&names_lock);
	struct slow_name *name = name_find(text, length);
	*ret_is_plan_due =
		has_plan && now_ms >= name->plan_due_ms && !atomic_exchange(&is_planning, true);
	if (*ret_is_plan_due)
		name->plan_due_ms = now_ms + PLAN_PAUSE_MS;
	pthread_mutex_unlock(&names_lock);
	return name->text;
}

/* The values stay behind: they may be secrets, and a plan would show them. */
struct plan_order {
	const char *name;
	size_t count; /* of parameters */
	char sql[];
};

static void plan_main(struct request *rq)
{
	const struct plan_order *order = rq->user;
	struct pg_rows *rows;
	if (pg_try(rq, &rows, NULL, PG_READ_MARK " SELECT statement_plan($1, $2)",
	           pg_text(order->sql), pg_int((int64_t)order->count)))
		return;
	log_warn("plan of a slow statement", f_text("name", order->name),
	         f_text("plan", pg_value(rows, 0)));
}

static void plan_done(struct request *rq)
{
	free(rq->user);
	atomic_store(&is_planning, false);
}

static void plan_start(struct pg_pool *pool, const struct pg_statement *st, const char *name)
{
	struct worker *worker = CONTAINER_OF(pool->loop, struct worker, loop);
	struct plan_order *order = calloc(1, sizeof(*order) + st->sql_length + 1);
	require(order);
	order->name = name;
	order->count = st->count;
	memcpy(order->sql, st->sql, st->sql_length + 1);
	request_spawn(worker, "slow-statement", PLAN_TIMEOUT_MS, plan_main, plan_done, order);
}

static void report(struct pg_pool *pool, const struct pg_statement *st, uint64_t took_ms)
{
	bool is_plan_due;
	const char *name = name_of(st->sql, &is_plan_due);
	metric_add(&slow_total, name, NULL, 1);
	log_warn("statement was slow", f_text("name", name), f_ms("duration_ms", took_ms * 1000),
	         f_text("sqlstate", st->result ? pg_result_sqlstate(st->result) : ""));
	if (is_plan_due)
		plan_start(pool, st, name);
}

void pg_slow_check(struct pg_pool *pool, const struct pg_statement *st)
{
	uint64_t slow_ms = pool->settings.slow_ms, now_ms = uv_now(pool->loop);
	for (; slow_ms && st && st->began_ms; st = st->next_part) {
		uint64_t took_ms = (st->ended_ms ? st->ended_ms : now_ms) - st->began_ms;
		if (took_ms >= slow_ms)
			report(pool, st, took_ms);
	}
}
