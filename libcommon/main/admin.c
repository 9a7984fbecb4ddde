#include "main/admin.h"

#include "json/json.h"
#include "loop/request_list.h"
#include "observe/metrics.h"
#include "pg/fault.h"
#include "pg/pg.h"
#include "redis/fault.h"
#include "redis/redis.h"
#include "request/http_request.h"
#include "service/process.h"
#include "service/service.h"

#include <string.h>

METRIC_GAUGE(ready_gauge, "expops_ready", "Whether the replica is ready, as /readyz says: 1 or 0.");

static void respond(struct http_exchange *x, int status, const char *type, const char *body)
{
	struct http_field field = http_field_of("Content-Type", type);
	http_respond_start(x, status, &field, 1, (int64_t)strlen(body));
	http_respond_content(x, body, strlen(body));
	http_respond_end(x);
}

static void healthz(struct http_exchange *x, struct worker *worker)
{
	(void)worker;
	respond(x, 200, "application/json", "{\"status\":\"ok\"}");
}

struct fault_list {
	yyjson_mut_doc *doc;
	yyjson_mut_val *summaries;
};

static void add_fault(void *context, const char *summary)
{
	struct fault_list *list = context;
	yyjson_mut_arr_add_str(list->doc, list->summaries, summary);
}

/* What Postgres and Redis were found to lack in the last seconds, also when that makes no process
 * unready: a full disk still lets it read. */
static yyjson_mut_val *recent_faults(yyjson_mut_doc *doc)
{
	struct fault_list list = {doc, yyjson_mut_arr(doc)};
	pg_faults_recent(add_fault, &list);
	redis_faults_recent(add_fault, &list);
	return list.summaries;
}

#define REASONS_MAX 8

/* Why the process is not ready; how many. */
static size_t unready_reasons(struct worker *worker, const char *reasons[REASONS_MAX])
{
	struct process *process = worker->process;
	const struct service *service = process->service;
	const char *own = service->not_ready_reason ? service->not_ready_reason(process) : NULL;
	const char *database = process->is_migrated ? pg_pool_fault(worker->pg) : NULL;
	const char *redis = redis_unsupported_reason(worker->redis);
	const struct {
		const char *reason;
		bool applies;
	} checks[] = {
		{"draining", process->is_stopping},
		{"the schema is not migrated", !process->is_migrated},
		{"the public listener is not open yet",
	         process->roles.has_http && !process->is_listening},
		{database, database},
		{redis, redis},
		{own, own},
	};
	size_t count = 0;
	_Static_assert(ARRAY_LEN(checks) <= REASONS_MAX, "room for all reasons");
	for (size_t i = 0; i < ARRAY_LEN(checks); i++)
		if (checks[i].applies)
			reasons[count++] = checks[i].reason;
	return count;
}

bool worker_is_ready(struct worker *worker)
{
	const char *reasons[REASONS_MAX];
	return unready_reasons(worker, reasons) == 0;
}

static void readyz(struct http_exchange *x, struct worker *worker)
{
	const char *reasons[REASONS_MAX];
	size_t count = unready_reasons(worker, reasons);
	bool is_ready = count == 0;
	yyjson_mut_doc *doc = json_doc_new(x->arena);
	yyjson_mut_val *root = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, root, "status", is_ready ? "ready" : "unready");
	yyjson_mut_obj_add_val(doc, root, "reasons", yyjson_mut_arr_with_str(doc, reasons, count));
	yyjson_mut_obj_add_bool(doc, root, "redis", redis_is_ready(worker->redis));
	yyjson_mut_obj_add_val(doc, root, "faults", recent_faults(doc));
	respond(x, is_ready ? 200 : 503, "application/json", json_write_mut(x->arena, root, NULL));
}

static void metrics(struct http_exchange *x, struct worker *worker)
{
	metric_set(&ready_gauge, NULL, NULL, worker_is_ready(worker));
	respond(x, 200, "text/plain; version=0.0.4; charset=utf-8", metrics_text(x->arena));
}

static const struct {
	const char *path;
	void (*answer)(struct http_exchange *x, struct worker *worker);
} PAGES[] = {{"/healthz", healthz}, {"/readyz", readyz}, {"/metrics", metrics}};

static void on_head(struct http_exchange *x)
{
	for (size_t i = 0; i < ARRAY_LEN(PAGES); i++) {
		if (strlen(PAGES[i].path) == x->head.path_length &&
		    strncmp(PAGES[i].path, x->head.target, x->head.path_length) == 0) {
			PAGES[i].answer(x, http_server_context(x->server));
			return;
		}
	}
	respond(x, 404, "application/json", "{\"status\":\"not found\"}");
}

static void on_end(struct http_exchange *x)
{
	(void)x;
}

static void on_gone(struct http_exchange *x, enum err_code reason)
{
	(void)x, (void)reason;
}

const struct http_handler admin_handler = {
	.on_head = on_head,
	.on_end = on_end,
	.on_gone = on_gone,
	.on_done = on_end,
	.refuse = http_refuse_problem,
};
