#include "reply/reply.h"

#include "http/query.h"
#include "input/input.h"
#include "json/json.h"
#include "pg/pg.h"
#include "reply/problem_page.h"

#include <inttypes.h>
#include <string.h>

struct reply *reply_of(struct request *rq)
{
	if (!rq->http->reply)
		rq->http->reply = arena_new_of(rq->arena, struct reply);
	return rq->http->reply;
}

void reply_content(struct request *rq, int status, const char *type, const char *content,
                   size_t length)
{
	struct reply *reply = reply_of(rq);
	require(reply->status == 0);
	reply->status = status;
	reply->type = type;
	reply->body = content;
	reply->length = length;
}

void reply_json_length(struct request *rq, int status, const char *json, size_t length)
{
	reply_content(rq, status, "application/json", json, length);
}

void reply_json(struct request *rq, int status, const char *json)
{
	reply_json_length(rq, status, json, strlen(json));
}

void reply_doc(struct request *rq, int status, yyjson_mut_doc *doc)
{
	size_t length;
	char *json = json_write_mut(rq->arena, yyjson_mut_doc_get_root(doc), &length);
	reply_json_length(rq, status, json, length);
}

void reply_empty(struct request *rq, int status)
{
	struct reply *reply = reply_of(rq);
	require(reply->status == 0);
	reply->status = status;
}

void reply_header(struct request *rq, const char *name, const char *format, ...)
{
	struct reply *reply = reply_of(rq);
	require(reply->field_count < REPLY_FIELDS_MAX);
	va_list args;
	va_start(args, format);
	char *value = arena_vprintf(rq->arena, format, args);
	va_end(args);
	reply->fields[reply->field_count++] = http_field_of(arena_strdup(rq->arena, name), value);
}

/* The request's own path with another offset. The other parameters are decoded and encoded again,
 * so that no byte of the client can end the target in the field Link. */
static const char *page_target(struct request *rq, const char *limit_name, int64_t limit,
                               int64_t offset)
{
	const struct http_head *head = &rq->http->head;
	struct buf out = {.arena = rq->arena};
	struct query_param param;
	buf_add(&out, head->target, head->path_length);
	buf_printf(&out, "?%s=%" PRId64 "&offset=%" PRId64, limit_name, limit, offset);
	for (const char *at = head->query; query_next(rq->arena, &at, &param);)
		if (strcmp(param.name, limit_name) != 0 && strcmp(param.name, "offset") != 0)
			buf_printf(&out, "&%s=%s", query_encode(rq->arena, param.name),
			           query_encode(rq->arena, param.value));
	return out.data;
}

void reply_page_fields(struct request *rq, const char *limit_name, int64_t total, int64_t limit,
                       int64_t offset)
{
	struct buf link = {.arena = rq->arena};
	if (offset < total - limit) /* `offset + limit` could overflow */
		buf_printf(&link, "<%s>; rel=\"next\"",
		           page_target(rq, limit_name, limit, offset + limit));
	if (offset > 0)
		buf_printf(&link, "%s<%s>; rel=\"prev\"", link.length ? ", " : "",
		           page_target(rq, limit_name, limit,
		                       MAX_OF(MIN_OF(offset, total) - limit, 0)));
	reply_header(rq, "X-Total-Count", "%" PRId64, total);
	if (link.length)
		reply_header(rq, "Link", "%s", link.data);
}

void reply_page(struct request *rq, const struct pg_rows *rows, int64_t limit, int64_t offset)
{
	reply_page_fields(rq, "limit", pg_get_int(rows, 0, "total"), limit, offset);
	reply_json(rq, 200, pg_json(rows));
}

void reply_doc_page(struct request *rq, yyjson_mut_doc *doc, int64_t limit, int64_t offset)
{
	yyjson_mut_val *list = yyjson_mut_doc_get_root(doc);
	size_t total = yyjson_mut_arr_size(list);
	size_t begin = MIN_OF((size_t)offset, total), end = MIN_OF(begin + (size_t)limit, total);
	reply_page_fields(rq, "limit", (int64_t)total, limit, offset);
	yyjson_mut_arr_remove_range(list, end, total - end);
	yyjson_mut_arr_remove_range(list, 0, begin);
	reply_doc(rq, 200, doc);
}

void reply_is_secret(struct request *rq)
{
	reply_of(rq)->is_secret = true;
	reply_header(rq, "Cache-Control", "no-store");
	arena_wipe_on_free(rq->arena);
}

void reply_task(struct request *rq, const char *task_json, const char *status_url)
{
	struct buf text = {.arena = rq->arena};
	require(task_json[0] == '{');
	buf_puts(&text, "{\"status_url\":");
	json_quote(&text, status_url, strlen(status_url));
	buf_puts(&text, ",");
	buf_puts(&text, task_json + 1);
	reply_json(rq, 202, text.data);
}

void reply_problem(struct request *rq)
{
	struct problem *problem = &rq->problem;
	struct reply *reply = reply_of(rq);
	memset(reply, 0, sizeof(*reply));
	if (problem_page_reply(rq))
		return;
	reply->status = err_info(problem->code)->status;
	if (problem->raw_body) {
		reply->type = "application/json";
		reply->body = problem->raw_body;
		reply->length = strlen(reply->body);
		return;
	}
	reply->type = "application/problem+json";
	reply->body = problem_body(rq->arena, problem, rq->id, &reply->length);
	const char *challenge = problem_www_authenticate(rq->arena, problem);
	if (challenge)
		reply_header(rq, "WWW-Authenticate", "%s", challenge);
	if (problem->allow)
		reply_header(rq, "Allow", "%s", problem->allow);
	if (problem->accept_encoding)
		reply_header(rq, "Accept-Encoding", "%s", problem->accept_encoding);
	unsigned retry_after_s = problem_retry_after_s(problem);
	if (retry_after_s)
		reply_header(rq, "Retry-After", "%u", retry_after_s);
}
