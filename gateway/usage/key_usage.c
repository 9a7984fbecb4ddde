#include "usage/key_usage.h"

#include "base/timefmt.h"
#include "input/input.h"
#include "input/key_limit.h"
#include "json/json.h"
#include "key_usage.sql.h"
#include "loop/periodic.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "pg/pg.h"
#include "reply/reply.h"
#include "reply/resource.h"
#include "usage/usage_table.h"

#include <stdlib.h>

#define DAY_MS           INT64_C(86400000)
#define STORE_TIMEOUT_MS 30000
#define STORED_AT_ONCE   ((size_t)2000) /* counts */
#define EARLY_AT         (USAGE_TABLE_MAX / 2)

const int64_t KEY_USAGE_FORGET_EVERY_MS = (int64_t)3600 * 1000;

METRIC_COUNTER(lost_total, "expops_key_usage_lost_total",
               "Requests that the usage of keys lacks, because more keys were in use at once than "
               "are counted, or their store may have failed.");

static int64_t store_every_ms;

const struct setting KEY_USAGE_SETTINGS[] = {
	SETTING_MS(&store_every_ms, "KEY_USAGE_STORE", "1m", 50, 3600000,
                   "Interval of storing what keys were used for; a process that is killed loses "
                   "what it counted since."),
	SETTING_END,
};

struct key_usage {
	struct usage_table *table;
	struct periodic *store;
};

static const char *counts_json(struct request *rq, const struct usage_count *counts, size_t count)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *rows = yyjson_mut_arr(doc);
	for (size_t i = 0; i < count; i++) {
		char *day = arena_alloc(rq->arena, DATE_TEXT_LEN + 1);
		date_format((int64_t)counts[i].day * DAY_MS, day);
		yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, rows);
		yyjson_mut_obj_add_str(doc, row, "key_id", pg_uuid(counts[i].key).text);
		yyjson_mut_obj_add_str(doc, row, "day", day);
		yyjson_mut_obj_add_str(doc, row, "family", counts[i].family);
		yyjson_mut_obj_add_uint(doc, row, "status", counts[i].status);
		yyjson_mut_obj_add_uint(doc, row, "requests", counts[i].requests);
	}
	return json_write_mut(rq->arena, rows, NULL);
}

static double sum_of(const struct usage_count *counts, size_t count)
{
	double requests = 0;
	for (size_t i = 0; i < count; i++)
		requests += counts[i].requests;
	return requests;
}

/* Store some counts, which are then no longer in the table. */
static void store_counts(struct request *rq, struct usage_table *table,
                         const struct usage_count *counts, size_t count)
{
	struct pg_rows *rows;
	request_page_begin(rq);
	enum err_code code = pg_try(rq, &rows, NULL, KEY_USAGE_STORE_SQL,
	                            pg_text(counts_json(rq, counts, count)));
	if (code == ERR_UNCERTAIN)
		metric_add(&lost_total, NULL, NULL, sum_of(counts, count));
	else if (code)
		raise_error(rq, code, "the usage of keys was not stored");
	usage_table_subtract(table, counts, count);
	request_page_end(rq);
}

/* A pass. Nothing is lost when it fails: the next one stores what is left. */
static void store(struct request *rq)
{
	struct key_usage *usage = periodic_user(rq);
	size_t count;
	struct usage_count *counts = usage_table_copy(usage->table, rq->arena, &count);
	for (size_t at = 0; at < count; at += STORED_AT_ONCE)
		store_counts(rq, usage->table, counts + at, MIN_OF(count - at, STORED_AT_ONCE));
	usage_table_shrink(usage->table);
}

struct key_usage *key_usage_new(struct worker *worker)
{
	struct key_usage *usage = calloc(1, sizeof(*usage));
	require(usage);
	usage->table = usage_table_new();
	usage->store = periodic_new(worker, "usage of keys", store, usage, (uint64_t)store_every_ms,
	                            STORE_TIMEOUT_MS);
	periodic_wake_in(usage->store, (uint64_t)store_every_ms);
	return usage;
}

void key_usage_end(struct key_usage *usage)
{
	periodic_run(usage->store);
}

void key_usage_free(struct key_usage *usage)
{
	if (!usage)
		return;
	periodic_stop(usage->store);
	periodic_free(usage->store);
	usage_table_free(usage->table);
	free(usage);
}

void key_usage_count(struct key_usage *usage, const struct identity *caller,
                     const struct api_op *op, int status)
{
	if (!usage)
		return;
	const struct usage_count request = {
		.key = caller->key_id,
		.family = op->scope_name ? op->scope_name : "mcp",
		.day = (uint32_t)(time_now_ms() / DAY_MS),
		.status = (uint16_t)status,
	};
	size_t before = usage_table_size(usage->table);
	if (!usage_table_add(usage->table, &request))
		metric_add(&lost_total, NULL, NULL, 1);
	if (before < EARLY_AT && usage_table_size(usage->table) == EARLY_AT)
		periodic_wake(usage->store);
}

struct list_input {
	const char *id;
	int64_t limit, offset;
};

static const struct field LIST_FIELDS[] = {
	PATH_UUID(struct list_input, id, "key_id"),
	QUERY_LIMIT(struct list_input, limit, 20, 100),
	QUERY_OFFSET(struct list_input, offset),
	FIELD_END,
};

void key_usage_list(struct request *rq)
{
	struct list_input *in = request_input(rq, struct list_input, LIST_FIELDS);
	struct pg_param only = key_is_limited(rq) ? caller_key(rq) : pg_null();
	struct pg_rows *rows =
		pg_query(rq, KEY_USAGE_LIST_SQL, pg_uuid(rq->caller.account), pg_text(in->id), only,
	                 pg_int(in->limit), pg_int(in->offset), caller_key(rq));
	require_row(rq, rows, "no such key");
	reply_page(rq, rows, in->limit, in->offset);
}

void key_usage_forget(struct request *rq)
{
	pg_query(rq, KEY_USAGE_FORGET_SQL);
}
