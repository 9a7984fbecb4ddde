#include "task/dead.h"

#include "base/base.h"
#include "crypto/uuid.h"
#include "dead.sql.h"
#include "json/json.h"
#include "observe/metrics.h"
#include "pg/pg.h"
#include "task/event_parking.h"
#include "task/wake.h"

#include <string.h>

#define COUNTED_MAX 10000
#define READ_MAX    "10000" /* events; more than the stream keeps */

METRIC_GAUGE(dead_metric, "expops_dead_letters",
             "What the service has given up: tasks, up to 10,000, and events.", "type");

static const char *dead_stream(struct request *rq, const char *service)
{
	return arena_printf(rq->arena, "events.dead.%s", service);
}

static bool is_task_id(const char *id)
{
	struct uuid uuid;
	return uuid_parse(id, strlen(id), &uuid);
}

/* `1769851800000-0` */
static bool is_entry_id(const char *id)
{
	size_t ms = strspn(id, "0123456789");
	return ms > 0 && id[ms] == '-' && id[ms + 1] &&
	       strspn(id + ms + 1, "0123456789") == strlen(id + ms + 1);
}

static void check_ids(struct request *rq, const struct dead_letters *which)
{
	for (const char *const *id = which->ids; id && *id; id++)
		if (!is_task_id(*id) && !is_entry_id(*id))
			raise_error(rq, ERR_INVALID, "\"%s\" is not the id of a dead letter", *id);
}

/* --- Tasks ------------------------------------------------------------------------------------ */

/* The ids of tasks as a Postgres array; NULL: any. */
static const char *task_ids(struct request *rq, const struct dead_letters *which)
{
	if (!which->ids)
		return NULL;
	struct buf text = {.arena = rq->arena};
	for (const char *const *id = which->ids; *id; id++)
		if (is_task_id(*id))
			buf_printf(&text, "%c%s", text.length ? ',' : '{', *id);
	buf_puts(&text, text.length ? "}" : "{}");
	return text.data;
}

/* Run a statement on the tasks that are meant, with the parameters of dead_task_list. */
static struct pg_rows *query_tasks(struct request *rq, const struct dead_letters *which,
                                   const char *sql)
{
	int64_t limit = which->type == DEAD_EVENTS ? 0 : which->limit;
	return pg_query(rq, sql, pg_text(which->kind), pg_text(task_ids(rq, which)),
	                pg_text(which->error), pg_text(which->account), pg_int(limit));
}

/* Run a statement that changes them, with the parameters of dead_task_retry. */
static struct pg_rows *change_tasks(struct request *rq, const struct dead_letters *which,
                                    const char *sql)
{
	int64_t limit = which->type == DEAD_EVENTS ? 0 : which->limit;
	return pg_query(rq, sql, pg_text(which->kind), pg_text(task_ids(rq, which)),
	                pg_text(which->error), pg_text(which->account), pg_int(limit),
	                pg_text(which->by));
}

/* --- Events ----------------------------------------------------------------------------------- */

static bool is_among(const char *const *ids, const char *id)
{
	for (; ids && *ids; ids++)
		if (strcmp(*ids, id) == 0)
			return true;
	return !ids;
}

static bool is_meant(const struct dead_letters *which, const struct stream_entry *entry)
{
	return (!which->kind || strcmp(stream_text(entry, "type"), which->kind) == 0) &&
	       (!which->account || strcmp(stream_text(entry, "account"), which->account) == 0) &&
	       (!which->error || strcasestr(stream_text(entry, "error"), which->error)) &&
	       is_among(which->ids, entry->id);
}

/* The ids of the entries as a Postgres array. */
static const char *entry_ids(struct request *rq, const struct stream_entries *entries)
{
	struct buf text = {.arena = rq->arena};
	for (size_t i = 0; i < entries->count; i++)
		buf_printf(&text, "%c%s", i == 0 ? '{' : ',', entries->items[i].id);
	buf_puts(&text, "}");
	return text.data;
}

static void delete_event(struct request *rq, const char *service, const char *id)
{
	redis_words(rq, "XDEL", dead_stream(rq, service), id);
}

/* Delete the entries that are settled, and take them out of `entries`. */
static void leave_out_settled(struct request *rq, const char *service,
                              struct stream_entries *entries)
{
	if (entries->count == 0)
		return;
	const struct pg_rows *rows =
		pg_query(rq, DEAD_EVENTS_SETTLED_SQL, pg_text(dead_stream(rq, service)),
	                 pg_text(entry_ids(rq, entries)));
	bool *is_settled = arena_array(rq->arena, entries->count, sizeof(bool));
	for (int row = 0; row < rows->count; row++)
		is_settled[pg_value_int(rows, row)] = true;
	size_t left = 0;
	for (size_t i = 0; i < entries->count; i++) {
		if (is_settled[i])
			delete_event(rq, service, entries->items[i].id);
		else
			entries->items[left++] = entries->items[i];
	}
	entries->count = left;
}

/* The entries that are meant, newest first. */
static struct stream_entries events_of(struct request *rq, const struct dead_letters *which)
{
	if (which->type == DEAD_TASKS)
		return (struct stream_entries){0};
	const char *const argv[] = {"XRANGE", dead_stream(rq, which->service), "-", "+", "COUNT",
	                            READ_MAX};
	struct stream_entries all =
		stream_entries_of(rq, stream_command(rq, argv, ARRAY_LEN(argv)));
	leave_out_settled(rq, which->service, &all);
	struct stream_entries chosen = {
		.items = arena_array(rq->arena, all.count + 1, sizeof(struct stream_entry))};
	for (size_t i = all.count; i-- > 0 && (int64_t)chosen.count < which->limit;) {
		if (is_meant(which, &all.items[i]))
			chosen.items[chosen.count++] = all.items[i];
	}
	return chosen;
}

static const char *event_json(struct request *rq, const struct stream_entry *entry,
                              bool with_content)
{
	static const char *const FIELDS[] = {"stream", "account", "at", "error", "request_id"};
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *root = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, root, "id", entry->id);
	yyjson_mut_obj_add_str(doc, root, "type", "event");
	yyjson_mut_obj_add_str(doc, root, "kind", stream_text(entry, "type"));
	for (size_t i = 0; i < ARRAY_LEN(FIELDS); i++)
		yyjson_mut_obj_add_str(doc, root, FIELDS[i], stream_text(entry, FIELDS[i]));
	if (with_content) {
		yyjson_mut_obj_add_str(doc, root, "event", stream_text(entry, "id"));
		yyjson_mut_obj_add_str(doc, root, "data", stream_text(entry, "data"));
	}
	return json_write_mut(rq->arena, root, NULL);
}

/* Note that the event is no longer dead, and let the audit log have what the operator does; the
 * account may be deleted. False: it was no longer dead before. */
static bool settle_event(struct request *rq, const struct dead_letters *which, const char *action,
                         const struct stream_entry *entry)
{
	return !pg_empty(pg_query(rq, DEAD_EVENT_SETTLE_SQL,
	                          pg_text(dead_stream(rq, which->service)), pg_text(entry->id),
	                          pg_text(which->by), pg_text(stream_text(entry, "account")),
	                          pg_text(action), pg_text(stream_text(entry, "id")),
	                          pg_text(stream_text(entry, "type"))));
}

/* The event is parked, due at once, in the transaction in which it is no longer dead. */
static void retry_event(struct request *rq, const struct dead_letters *which,
                        const struct stream_entry *entry)
{
	const char *stream = stream_text(entry, "stream");
	if (!event_stream_has_reader(EVENT_STREAMS, stream, which->service))
		raise_error(rq, ERR_CONFLICT, "%s: %s does not read the stream \"%s\" any more",
		            entry->id, which->service, stream);
	pg_begin(rq);
	if (settle_event(rq, which, "event.retried", entry))
		event_park_again(rq, stream, entry);
	pg_commit(rq);
	delete_event(rq, which->service, entry->id);
}

/* --- Both ------------------------------------------------------------------------------------- */

void dead_letters_each(struct request *rq, const struct dead_letters *which, bool with_content,
                       dead_letter_fn *fn, void *user)
{
	check_ids(rq, which);
	struct pg_rows *rows = query_tasks(rq, which, DEAD_TASK_LIST_SQL);
	for (int row = 0; row < rows->count; row++)
		fn(rq, user, pg_get(rows, row, "id"), pg_get(rows, row, "kind"),
		   pg_get(rows, row, with_content ? "json_with_input" : "json"));
	struct stream_entries events = events_of(rq, which);
	for (size_t i = 0; i < events.count; i++)
		fn(rq, user, events.items[i].id, stream_text(&events.items[i], "type"),
		   event_json(rq, &events.items[i], with_content));
}

int64_t dead_letters_count(struct request *rq, const struct dead_letters *which)
{
	check_ids(rq, which);
	int64_t tasks = pg_get_int(query_tasks(rq, which, DEAD_TASK_COUNT_SQL), 0, "tasks");
	return tasks + (int64_t)events_of(rq, which).count;
}

static void wake_processes(struct request *rq, const char *service)
{
	redis_words(rq, "PUBLISH", arena_printf(rq->arena, OUTBOX_CHANNEL, service), OUTBOX_RETRY);
}

static void nothing(struct request *rq, void *user, const char *id, const char *kind,
                    const char *json)
{
	(void)rq, (void)user, (void)id, (void)kind, (void)json;
}

int64_t dead_letters_retry(struct request *rq, const struct dead_letters *which, dead_letter_fn *fn,
                           void *user)
{
	fn = fn ? fn : nothing;
	check_ids(rq, which);
	struct pg_rows *rows = change_tasks(rq, which, DEAD_TASK_RETRY_SQL);
	for (int row = 0; row < rows->count; row++)
		fn(rq, user, pg_get(rows, row, "id"), pg_get(rows, row, "kind"), NULL);
	struct stream_entries events = events_of(rq, which);
	for (size_t i = events.count; i-- > 0;) { /* in their order */
		retry_event(rq, which, &events.items[i]);
		fn(rq, user, events.items[i].id, stream_text(&events.items[i], "type"), NULL);
	}
	wake_processes(rq, which->service);
	return rows->count + (int64_t)events.count;
}

int64_t dead_letters_drop(struct request *rq, const struct dead_letters *which)
{
	check_ids(rq, which);
	int64_t dropped = change_tasks(rq, which, DEAD_TASK_DROP_SQL)->affected;
	struct stream_entries events = events_of(rq, which);
	for (size_t i = 0; i < events.count; i++) {
		settle_event(rq, which, "event.dropped", &events.items[i]);
		delete_event(rq, which->service, events.items[i].id);
	}
	return dropped + (int64_t)events.count;
}

int64_t dead_events_count(struct request *rq, const char *service)
{
	return redis_words(rq, "XLEN", dead_stream(rq, service))->integer;
}

void dead_letters_measure(struct request *rq, const char *service)
{
	int64_t events = dead_events_count(rq, service);
	const struct dead_letters all = {.service = service, .limit = COUNTED_MAX};
	int64_t tasks = pg_get_int(query_tasks(rq, &all, DEAD_TASK_COUNT_SQL), 0, "tasks");
	metric_set(&dead_metric, "event", NULL, (double)events);
	metric_set(&dead_metric, "task", NULL, (double)tasks);
}
