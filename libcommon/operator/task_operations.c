#include "operator/task_operations.h"

#include "input/input.h"
#include "json/json.h"
#include "pg/pg.h"
#include "redis/redis.h"
#include "reply/reply.h"
#include "task/dead.h"
#include "task_operations.sql.h"

#include <string.h>

#define HOURS_SHOWN 24

const char *const TASK_TYPES[] = {"task", "event", NULL};
const char *const TASK_STATUSES[] = {"pending", "running",   "completed",
                                     "failed",  "cancelled", NULL};

static const struct field FIELDS[] = {
	BODY_ENUM(struct task_query, type, "type", OPTIONAL, TASK_TYPES),
	BODY_TEXT(struct task_query, kind, "kind", OPTIONAL, 1, TASK_TEXT_MAX),
	BODY_ENUM(struct task_query, status, "status", OPTIONAL, TASK_STATUSES),
	BODY_TEXT(struct task_query, error, "error", OPTIONAL, 1, TASK_TEXT_MAX),
	BODY_UUID(struct task_query, account_id, "account_id", OPTIONAL),
	BODY_STRINGS(struct task_query, ids, "ids", OPTIONAL, 1, TASK_IDS_MAX, TASK_ID_MAX),
	BODY_INT(struct task_query, limit, "limit", OPTIONAL, 0, TASKS_COUNTED_MAX, 0),
	BODY_BOOL(struct task_query, is_drop, "drop", OPTIONAL, false),
	BODY_BOOL(struct task_query, is_dry_run, "dry_run", OPTIONAL, false),
	BODY_OBJECT(struct task_query, by, "by", OPTIONAL),
	FIELD_END,
};

const char *task_query_json(struct request *rq, const struct task_query *query)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	const struct {
		const char *name, *text;
	} texts[] = {
		{"type", query->type},
		{"kind", query->kind},
		{"status", query->status},
		{"error", query->error},
		{"account_id", query->account_id},
	};
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (texts[i].text)
			yyjson_mut_obj_add_str(doc, body, texts[i].name, texts[i].text);
	if (query->ids)
		yyjson_mut_obj_add_val(doc, body, "ids",
		                       yyjson_val_mut_copy(doc,
		                                           json_parse_own(rq->arena, query->ids)));
	if (query->by)
		yyjson_mut_obj_add_val(doc, body, "by",
		                       yyjson_val_mut_copy(doc,
		                                           json_parse_own(rq->arena, query->by)));
	yyjson_mut_obj_add_int(doc, body, "limit", query->limit);
	yyjson_mut_obj_add_bool(doc, body, "drop", query->is_drop);
	yyjson_mut_obj_add_bool(doc, body, "dry_run", query->is_dry_run);
	return json_write_mut(rq->arena, body, NULL);
}

static const char *service_name(const struct request *rq)
{
	return rq->worker->process->service->name;
}

bool task_query_is_of_events(const struct task_query *query)
{
	return query->type && strcmp(query->type, "event") == 0;
}

/* The ids as a NULL-terminated array; NULL: any. */
static const char *const *ids_of(struct request *rq, const struct task_query *query)
{
	size_t count;
	return query->ids ? json_texts(rq->arena, json_parse_own(rq->arena, query->ids), &count)
	                  : NULL;
}

static struct dead_letters dead_of(struct request *rq, const struct task_query *query)
{
	return (struct dead_letters){
		.service = service_name(rq),
		.type = task_query_is_of_events(query) ? DEAD_EVENTS : DEAD_TASKS,
		.kind = query->kind,
		.error = query->error,
		.account = query->account_id,
		.ids = ids_of(rq, query),
		.limit = TASKS_COUNTED_MAX,
		.by = query->by,
	};
}

/* --- Find ------------------------------------------------------------------------------------- */

/* The dead events that are found, newest first. */
struct found_events {
	struct buf items; /* JSON objects, separated by commas */
	int64_t count, limit;
};

/* An event in the shape of a task. */
static const char *event_as_task(struct request *rq, yyjson_val *event)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *task = yyjson_mut_obj(doc);
	const char *account = json_get_text(event, "account");
	yyjson_mut_obj_add_str(doc, task, "task_id", json_get_text(event, "id"));
	yyjson_mut_obj_add_str(doc, task, "type", "event");
	yyjson_mut_obj_add_str(doc, task, "service", service_name(rq));
	yyjson_mut_obj_add_str(doc, task, "kind", json_get_text(event, "kind"));
	yyjson_mut_obj_add_str(doc, task, "status", "failed");
	yyjson_mut_obj_add_str(doc, task, "error", json_get_text(event, "error"));
	yyjson_mut_obj_add_str(doc, task, "created_at", json_get_text(event, "at"));
	yyjson_mut_obj_add_str(doc, task, "stream", json_get_text(event, "stream"));
	json_add_text(doc, task, "account_id", account && account[0] ? account : NULL);
	yyjson_mut_obj_add_bool(doc, task, "is_dead", true);
	return json_write_mut(rq->arena, task, NULL);
}

static void add_event(struct request *rq, void *user, const char *id, const char *kind,
                      const char *json)
{
	struct found_events *found = user;
	(void)id, (void)kind;
	if (found->count++ >= found->limit)
		return;
	buf_puts(&found->items, found->items.length ? "," : "");
	buf_puts(&found->items, event_as_task(rq, json_parse_own(rq->arena, json)));
}

static const char *events_found(struct request *rq, const struct task_query *query)
{
	struct found_events found = {.items = {.arena = rq->arena}, .limit = query->limit};
	struct dead_letters which = dead_of(rq, query);
	if (!query->status || strcmp(query->status, "failed") == 0)
		dead_letters_each(rq, &which, false, add_event, &found);
	return arena_printf(rq->arena, "{\"total\":%lld,\"items\":[%s]}", (long long)found.count,
	                    found.items.length ? found.items.data : "");
}

const char *tasks_found(struct request *rq, const struct task_query *query)
{
	if (task_query_is_of_events(query))
		return events_found(rq, query);
	return pg_json(pg_query(rq, TASK_FIND_SQL, pg_text(query->kind), pg_text(query->status),
	                        pg_text(query->error), pg_text(query->account_id),
	                        pg_text(service_name(rq)), pg_int(query->limit),
	                        pg_int(TASKS_COUNTED_MAX)));
}

/* --- Repeat ----------------------------------------------------------------------------------- */

const char *task_changes_json(struct request *rq, int64_t matched, int64_t changed)
{
	return arena_printf(rq->arena, "{\"matched\":%lld,\"changed\":%lld}", (long long)matched,
	                    (long long)changed);
}

const char *tasks_repeated(struct request *rq, const struct task_query *query)
{
	struct dead_letters which = dead_of(rq, query);
	int64_t matched, changed = 0;
	if (query->is_dry_run)
		matched = dead_letters_count(rq, &which);
	else
		matched = changed = query->is_drop ? dead_letters_drop(rq, &which)
		                                   : dead_letters_retry(rq, &which, NULL, NULL);
	return task_changes_json(rq, matched, changed);
}

/* --- Summarize -------------------------------------------------------------------------------- */

const char *tasks_summary(struct request *rq)
{
	bool knows_events = redis_is_ready(rq->worker->redis);
	return pg_json(pg_query(rq, TASK_SUMMARIZE_SQL, pg_text(service_name(rq)),
	                        pg_int(TASKS_COUNTED_MAX), pg_int(HOURS_SHOWN),
	                        knows_events ? pg_int(dead_events_count(rq, service_name(rq)))
	                                     : pg_null()));
}

/* --- The internal operations ------------------------------------------------------------------ */

static void find(struct request *rq)
{
	reply_json(rq, 200, tasks_found(rq, request_input(rq, struct task_query, FIELDS)));
}

static void repeat(struct request *rq)
{
	reply_json(rq, 200, tasks_repeated(rq, request_input(rq, struct task_query, FIELDS)));
}

static void summarize(struct request *rq)
{
	reply_json(rq, 200, tasks_summary(rq));
}

const struct internal_route TASK_OPERATION_ROUTES[] = {
	{INTERNAL_ID_tasks_find, find},
	{INTERNAL_ID_tasks_repeat, repeat},
	{INTERNAL_ID_tasks_summarize, summarize},
	{0},
};
