#include "operator/operator.h"

#include "audit/audit.h"
#include "base/base.h"
#include "client/service_ask.h"
#include "input/input.h"
#include "json/json.h"
#include "loop/wait.h"
#include "observe/log.h"
#include "operator/task_operations.h"
#include "reply/reply.h"
#include "reply/resource.h"

#include <stdlib.h>
#include <string.h>

#define LIST_DEFAULT 20
#define LIST_MAX     100
#define OFFSET_MAX   900 /* every service is asked for all rows up to the page */

#define SERVICE_NAME(symbol, process, setting) process,
static const char *const SERVICES[] = {"gateway", API_SERVICES(SERVICE_NAME) NULL};
#undef SERVICE_NAME

static const char *const DEAD_STATUS[] = {"failed", NULL};

struct task_input {
	const char *service; /* NULL: all */
	int64_t offset;
	struct task_query query;
};

static const struct field LIST_FIELDS[] = {
	QUERY_ENUM(struct task_input, service, "service", SERVICES),
	QUERY_ENUM(struct task_input, query.type, "type", TASK_TYPES),
	QUERY_TEXT(struct task_input, query.kind, "kind", OPTIONAL, 1, TASK_TEXT_MAX),
	QUERY_ENUM(struct task_input, query.status, "status", TASK_STATUSES),
	QUERY_TEXT(struct task_input, query.error, "error", OPTIONAL, 1, TASK_TEXT_MAX),
	QUERY_UUID(struct task_input, query.account_id, "account_id"),
	QUERY_LIMIT(struct task_input, query.limit, LIST_DEFAULT, LIST_MAX),
	{IN_QUERY, FIELD_INT, "offset", FIELD_AT(struct task_input, offset, int64_t), 0, 0,
         OFFSET_MAX},
	FIELD_END,
};

static const struct field RETRY_FIELDS[] = {
	BODY_ENUM(struct task_input, service, "service", OPTIONAL, SERVICES),
	BODY_ENUM(struct task_input, query.type, "type", OPTIONAL, TASK_TYPES),
	BODY_TEXT(struct task_input, query.kind, "kind", OPTIONAL, 1, TASK_TEXT_MAX),
	BODY_ENUM(struct task_input, query.status, "status", OPTIONAL, DEAD_STATUS),
	BODY_TEXT(struct task_input, query.error, "error", OPTIONAL, 1, TASK_TEXT_MAX),
	BODY_UUID(struct task_input, query.account_id, "account_id", OPTIONAL),
	BODY_STRINGS(struct task_input, query.ids, "ids", OPTIONAL, 1, TASK_IDS_MAX, TASK_ID_MAX),
	BODY_BOOL(struct task_input, query.is_drop, "drop", OPTIONAL, false),
	BODY_BOOL(struct task_input, query.is_dry_run, "dry_run", OPTIONAL, false),
	FIELD_END,
};

/* --- Asking ----------------------------------------------------------------------------------- */

/* What all services are asked, and what they answered. In the arena of the request. */
struct fan_out {
	enum internal_id id;
	const char *json;
	bool is_safe;        /* it changes nothing, whatever the operation may do */
	struct arena *arena; /* of the answers */
	yyjson_val *answers[API_SERVICE_COUNT]; /* NULL: it was not asked, or has not answered */
	struct buf silent;                      /* names of those that have not answered */
};

/* The call of one service. */
struct fan_out_call {
	struct fan_out *fan_out;
	enum api_service service;
};

static void ask_one(struct request *rq)
{
	const struct fan_out_call *call = rq->user;
	struct fan_out *fan_out = call->fan_out;
	const struct ask_options options = {
		.service = call->service,
		.is_safe = fan_out->is_safe,
	};
	struct service_answer answer = service_ask_try(rq, fan_out->id, fan_out->json, &options);
	if (answer.code == ERR_INVALID)
		service_answer_raise(rq, &answer);
	if (answer.code)
		buf_printf(&fan_out->silent, "%s%s", fan_out->silent.length ? " " : "",
		           api_service_name(call->service));
	else /* the arena of this fiber ends with it */
		fan_out->answers[call->service] =
			json_parse_own(fan_out->arena,
		                       json_write(fan_out->arena, answer.json, NULL));
}

static bool is_deployed(const struct request *rq, enum api_service service)
{
	const char *url = rq->worker->peers->url[service];
	return url && url[0];
}

/* Begin to ask the services but this one; only `name` unless it is NULL. */
static struct fan_out *ask(struct request *rq, enum internal_id id, const char *json, bool is_safe,
                           const char *name)
{
	struct fan_out *fan_out = arena_new_of(rq->arena, struct fan_out);
	*fan_out = (struct fan_out){.id = id,
	                            .json = json,
	                            .is_safe = is_safe,
	                            .arena = rq->arena,
	                            .silent = {.arena = rq->arena}};
	for (enum api_service service = API_GATEWAY + 1; service < API_SERVICE_COUNT; service++) {
		bool is_meant = !name || strcmp(name, api_service_name(service)) == 0;
		if (!is_meant || !is_deployed(rq, service))
			continue;
		struct fan_out_call *call = arena_new_of(rq->arena, struct fan_out_call);
		*call = (struct fan_out_call){fan_out, service};
		fiber_spawn(rq, ask_one, call);
	}
	return fan_out;
}

static bool is_own(const char *name)
{
	return !name || strcmp(name, api_service_name(API_GATEWAY)) == 0;
}

static void add_own(struct request *rq, struct fan_out *fan_out, const char *json)
{
	fan_out->answers[API_GATEWAY] = json_parse_own(rq->arena, json);
}

/* Say which services are not in the reply. */
static void report_left_out(struct request *rq, const struct fan_out *fan_out)
{
	if (fan_out->silent.length)
		reply_header(rq, "X-Left-Out", "%s", fan_out->silent.data);
}

/* --- List ------------------------------------------------------------------------------------- */

/* Newest first. */
static int compare_items(const void *a, const void *b)
{
	yyjson_val *const *first = a, *const *second = b;
	int order =
		strcmp(json_get_text(*second, "created_at"), json_get_text(*first, "created_at"));
	return order ? order
	             : strcmp(json_get_text(*second, "task_id"), json_get_text(*first, "task_id"));
}

/* The items of all answers, in their order. `ret_total`: how many there are. */
static yyjson_val **merge(struct request *rq, const struct fan_out *fan_out, size_t *ret_count,
                          int64_t *ret_total)
{
	size_t count = 0;
	*ret_total = 0;
	for (int i = 0; i < API_SERVICE_COUNT; i++)
		count += yyjson_arr_size(json_get(fan_out->answers[i], "items"));
	yyjson_val **items = arena_array(rq->arena, count + 1, sizeof(yyjson_val *));
	count = 0;
	for (int i = 0; i < API_SERVICE_COUNT; i++) {
		size_t index, max;
		yyjson_val *item;
		*ret_total += json_get_int(fan_out->answers[i], "total", 0);
		yyjson_arr_foreach (json_get(fan_out->answers[i], "items"), index, max, item)
			items[count++] = item;
	}
	qsort(items, count, sizeof(yyjson_val *), compare_items);
	*ret_count = count;
	return items;
}

/* How many rows the pages of this size show that begin at the offset and lead to each other: the
 * last one begins at OFFSET_MAX at the latest. */
static int64_t shown_max(const struct task_input *in)
{
	int64_t limit = in->query.limit;
	return in->offset + (OFFSET_MAX - in->offset) / limit * limit + limit;
}

static void reply_list(struct request *rq, const struct fan_out *fan_out,
                       const struct task_input *in)
{
	size_t count;
	int64_t total;
	yyjson_val **items = merge(rq, fan_out, &count, &total);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *page = yyjson_mut_arr(doc);
	size_t end = MIN_OF((size_t)(in->offset + in->query.limit), count);
	for (size_t i = (size_t)in->offset; i < end; i++)
		yyjson_mut_arr_append(page, yyjson_val_mut_copy(doc, items[i]));
	report_left_out(rq, fan_out);
	reply_page_fields(rq, "limit", MIN_OF(total, shown_max(in)), in->query.limit, in->offset);
	reply_json(rq, 200, json_write_mut(rq->arena, page, NULL));
}

void tasks_list(struct request *rq)
{
	struct task_input *in = request_input(rq, struct task_input, LIST_FIELDS);
	struct task_query query = in->query;
	query.limit += in->offset;
	const char *json = task_query_json(rq, &query);
	struct fan_out *fan_out = ask(rq, INTERNAL_ID_tasks_find, json, true, in->service);
	if (is_own(in->service))
		add_own(rq, fan_out, tasks_found(rq, &query));
	fiber_join(rq);
	reply_list(rq, fan_out, in);
}

/* --- Summary ---------------------------------------------------------------------------------- */

void tasks_summary_get(struct request *rq)
{
	request_input_none(rq);
	struct fan_out *fan_out = ask(rq, INTERNAL_ID_tasks_summarize, "{}", true, NULL);
	add_own(rq, fan_out, tasks_summary(rq));
	fiber_join(rq);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *root = yyjson_mut_obj(doc);
	yyjson_mut_val *all = yyjson_mut_obj_add_arr(doc, root, "services");
	yyjson_mut_doc_set_root(doc, root);
	for (int i = 0; i < API_SERVICE_COUNT; i++)
		if (fan_out->answers[i])
			yyjson_mut_arr_append(all, yyjson_val_mut_copy(doc, fan_out->answers[i]));
	report_left_out(rq, fan_out);
	reply_doc(rq, 200, doc);
}

/* --- Retry ------------------------------------------------------------------------------------ */

/* Raise unless the request says which dead letters it means: none by default, and an event together
 * with its service, since ids of events are unique in a service only. */
static void check_choice(struct request *rq, const struct task_input *in)
{
	const struct task_query *query = &in->query;
	bool has_choice = in->service || query->kind || query->status || query->error ||
	                  query->account_id || query->ids;
	if (!has_choice)
		problem_add_field(rq->arena, &rq->problem, "status",
		                  "say which: by ids or a filter; \"failed\" means all");
	if (task_query_is_of_events(query) && query->ids && !in->service)
		problem_add_field(rq->arena, &rq->problem, "service",
		                  "is needed with the ids of events");
	raise_if_faults(rq);
}

static int64_t sum(const struct fan_out *fan_out, const char *name)
{
	int64_t total = 0;
	for (int i = 0; i < API_SERVICE_COUNT; i++)
		total += json_get_int(fan_out->answers[i], name, 0);
	return total;
}

/* Who repeats or drops them, for the audit log. */
static const char *actor_json(struct request *rq)
{
	struct audit_client client = audit_client_of(rq);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *by = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, by, "kind", "operator"); /* where the key is gone */
	json_add_text(doc, by, "key_id", caller_key(rq).text);
	json_add_text(doc, by, "ip", client.address.text);
	json_add_text(doc, by, "user_agent", client.user_agent.text);
	return json_write_mut(rq->arena, by, NULL);
}

void tasks_retry(struct request *rq)
{
	struct task_input *in = request_input(rq, struct task_input, RETRY_FIELDS);
	check_choice(rq, in);
	in->query.by = actor_json(rq);
	const struct task_query *query = &in->query;
	const char *json = task_query_json(rq, query);
	struct fan_out *fan_out =
		ask(rq, INTERNAL_ID_tasks_repeat, json, query->is_dry_run, in->service);
	if (is_own(in->service))
		add_own(rq, fan_out, tasks_repeated(rq, query));
	fiber_join(rq);
	int64_t matched = sum(fan_out, "matched"), changed = sum(fan_out, "changed");
	if (changed)
		log_info("dead letters repeated or dropped by an operator",
		         f_int("matched", matched), f_bool("drop", query->is_drop));
	if (fan_out->silent.length)
		raise_error(rq, ERR_UNAVAILABLE, "no answer of %s; repeat the request for theirs",
		            fan_out->silent.data);
	reply_json(rq, 200, task_changes_json(rq, matched, changed));
}
